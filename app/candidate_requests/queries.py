"""Reads of requests of candidates, always for an interview or for a member."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from app.accounts.models import TeamMember
from app.candidate_requests.models import CandidateRequest, Different, RequestKind, RequestState
from app.core.db import db
from app.flows.models import Right
from app.flows.queries import reach, refuse_viewer, seen
from app.interviews.models import Interview

Condition = sa.ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """Filter of a list of requests; None means any."""

    state: RequestState | None = None
    kind: RequestKind | None = None


def requests_of(interview_id: str) -> Sequence[CandidateRequest]:
    """Requests of the candidate of this interview, the oldest first."""
    query = (
        sa.select(CandidateRequest)
        .where(CandidateRequest.interview_id == interview_id)
        .order_by(CandidateRequest.created_at, CandidateRequest.id)
    )
    return db.session.scalars(query.options(joinedload(CandidateRequest.decided_by))).all()


def reach_of_requests(member: TeamMember, right: Right = Right.VIEW) -> list[Condition]:
    """Conditions for requests to which the member has ``right``, by the flow of the interview."""
    flow_id = (
        sa.select(Interview.flow_id)
        .where(Interview.id == CandidateRequest.interview_id)
        .correlate(CandidateRequest)
        .scalar_subquery()
    )
    return reach(member, CandidateRequest, right, flow_id=flow_id)


def request_to_change(member: TeamMember, request_id: str) -> CandidateRequest:
    """A request that the member may answer. Raises as ``seen``, and Forbidden for viewers."""
    candidate_request = seen(member, CandidateRequest, request_id, kind="request")
    refuse_viewer(member, candidate_request)
    return candidate_request


def requests_seen_by(
    member: TeamMember, filters: RequestFilter, *, limit: int, offset: int
) -> Sequence[CandidateRequest]:
    """One page of the member's list: open ones first, by due date.

    Interview and flow are loaded too: no query per row.
    """
    settled = sa.case((CandidateRequest.state == RequestState.OPEN, 0), else_=1)
    query = (
        sa.select(CandidateRequest)
        .where(*_narrowed(member, filters))
        .order_by(settled, CandidateRequest.due_at, CandidateRequest.created_at, CandidateRequest.id)
    )
    together = (
        joinedload(CandidateRequest.interview).joinedload(Interview.flow),
        joinedload(CandidateRequest.decided_by),
    )
    return db.session.scalars(query.options(*together).limit(limit).offset(offset)).all()


def how_many_requests_seen_by(member: TeamMember, filters: RequestFilter) -> int:
    """Total length of the list of ``requests_seen_by``."""
    return db.session.scalar(sa.select(sa.func.count(CandidateRequest.id)).where(*_narrowed(member, filters))) or 0


def has_more_time(interview_id: str) -> bool:
    """Whether the candidate was granted more time, which doubles the time limit of the interview."""
    # Few rows per interview, so ``details`` is read here and not in SQL, whose JSON differs between databases.
    granted = (RequestState.GRANTED, RequestState.DONE)
    accommodations = sa.select(CandidateRequest.details).where(
        CandidateRequest.interview_id == interview_id,
        CandidateRequest.kind == RequestKind.ACCOMMODATION,
        CandidateRequest.state.in_(granted),
    )
    return any(details.get("choice") == Different.MORE_TIME for details in db.session.scalars(accommodations))


def _narrowed(member: TeamMember, filters: RequestFilter) -> list[Condition]:
    conditions = reach_of_requests(member)
    if filters.state is not None:
        conditions.append(CandidateRequest.state == filters.state)
    if filters.kind is not None:
        conditions.append(CandidateRequest.kind == filters.kind)
    return conditions


def marks_of(candidate_requests: Sequence[CandidateRequest]) -> dict[tuple[int, int], CandidateRequest]:
    """Corrections of the candidate, by (segment, word) of the transcript.

    Declined ones leave no mark. Of two that share a word only the later one counts.
    """
    marks: dict[tuple[int, int], CandidateRequest] = {}
    for candidate_request in candidate_requests:
        if (
            candidate_request.kind is RequestKind.CORRECTION
            and candidate_request.state is not RequestState.DECLINED
            and "segment" in candidate_request.details
        ):
            words = range(int(candidate_request.details["first"]), int(candidate_request.details["last"]) + 1)
            places = [(int(candidate_request.details["segment"]), word) for word in words]
            covered = {marks[place].id for place in places if place in marks}
            marks = {place: one for place, one in marks.items() if one.id not in covered}
            marks.update(dict.fromkeys(places, candidate_request))
    return marks
