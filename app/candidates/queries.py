"""Reads of candidates and their pipeline, always for a member or an organization."""

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload, selectinload

from app.accounts.key_scope import place
from app.accounts.models import Organization, Owner, Role, TeamMember
from app.candidates.models import (
    BY_NAME,
    BY_SCORE,
    DECIDING,
    DEFAULT_MEANINGS,
    DEFAULT_STATUSES,
    Candidate,
    CandidateTag,
    DecisionRecord,
    Meaning,
    PipelineStatus,
    SavedView,
    StatusChange,
)
from app.core.db import contains, db, is_id
from app.core.errors import NotFound
from app.flows.models import InterviewFlow, Right
from app.flows.queries import may, reach, refuse_viewer, seen

Condition = sa.ColumnElement[bool]
_C = Candidate.__table__.c
place("candidate_id", Candidate.__table__, team_id=_C.team_id, flow_id=_C.flow_id)

MOST_TAGS_SHOWN = 500
AT_ONCE = 1_000
"""Ids that one statement names."""


UNASSIGNED = "nobody"
"""Filter value for candidates without an assigned recruiter."""


class Order(enum.StrEnum):
    """How a list is sorted; candidates without a score come last, in both directions."""

    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"
    NAME_DESC = "name_desc"
    SCORE = "score"
    SCORE_ASC = "score_asc"


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """Filter and order of a list. Empty means everything.

    ``text`` is searched for in address and names; ``without_…`` exclude; dates are days of enrolment in UTC, both
    included; scores are 0 to 5, both included; ``unreviewed``: with a result to review; ``tests``: test interviews as
    well; ``right``: only flows to which the member has this right.
    """

    flow_id: str = ""
    status: str = ""
    text: str = ""
    recruiter_id: str = ""
    tag: str = ""
    without_status: str = ""
    without_tag: str = ""
    score_from: float | None = None
    score_to: float | None = None
    added_from: date | None = None
    added_to: date | None = None
    unreviewed: bool = False
    tests: bool = False
    right: Right = Right.VIEW
    order: Order = Order.NEWEST


def candidate_seen_by(member: TeamMember, candidate_id: str) -> Candidate:
    """A candidate of a flow that the member may see. Raises the same error for no access as for no candidate."""
    return seen(member, Candidate, candidate_id, kind="candidate", access_id=candidate_id)


def candidate_to_change(member: TeamMember, candidate_id: str) -> Candidate:
    """A candidate of a flow that the member may change. Raises as above, and Forbidden for viewers."""
    candidate = candidate_seen_by(member, candidate_id)
    refuse_viewer(member, candidate)
    return candidate


def candidates_seen_by(member: TeamMember, filters: CandidateFilter, *, limit: int, offset: int) -> list[Candidate]:
    """One page of the member's list, with flow, recruiter and tags: no query per row."""
    ordered = _ids(member, filters).limit(limit).offset(offset).subquery()
    # SQLite carries everything that a query reads through its sort, so only ids are sorted.
    query = sa.select(Candidate).join(ordered, ordered.c.id == Candidate.id).order_by(*_ORDERS[filters.order])
    titled = joinedload(Candidate.flow).load_only(InterviewFlow.title, InterviewFlow.rates_first)
    return list(db.session.scalars(query.options(titled, *_people_and_tags())))


def only_flow_of(candidate_ids: Sequence[str]) -> InterviewFlow | None:
    """The flow that all of these candidates belong to; None if there are several."""
    found: set[str] = set()
    for first in range(0, len(candidate_ids), AT_ONCE):
        some = Candidate.id.in_(candidate_ids[first : first + AT_ONCE])
        found |= set(db.session.scalars(sa.select(Candidate.flow_id).where(some).distinct()))
    return db.session.get(InterviewFlow, found.pop()) if len(found) == 1 else None


def candidates_named(
    member: TeamMember, ids: Collection[str], right: Right = Right.VIEW, *, locked: bool = False
) -> dict[str, Candidate]:
    """Those of ``ids`` to which the member has ``right``, by id, with flow, recruiter and tags.

    ``locked`` locks them in the order of their ids, so that two changes of the same candidates wait for each other
    without a deadlock. SQLite has one writer anyway.
    """
    wanted = [one for one in ids if is_id(one)]
    mine = conditions_for(member, CandidateFilter(tests=True, right=right))
    query = sa.select(Candidate).where(*mine, Candidate.id.in_(wanted))
    if locked:
        query = query.order_by(Candidate.id).with_for_update(key_share=True, of=Candidate)
        query = query.execution_options(populate_existing=True)  # what was read before the lock may have changed
    return {
        candidate.id: candidate
        for candidate in db.session.scalars(query.options(joinedload(Candidate.flow), *_people_and_tags()))
    }


def ids_seen_by(member: TeamMember, filters: CandidateFilter, *, limit: int | None = None) -> list[str]:
    """The ids of the member's list in its order, or the first ``limit`` of them."""
    return list(db.session.scalars(_ids(member, filters).limit(limit)))


def _ids(member: TeamMember, filters: CandidateFilter) -> sa.Select[str]:
    return sa.select(Candidate.id).where(*conditions_for(member, filters)).order_by(*_ORDERS[filters.order])


def tags_seen_by(member: TeamMember) -> list[str]:
    """Every tag of a candidate whom the member may see, by name."""
    all_names = sa.select(CandidateTag.name).where(CandidateTag.organization_id == member.organization_id).distinct()
    names, seen_one = all_names.subquery(), sa.select(sa.literal(1)).select_from(CandidateTag).join(Candidate)
    mine = seen_one.where(
        CandidateTag.organization_id == member.organization_id,
        CandidateTag.name == names.c.name,
        *conditions_for(member, CandidateFilter()),
    )
    # One candidate per name is enough: reading all who have the tag took most of the page's time.
    query = sa.select(names.c.name).where(mine.exists()).order_by(names.c.name).limit(MOST_TAGS_SHOWN)
    return list(db.session.scalars(query))


def views_of(member: TeamMember) -> list[SavedView]:
    """The member's saved views, by name."""
    return list(
        db.session.scalars(sa.select(SavedView).where(SavedView.member_id == member.id).order_by(SavedView.name))
    )


def view_of(member: TeamMember, view_id: str) -> SavedView:
    """One of the member's views. Raises NotFound."""
    view = db.session.get(SavedView, view_id) if is_id(view_id) else None
    if view is None or view.member_id != member.id:
        raise NotFound("You have no such view.")
    return view


def how_many_seen_by(member: TeamMember, filters: CandidateFilter) -> int:
    """Total length of the list of ``candidates_seen_by``."""
    query = sa.select(sa.func.count()).select_from(Candidate).where(*conditions_for(member, filters))
    return db.session.scalar(query) or 0


def waiting_for_review(member: TeamMember, *, flow_id: str = "") -> tuple[int, datetime | None]:
    """The number of results to review, and the time of the oldest."""
    narrowed = conditions_for(member, _to_review(member, flow_id))
    query = sa.select(sa.func.count(Candidate.id), sa.func.min(Candidate.interviewed_at)).where(*narrowed)
    count, oldest = db.session.execute(query).one()
    return count, oldest


def next_to_review(member: TeamMember, *, flow_id: str = "", after: str = "") -> Candidate | None:
    """The candidate whose result has waited longest; with ``after``, the next one, starting over at the end."""
    narrowed = conditions_for(member, _to_review(member, flow_id))
    order = (Candidate.interviewed_at, Candidate.id)
    query = sa.select(Candidate).where(*narrowed).order_by(*order).options(joinedload(Candidate.flow)).limit(1)
    place = db.session.get(Candidate, after) if is_id(after) else None
    if place is not None and place.interviewed_at is not None and may(member, place):
        at = place.interviewed_at
        behind = sa.or_(order[0] > at, sa.and_(order[0] == at, order[1] > place.id))
        following = db.session.scalar(query.where(behind))
        if following is not None:
            return following
    return db.session.scalar(query)


def _to_review(member: TeamMember, flow_id: str) -> CandidateFilter:
    """Results to review in flows that the member may change. Viewers, who review none, see all."""
    right = Right.VIEW if member.role is Role.VIEWER else Right.EDIT
    return CandidateFilter(flow_id=flow_id, unreviewed=True, right=right)


def statuses_of(organization: Owner) -> list[str]:
    """The pipeline's statuses in order: the organization's own, or the six defaults if it has none."""
    own = sa.select(PipelineStatus.name).where(PipelineStatus.organization_id == organization.id)
    return list(db.session.scalars(own.order_by(PipelineStatus.position))) or list(DEFAULT_STATUSES)


def meanings_of(organization: Organization) -> dict[str, Meaning | None]:
    """The meaning of each status, in the order of the pipeline. None: no one has chosen it yet; it counts as open."""
    own = {column.name: Meaning(column.meaning) if column.meaning else None for column in columns_of(organization)}
    return own or dict(DEFAULT_MEANINGS)


def deciding_statuses(organization: Organization) -> dict[str, Meaning]:
    """The statuses whose moves are decisions, with their meanings, in order."""
    return {name: meaning for name, meaning in meanings_of(organization).items() if meaning in DECIDING and meaning}


def statuses_without_meaning(organization: Organization) -> list[str]:
    """The statuses that no administrator has given a meaning yet, in order."""
    return [name for name, meaning in meanings_of(organization).items() if meaning is None]


def status_for(organization: Organization, purpose: str) -> str:
    """The organization's name for the status that Parley uses for ``purpose``."""
    own = sa.select(PipelineStatus.name).where(
        PipelineStatus.organization_id == organization.id, PipelineStatus.purpose == purpose
    )
    return db.session.scalar(own) or purpose


def columns_of(organization: Organization) -> list[PipelineStatus]:
    """The organization's own statuses as rows, in order; empty if it uses the defaults."""
    own = sa.select(PipelineStatus).where(PipelineStatus.organization_id == organization.id)
    return list(db.session.scalars(own.order_by(PipelineStatus.position, PipelineStatus.id)))


def counts_seen_by(member: TeamMember, filters: CandidateFilter) -> dict[str, int]:
    """The number of the list's candidates in each status; empty statuses are left out."""
    narrowed = conditions_for(member, filters)
    query = sa.select(Candidate.status, sa.func.count()).where(*narrowed).group_by(Candidate.status)
    return {row[0]: row[1] for row in db.session.execute(query)}


def since(candidates: list[Candidate]) -> dict[str, datetime]:
    """When each candidate reached their current status, by id: the last move, or the enrolment."""
    ids = [candidate.id for candidate in candidates if candidate.status_changes]
    moves = sa.select(StatusChange.candidate_id, StatusChange.at).join(
        Candidate,
        sa.and_(Candidate.id == StatusChange.candidate_id, Candidate.status_changes == StatusChange.number),
    )
    moved = {row[0]: row[1] for row in db.session.execute(moves.where(Candidate.id.in_(ids)))}
    return {candidate.id: moved.get(candidate.id, candidate.created_at) for candidate in candidates}


def history_of(candidate: Candidate) -> list[StatusChange]:
    """Every move of the candidate with its author, newest first."""
    query = sa.select(StatusChange).where(StatusChange.candidate_id == candidate.id)
    return list(db.session.scalars(query.order_by(StatusChange.number.desc()).options(joinedload(StatusChange.by))))


def records_of(candidate: Candidate) -> dict[int, DecisionRecord]:
    """The candidate's decision records by the number of their move, oldest first, withdrawn ones included."""
    query = sa.select(DecisionRecord).where(DecisionRecord.candidate_id == candidate.id)
    people = joinedload(DecisionRecord.by), joinedload(DecisionRecord.withdrawn_by)
    found = db.session.scalars(query.order_by(DecisionRecord.number).options(*people))
    return {record.number: record for record in found}


def decisions_on(candidate_ids: Collection[str]) -> dict[str, DecisionRecord]:
    """The latest record of each candidate that was not withdrawn, by the candidate's id."""
    query = sa.select(DecisionRecord).where(
        DecisionRecord.candidate_id.in_(candidate_ids), DecisionRecord.withdrawn_at.is_(None)
    )
    return {str(one.candidate_id): one for one in db.session.scalars(query.order_by(DecisionRecord.number))}


def record_ids(organization_id: str) -> list[str]:
    """The ids of all decision records of the organization, oldest first, those of erased candidates included."""
    query = sa.select(DecisionRecord.id).where(DecisionRecord.organization_id == organization_id)
    return list(db.session.scalars(query.order_by(DecisionRecord.at, DecisionRecord.id)))


def records_named(organization_id: str, ids: Collection[str]) -> list[DecisionRecord]:
    """The organization's records with these ids, oldest first, with flow and members."""
    mine = (DecisionRecord.organization_id == organization_id, DecisionRecord.id.in_(ids))
    together = (
        joinedload(DecisionRecord.flow),
        joinedload(DecisionRecord.by),
        joinedload(DecisionRecord.withdrawn_by),
    )
    query = sa.select(DecisionRecord).where(*mine).order_by(DecisionRecord.at, DecisionRecord.id)
    return list(db.session.scalars(query.options(*together)))


def enrolled(flow_id: str, email: str, *, is_test: bool = False) -> Candidate | None:
    """The flow's candidate with this address, in upper or lower case."""
    query = sa.select(Candidate).where(Candidate.flow_id == flow_id, Candidate.address == email.lower())
    return db.session.scalar(query.where(Candidate.is_test.is_(is_test)))


def elsewhere(member: TeamMember, candidate: Candidate, *, limit: int) -> list[Candidate]:
    """Candidates of the same address in other flows that the member may see, newest first, with their flows."""
    flows = sa.select(InterviewFlow.id).where(InterviewFlow.organization_id == candidate.organization_id)
    # Only what the unique index has: with any other condition SQLite walks all candidates of the organization.
    same = (
        Candidate.flow_id.in_(flows),
        Candidate.address == candidate.address,
        Candidate.is_test == candidate.is_test,
    )
    found = db.session.scalars(sa.select(Candidate).where(*same).options(joinedload(Candidate.flow)))
    others = (one for one in found if one.id != candidate.id and not one.quarantined_at and may(member, one))
    return sorted(others, key=lambda one: one.created_at, reverse=True)[:limit]


def conditions_for(member: TeamMember, filters: CandidateFilter) -> list[Condition]:
    """The conditions of a list of ``Candidate``: what the member may see and the filter lets through."""
    conditions: list[Condition] = [*reach(member, Candidate, filters.right), Candidate.quarantined_at.is_(None)]
    if not filters.tests:
        conditions.append(Candidate.is_test.is_(False))
    if filters.flow_id:
        conditions.append(Candidate.flow_id == filters.flow_id)
    if filters.status:
        conditions.append(Candidate.status == filters.status)
    conditions += _by_person_and_tag(filters, member.organization_id)
    conditions += _by_score_and_day(filters)
    for word in filters.text.split():
        conditions.append(contains(word, Candidate.email, Candidate.first_name, Candidate.last_name))
    return conditions


def _by_person_and_tag(filters: CandidateFilter, organization_id: str) -> list[Condition]:
    conditions: list[Condition] = []
    if filters.recruiter_id:
        unassigned = filters.recruiter_id == UNASSIGNED
        mine = Candidate.assigned_recruiter_id
        conditions.append(mine.is_(None) if unassigned else mine == filters.recruiter_id)
    if filters.tag:
        tagged = (CandidateTag.organization_id == organization_id, CandidateTag.name == filters.tag)
        conditions.append(Candidate.id.in_(sa.select(CandidateTag.candidate_id).where(*tagged)))
    if filters.without_tag:
        has_it = (CandidateTag.candidate_id == Candidate.id, CandidateTag.name == filters.without_tag)
        conditions.append(~sa.exists().where(*has_it))
    if filters.without_status:
        conditions.append(Candidate.status != filters.without_status)
    if filters.unreviewed:
        conditions += [Candidate.interviewed_at.is_not(None), Candidate.reviewed_at.is_(None)]
    return conditions


def _by_score_and_day(filters: CandidateFilter) -> list[Condition]:
    conditions: list[Condition] = []
    if filters.score_from is not None:
        conditions.append(Candidate.score >= filters.score_from)
    if filters.score_to is not None:
        conditions.append(Candidate.score <= filters.score_to)
    if filters.added_from is not None:
        conditions.append(Candidate.created_at >= _begin_of(filters.added_from))
    if filters.added_to is not None:
        conditions.append(Candidate.created_at < _begin_of(filters.added_to) + timedelta(days=1))
    return conditions


def _people_and_tags() -> tuple[Any, ...]:
    """What rows show besides their flow, loaded without a query per row."""
    return joinedload(Candidate.assigned_recruiter), selectinload(Candidate.tags)


def _begin_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


_ORDERS: dict[Order, tuple[Any, ...]] = {
    Order.NEWEST: (Candidate.created_at.desc(), Candidate.id.desc()),
    Order.OLDEST: (Candidate.created_at, Candidate.id),
    Order.NAME: (*BY_NAME, Candidate.id.desc()),
    Order.NAME_DESC: (*(part.desc() for part in BY_NAME), Candidate.id),
    Order.SCORE: BY_SCORE,
    Order.SCORE_ASC: (Candidate.score.nulls_last(), Candidate.id),
}
"""Each of them reads an index forward or backward, ids included."""
