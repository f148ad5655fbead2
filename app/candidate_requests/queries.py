"""Reads of what candidates ask for, always with the owner: the interview on its link, a member on the pages."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import TeamMember
from app.candidate_requests.models import Different, Wish, WishKind, WishState
from app.core.db import db
from app.flows.models import Right
from app.flows.queries import reach, refuse_viewer, seen
from app.interviews.models import Interview

Condition = sa.ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class WishFilter:
    """What a list of requests is narrowed to; nothing means everything."""

    state: WishState | None = None
    kind: WishKind | None = None


def wishes_of(interview_id: str) -> Sequence[Wish]:
    """What the candidate of this interview has asked for, the oldest first."""
    asked = sa.select(Wish).where(Wish.interview_id == interview_id).order_by(Wish.created_at, Wish.id)
    return db.session.scalars(asked.options(joinedload(Wish.decided_by))).all()


def reach_of_wishes(member: TeamMember, right: Right = Right.VIEW) -> list[Condition]:
    """Which requests the member has ``right`` to: those of the interviews that they have it to."""
    flow_id = sa.select(Interview.flow_id).where(Interview.id == Wish.interview_id).correlate(Wish).scalar_subquery()
    return reach(member, Wish, right, flow_id=flow_id)


def wish_to_change(member: TeamMember, wish_id: str) -> Wish:
    """A request that the member may answer. Raises as ``seen``, and Forbidden for those who may only look."""
    wish = seen(member, Wish, wish_id, kind="request")
    refuse_viewer(member, wish)
    return wish


def wishes_seen_by(member: TeamMember, found_by: WishFilter, *, limit: int, offset: int) -> Sequence[Wish]:
    """One page of the member's list: what is open first, and of that what is due first.

    With interview and flow: no further query per row.
    """
    settled = sa.case((Wish.state == WishState.OPEN, 0), else_=1)
    query = sa.select(Wish).where(*_narrowed(member, found_by)).order_by(settled, Wish.due_at, Wish.created_at, Wish.id)
    together = (joinedload(Wish.interview).joinedload(Interview.flow), joinedload(Wish.decided_by))
    return db.session.scalars(query.options(*together).limit(limit).offset(offset)).all()


def how_many_wishes_seen_by(member: TeamMember, found_by: WishFilter) -> int:
    """Length of the whole list of ``wishes_seen_by``; with the state ``open``, what waits for an answer."""
    return db.session.scalar(sa.select(sa.func.count(Wish.id)).where(*_narrowed(member, found_by))) or 0


def has_more_time(interview_id: str) -> bool:
    """Whether this interview's candidate was granted more time, so that its time limit counts twice."""
    # Few rows per interview: what ``details`` says is read here and not in SQL, whose JSON differs between databases.
    granted = (WishState.GRANTED, WishState.DONE)
    kept = sa.select(Wish.details).where(
        Wish.interview_id == interview_id, Wish.kind == WishKind.ACCOMMODATION, Wish.state.in_(granted)
    )
    return any(details.get("choice") == Different.MORE_TIME for details in db.session.scalars(kept))


def _narrowed(member: TeamMember, found_by: WishFilter) -> list[Condition]:
    conditions = reach_of_wishes(member)
    if found_by.state is not None:
        conditions.append(Wish.state == found_by.state)
    if found_by.kind is not None:
        conditions.append(Wish.kind == found_by.kind)
    return conditions


def marks_of(wishes: Sequence[Wish]) -> dict[tuple[int, int], Wish]:
    """Where the candidate says that something else was said: (segment, word) of the transcript to the correction.

    Corrections that were declined leave no mark. Of two that share a word the later one counts, and only that one.
    """
    marks: dict[tuple[int, int], Wish] = {}
    for wish in wishes:
        if wish.kind is WishKind.CORRECTION and wish.state is not WishState.DECLINED and "segment" in wish.details:
            words = range(int(wish.details["first"]), int(wish.details["last"]) + 1)
            places = [(int(wish.details["segment"]), word) for word in words]
            covered = {marks[place].id for place in places if place in marks}
            marks = {place: one for place, one in marks.items() if one.id not in covered}
            marks.update(dict.fromkeys(places, wish))
    return marks
