"""Reads of large changes: a member's own, their progress, and what is due."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.candidates.bulk import UNDONE_BY
from app.candidates.models import BulkChange, BulkRow, BulkState
from app.core import claims, clock
from app.core.db import db, is_id
from app.core.errors import NotFound

UNDER_WAY = (BulkState.WAITING, BulkState.WORKING)
SHOWN_FOR = timedelta(minutes=15)
"""How long the list of candidates offers the progress and the undo of a change."""
DONE, REFUSED = "done", "refused"


def change_of(member: TeamMember, change_id: str) -> BulkChange:
    """A change that the member has asked for. NotFound otherwise."""
    run = db.session.get(BulkChange, change_id) if is_id(change_id) else None
    if run is None or run.by_id != member.id:
        raise NotFound("There is no such change.")
    return run


def latest_of(member: TeamMember) -> BulkChange | None:
    """The change that the member asked for last, if that was a short time ago or it is not over."""
    recent = sa.or_(BulkChange.created_at > clock.now() - SHOWN_FOR, BulkChange.state.in_(UNDER_WAY))
    query = sa.select(BulkChange).where(BulkChange.by_id == member.id, recent)
    return db.session.scalar(query.order_by(BulkChange.created_at.desc(), BulkChange.id).limit(1))


def undo_of(run: BulkChange) -> BulkChange | None:
    """The change that undoes this one."""
    return db.session.scalar(sa.select(BulkChange).where(BulkChange.undoes_id == run.id))


def counts_of(run: BulkChange) -> dict[str, int]:
    """How many candidates have each outcome; ``left``: those who wait for their turn."""
    columns = sa.func.coalesce(BulkRow.outcome, "left"), sa.func.count()
    query = sa.select(*columns).where(BulkRow.bulk_change_id == run.id).group_by(BulkRow.outcome)
    return {row[0]: row[1] for row in db.session.execute(query)}


def rows_of(run: BulkChange, *, limit: int, offset: int) -> Sequence[BulkRow]:
    """One page of its candidates: those who were refused first, then the others in order."""
    refused = sa.case((BulkRow.outcome == REFUSED, 0), else_=1)
    query = sa.select(BulkRow).where(BulkRow.bulk_change_id == run.id).order_by(refused, BulkRow.place)
    return db.session.scalars(query.limit(limit).offset(offset)).all()


def rows_done(run: BulkChange) -> Sequence[BulkRow]:
    """Those who were changed and still exist, in order."""
    mine = BulkRow.bulk_change_id == run.id, BulkRow.outcome == DONE, BulkRow.candidate_id.is_not(None)
    return db.session.scalars(sa.select(BulkRow).where(*mine).order_by(BulkRow.place)).all()


def next_rows(run: BulkChange, *, limit: int) -> Sequence[BulkRow]:
    """Those whose turn is next."""
    waiting = sa.select(BulkRow).where(BulkRow.bulk_change_id == run.id, BulkRow.outcome.is_(None))
    return db.session.scalars(waiting.order_by(BulkRow.place).limit(limit)).all()


def due() -> list[str]:
    """Ids of changes that no worker makes, oldest first."""
    free = sa.or_(BulkChange.lease_until.is_(None), BulkChange.lease_until < claims.moment())
    query = sa.select(BulkChange.id).where(BulkChange.state.in_(UNDER_WAY), free)
    return list(db.session.scalars(query.order_by(BulkChange.created_at)))


@dataclass(frozen=True, slots=True)
class Progress:
    """A change as pages show it. ``seen`` is what an open tab has seen of it."""

    run: BulkChange
    counts: dict[str, int]
    undone_by: BulkChange | None

    @property
    def whole(self) -> int:
        return sum(self.counts.values())

    @property
    def left(self) -> int:
        return self.counts.get("left", 0)

    @property
    def finished(self) -> int:
        return self.whole - self.left

    @property
    def done(self) -> int:
        return self.counts.get(DONE, 0)

    @property
    def refused(self) -> int:
        return self.counts.get(REFUSED, 0)

    @property
    def is_under_way(self) -> bool:
        return self.run.state in UNDER_WAY

    @property
    def seen(self) -> str:
        return f"{self.run.state}-{self.finished}"

    @property
    def can_be_undone(self) -> bool:
        is_open = self.is_under_way or self.undone_by is not None or self.run.undoes_id is not None
        return not is_open and self.done > 0 and self.run.kind in UNDONE_BY


def progress_of(run: BulkChange) -> Progress:
    """How far the change is."""
    return Progress(run, counts_of(run), undo_of(run))
