"""Rules of the pipeline: valid statuses, and what counts as a move."""

from collections.abc import Collection

from app.core.errors import Rejected


def is_move(previous: str, new: str, *, statuses: Collection[str]) -> bool:
    """Whether this is a move: every status can follow every other one, and the same status is no move.

    ``statuses`` are the organization's. Raises Rejected for any other word.
    """
    if not new:
        raise Rejected("Choose a status.", field="status")
    if new not in statuses:
        raise unknown(new, statuses)
    return previous != new


def unknown(status: str, statuses: Collection[str]) -> Rejected:
    """The refusal of a word that is no status. It names those of the organization."""
    words = f"“{status[:100]}” is not a status in your pipeline. Choose one of these: {', '.join(statuses)}."
    return Rejected(words, field="status")
