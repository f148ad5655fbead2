"""Makes a large change piece by piece. Each piece commits with its outcomes: a killed worker leaves none half done."""

from datetime import timedelta
from typing import Any

from app.candidates.bulk_changes import MAKE_CHANGE, actions
from app.candidates.models import BulkChange, BulkState
from app.core import claims, clock, queue
from app.core.db import db, for_one

LEASE = timedelta(seconds=60)
"""Much longer than a piece takes; it is renewed with each of them."""
PIECE = 50
KEPT = timedelta(days=30)
BROKEN_OFF = "This change was interrupted three times. Try again, or ask your operator to check the worker's log."

_MAKING = claims.Work(
    BulkChange.state,
    waits=BulkState.WAITING,
    works=BulkState.WORKING,
    failed=BulkState.FAILED,
    lease=LEASE,
    reason=BulkChange.trouble,
    broken_off=BROKEN_OFF,
)


@for_one(BulkChange)
def make(change_id: str) -> None:
    """Make what is left of one change. May run twice; a missing row is no error."""
    claims.run(_MAKING, change_id, read=lambda row, token: (row.id, token), do=_made)


def _made(claimed: tuple[str, int]) -> dict[str, Any] | None:
    change_id, token = claimed
    while True:
        if not claims.renew(BulkChange, change_id, token, lease=LEASE):
            db.session.rollback()  # cancelled, or another worker has taken over
            return None
        if not actions.make_piece(db.session.get_one(BulkChange, change_id), limit=PIECE):
            return {"state": BulkState.DONE, "recoveries": 0, "trouble": None}
        db.session.commit()


def sweep() -> int:
    """Enqueue what is due, and delete changes after 30 days. Returns how many were deleted."""
    queue.enqueue_overdue(MAKE_CHANGE)
    count = actions.forget(before=clock.now() - KEPT)
    db.session.commit()
    return count
