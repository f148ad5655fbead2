"""The time limit of an interview: pauses that do not count, and extensions on request.

Every step may come twice: a pause that is on stays on, and extensions are numbered, so a double click adds one.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from app.conversation.actions import Holder, hold, write
from app.conversation.models import Sitting
from app.core import claims, clock
from app.core.db import db
from app.core.errors import Rejected

MOST_EXTENSIONS = 10
"""As often as WCAG 2.2 (2.2.1) asks for."""
SHORTEST_EXTENSION = 300


def extension_of(limit: float) -> int:
    """Seconds that one extension adds: a sixth of the limit in whole minutes, at least five."""
    return max(SHORTEST_EXTENSION, 60 * round(limit / 360))


def elapsed(sitting: Sitting, started_at: datetime | None) -> float:
    """Seconds of the interview so far, without pauses and without time in which no browser was connected."""
    if started_at is None:
        return 0.0
    until = sitting.paused_at or clock.now()
    return max(0.0, (until - started_at).total_seconds() - sitting.paused)


def page_fields(sitting: Sitting, *, limit: float, started_at: datetime | None) -> dict[str, Any]:
    """The clock of an interview of ``limit`` seconds, as fields of the JSON that the page reads."""
    return {
        "time_limit_seconds": limit + sitting.extra_seconds,
        "elapsed_seconds": round(elapsed(sitting, started_at), 1),
        "extension_seconds": extension_of(limit),
        "extensions": sitting.extensions,
        "extensions_left": MOST_EXTENSIONS - sitting.extensions,
        "paused": sitting.paused_at is not None,
    }


def pause(holder: Holder) -> None:
    """Stop the clock until ``go_on``. Raises Conflict when this browser no longer holds the interview."""
    hold(holder)
    write(holder, {"paused_at": claims.moment()}, Sitting.paused_at.is_(None))


def go_on(holder: Holder) -> None:
    """End a pause, if there is one; what it took is not counted. Conflict as with ``pause``."""
    hold(holder)
    began = db.session.scalar(sa.select(Sitting.paused_at).where(Sitting.id == holder.sitting_id))
    if began is None:
        return
    took = max(0.0, (clock.now() - began).total_seconds())
    write(holder, {"paused": Sitting.paused + took, "paused_at": None}, Sitting.paused_at == began)


def extend(holder: Holder, *, number: int, limit: float) -> Sitting:
    """Add extension ``number`` (from 1 on) to a talk of ``limit`` seconds; one that was added before changes nothing.

    Raises Rejected for a number that does not come next, Conflict as with ``pause``.
    """
    hold(holder)
    added = {"extensions": number, "extra_seconds": Sitting.extra_seconds + extension_of(limit)}
    write(holder, added, Sitting.extensions == number - 1)
    sitting = db.session.get_one(Sitting, holder.sitting_id, populate_existing=True)
    if sitting.extensions < number:
        raise Rejected(f"Extension {sitting.extensions + 1} comes next.", field="extension")
    return sitting


def double(interview_id: str, *, limit: float) -> None:
    """Give the talk at least twice its ``limit`` in seconds: what a request for more time is granted. Twice is once."""
    enough = int(limit)
    db.session.execute(
        sa.update(Sitting)
        .where(Sitting.interview_id == interview_id, Sitting.extra_seconds < enough, Sitting.ended_at.is_(None))
        .values(extra_seconds=enough)
    )
