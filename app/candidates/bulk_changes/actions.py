"""Actions of large changes: ask for one, make the next piece of it, cancel it, try it again, undo it, forget it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.models import Role, TeamMember
from app.candidates import bulk
from app.candidates.bulk import Change, Kind, Row
from app.candidates.bulk_changes import MAKE_CHANGE
from app.candidates.bulk_changes.queries import UNDER_WAY, next_rows, rows_done
from app.candidates.models import BulkChange, BulkRow, BulkState
from app.candidates.queries import candidates_named
from app.core import queue
from app.core.db import db, new_id
from app.core.errors import Conflict, DomainError, Rejected

NOT_ANY_MORE = "You no longer have permission to change candidates."


def start(member: TeamMember, ids: Sequence[str], change: Change) -> BulkChange:
    """Ask for a change of ``ids``, in their order. Raises Rejected for a value or a reason that is not valid."""
    wanted = bulk.checked(ids)
    bulk.prepared(member, change)
    found = candidates_named(member, wanted)
    moves = [(one, found[one].status_changes) for one in wanted if one in found]
    if not moves:
        raise Rejected("These candidates no longer exist.", field="id")
    return _asked(member, change, moves)


def undo(run: BulkChange, *, by: TeamMember) -> BulkChange:
    """Ask for the undo of a change that is over. Raises Conflict if it cannot be undone, or was asked for before."""
    kind, done = bulk.UNDONE_BY.get(Kind(run.kind)), rows_done(run)
    if kind is None or run.undoes_id is not None or run.state in UNDER_WAY or not done:
        raise Conflict("This change cannot be undone.")
    made = run.kind == Kind.MOVE
    moves = [(str(row.candidate_id), row.moves + made) for row in done]
    return _asked(by, Change(kind, run.value), moves, undoes=run)


def _asked(
    member: TeamMember, change: Change, moves: Iterable[tuple[str, int]], *, undoes: BulkChange | None = None
) -> BulkChange:
    run = BulkChange(
        id=new_id(),
        organization_id=member.organization_id,
        by_id=member.id,
        undoes_id=undoes.id if undoes else None,
        kind=change.kind.value,
        value=change.value,
        reason=change.reason,
    )
    db.session.add(run)
    try:
        db.session.flush()
    except IntegrityError:  # the button was pressed twice
        raise Conflict("This change is already being undone.") from None
    rows = [
        {"bulk_change_id": run.id, "candidate_id": one, "moves": count, "place": place}
        for place, (one, count) in enumerate(moves)
    ]
    db.session.execute(sa.insert(BulkRow), rows)
    queue.after_commit(MAKE_CHANGE, run.id)
    return run


def make_piece(run: BulkChange, *, limit: int) -> int:
    """Change the next candidates of the run, and note the outcomes in the same transaction. Returns how many; 0: over.

    The caller holds the claim on the run, so each candidate has their turn once.
    """
    rows = next_rows(run, limit=limit)
    if not rows:
        return 0
    outcomes = {row.candidate_id: row for row in _outcomes(run, rows)}
    noted = []
    for row in rows:
        found = outcomes.get(str(row.candidate_id)) or Row("", "", "refused", "This candidate no longer exists.")
        noted.append({"id": row.id, "outcome": found.outcome, "reason": found.reason[:300] or None})
    db.session.execute(sa.update(BulkRow), noted)
    run.recoveries = 0  # a piece that was made: only one that ends the worker again and again gives the run up
    return len(rows)


def _outcomes(run: BulkChange, rows: Sequence[BulkRow]) -> list[Row]:
    moves = {row.candidate_id: row.moves for row in rows if row.candidate_id}
    change = Change(Kind(run.kind), run.value, run.reason)
    if not moves:
        return []
    if run.by.disabled_at is not None or run.by.role is Role.VIEWER:
        return [Row(one, "", "refused", NOT_ANY_MORE) for one in moves]
    try:
        with db.session.begin_nested():
            return bulk.apply(run.by, list(moves), change, moves=moves, asked_at=run.created_at)
    except DomainError as refusal:  # such as a status that was removed meanwhile
        return [Row(one, "", "refused", refusal.message) for one in moves]


def cancel(run: BulkChange) -> bool:
    """Stop after the piece under way; that job loses its claim. False if the change was over already."""
    statement = sa.update(BulkChange).where(BulkChange.id == run.id, BulkChange.state.in_(UNDER_WAY))
    stopped = {"state": BulkState.CANCELLED, "fence": BulkChange.fence + 1, "lease_until": None}
    return db.changed(statement.values(stopped)) == 1


def try_again(run: BulkChange) -> bool:
    """Go on with a change that was given up. False if it was not."""
    statement = sa.update(BulkChange).where(BulkChange.id == run.id, BulkChange.state == BulkState.FAILED)
    waiting = {"state": BulkState.WAITING, "trouble": None, "recoveries": 0, "lease_until": None}
    is_waiting = db.changed(statement.values(waiting)) == 1
    if is_waiting:
        queue.after_commit(MAKE_CHANGE, run.id)
    return is_waiting


def forget(*, before: datetime) -> int:
    """Delete changes asked for before a time, with their candidates' outcomes. Returns how many."""
    later = sa.select(BulkChange.undoes_id).where(BulkChange.undoes_id.is_not(None), BulkChange.created_at >= before)
    old = sa.select(BulkChange.id).where(BulkChange.created_at < before, BulkChange.id.not_in(later))
    ids = list(db.session.scalars(old.order_by(BulkChange.created_at).limit(100)))
    if not ids:
        return 0
    db.session.execute(sa.delete(BulkRow).where(BulkRow.bulk_change_id.in_(ids)))
    db.session.execute(sa.update(BulkChange).where(BulkChange.undoes_id.in_(ids)).values(undoes_id=None))
    return db.changed(sa.delete(BulkChange).where(BulkChange.id.in_(ids)))
