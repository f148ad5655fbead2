"""The rules of the pipeline: which statuses can be moved to, and what counts as a move."""

from collections.abc import Collection

from app.core.errors import Rejected


def is_move(previous: str, new: str, *, statuses: Collection[str]) -> bool:
    """Whether anything happens at all: any move is allowed, and to stay where one is is none.

    ``statuses`` are the organization's. Raises Rejected for a word that is none of them.
    """
    if not new:
        raise Rejected("Choose a status.", field="status")
    if new not in statuses:
        raise Rejected(f"“{new[:100]}” is none of your pipeline's statuses. Choose one from the list.", field="status")
    return previous != new
