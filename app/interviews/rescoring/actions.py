"""Actions of re-scoring: start a run, cancel it, store what a job has scored, and use the new versions."""

from collections.abc import Iterable

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock, queue
from app.core.db import db, new_id
from app.core.errors import Rejected
from app.flows.models import InterviewFlow
from app.interviews.models import Interview
from app.interviews.rescoring import RESCORE
from app.interviews.rescoring.models import OPEN, Rescored, Rescoring, State
from app.interviews.rescoring.queries import AT_ONCE, Plan, in_pieces

NOTHING = "There is nothing to score: none of these interviews can be scored now."


def start(plan: Plan, *, flow: InterviewFlow | None, by: TeamMember) -> Rescoring:
    """Start a run over the plan's interviews. Audited. Raises Rejected if none is left.

    An interview that another run has taken in the meantime is left out.
    """
    run = Rescoring(
        id=new_id(), organization_id=by.organization_id, flow_id=flow.id if flow else None, requested_by_id=by.id
    )
    db.session.add(run)
    db.session.flush()
    ids = _free(plan.ids)
    if not ids:
        raise Rejected(NOTHING)
    rows = [
        {"id": new_id(), "rescoring_id": run.id, "interview_id": one, "place": place} for place, one in enumerate(ids)
    ]
    db.session.execute(sa.insert(Rescored), rows)
    details = {"interviews": len(rows), "flow": run.flow_id}
    write_audit(by.organization, action="scores.rescoring", subject=run.id, by=by, details=details)
    for row in rows[:AT_ONCE]:
        queue.after_commit(RESCORE, str(row["id"]))
    return run


def _free(ids: Iterable[str]) -> list[str]:
    """Those of ``ids`` that are in no open run. Their interviews stay locked, so that no other run takes them."""
    found: list[str] = []
    for piece in in_pieces(sorted(ids)):
        locked = sa.select(Interview.id).where(Interview.id.in_(piece)).order_by(Interview.id)
        db.session.execute(locked.with_for_update(key_share=True)).all()
        is_open = sa.exists().where(Rescored.interview_id == Interview.id, Rescored.state.in_(OPEN))
        found += db.session.scalars(sa.select(Interview.id).where(Interview.id.in_(piece), ~is_open))
    return found


def cancel(run: Rescoring, *, by: TeamMember) -> int:
    """Cancel what is not done; work under way loses its claim. Audited. Returns how many interviews it concerns."""
    statement = sa.update(Rescored).where(Rescored.rescoring_id == run.id, Rescored.state.in_(OPEN))
    count = db.changed(statement.values(state=State.CANCELLED, fence=Rescored.fence + 1, lease_until=None))
    if count:
        run.cancelled_at = clock.now()
        details = {"interviews": count}
        write_audit(by.organization, action="scores.rescoring_cancelled", subject=run.id, by=by, details=details)
    return count
