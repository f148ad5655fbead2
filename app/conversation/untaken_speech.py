"""Speech that no turn has taken: the page was left in the middle of an answer, and the sound had arrived here.

Chunks are numbered along a run, and turns take them in that order. So whatever lies behind the newest chunk of the
newest turn has not been dealt with: the beginning of an answer, or a call over the agent's words that did not count.
"""

from dataclasses import dataclass
from itertools import pairwise

import sqlalchemy as sa

from app.conversation.models import Sitting, Turn, TurnKind, TurnState
from app.core.db import db
from app.interviews.recordings import queries as recording_queries


@dataclass(frozen=True, slots=True)
class Stretch:
    """Voice chunks that follow each other, named as a turn names them."""

    segment: int
    first_chunk: int
    last_chunk: int


def stretches(sitting: Sitting, *, most: int) -> list[Stretch]:
    """The open speech in the order in which it was spoken, each stretch of at most ``most`` chunks."""
    reached = _reached(sitting.id)
    if reached is None:
        return []
    chunks = recording_queries.voices_after(sitting.interview_id, segment=reached[0], number=reached[1])
    begins = [0, *(at for at, (one, other) in enumerate(pairwise(chunks), start=1) if other != (one[0], one[1] + 1))]
    open_stretches = []
    for begin, end in pairwise([*begins, len(chunks)]):
        segment, first = chunks[begin] if chunks else (0, 0)
        last = first + end - begin - 1
        open_stretches += [Stretch(segment, at, min(at + most - 1, last)) for at in range(first, last + 1, most)]
    return open_stretches


def _reached(sitting_id: str) -> tuple[int, int] | None:
    """Run and chunk up to which turns have taken everything.

    None where that is not known: a release before this one has taken the newest answer.
    """
    answered = sa.select(Turn).where(Turn.sitting_id == sitting_id, Turn.state == TurnState.ANSWERED)
    knows = sa.or_(Turn.segment.is_not(None), Turn.kind == TurnKind.ANSWER)
    newest = db.session.scalar(answered.where(knows).order_by(Turn.number.desc()).limit(1))
    if newest is None:
        return 0, -1
    if newest.segment is None:
        return None
    return newest.segment, -1 if newest.last_chunk is None else newest.last_chunk
