"""Pieces of a reply's sound that are made after the reply: which are still owed, and recording them when made."""

from collections.abc import Iterable
from typing import Any

from app.conversation import actions
from app.conversation.actions import Holder
from app.conversation.models import Turn
from app.conversation.utterances import kept_words
from app.core.db import db


def owed(parts: Iterable[dict[str, Any]] | None, piece: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The line and its stretch that are piece ``piece`` (from 1 on) of a reply's sound; None where there is none."""
    every = ((part, stretch) for part in parts or [] for stretch in part.get("stretches", ()))
    return next(((part, stretch) for part, stretch in every if stretch["piece"] == piece), None)


def note(holder: Holder, turn_id: str, piece: int, **outcome: Any) -> str | None:
    """Record a piece of a reply that was made (``seconds``, ``words``, ``key``) or could not be (``silent``).

    Returns the key under which it is served: that of the first process to record it.
    """
    actions.hold(holder)  # the sitting's row is written first, so that two pieces of one reply wait for each other
    turn = db.session.get_one(Turn, turn_id, populate_existing=True)
    part_and_stretch = owed(turn.parts, piece)
    if part_and_stretch is None:
        return None
    key: str | None = part_and_stretch[1]["key"]
    if key is None:
        if "words" in outcome:
            outcome["words"] = kept_words(outcome["words"])
        turn.parts = [_with_piece(part, piece, outcome) for part in turn.parts or []]
        db.session.flush()
        key = outcome.get("key")
    return key


def _with_piece(part: dict[str, Any], piece: int, outcome: dict[str, Any]) -> dict[str, Any]:
    if "stretches" not in part:
        return part
    stretches = [{**one, **outcome} if one["piece"] == piece else one for one in part["stretches"]]
    return {**part, "stretches": stretches}
