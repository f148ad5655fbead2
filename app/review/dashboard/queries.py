"""Reads across packages, limited to what the member may see: tasks, and names for the audit log."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload, load_only

from app.accounts.models import ApiKey, Organization, Role, Team, TeamMember
from app.candidate_requests.models import CandidateRequest, RequestState
from app.candidate_requests.queries import reach_of_requests
from app.candidates.models import Candidate, DecisionRecord, PipelineStatus
from app.candidates.overall import overall
from app.candidates.queries import statuses_without_meaning
from app.core import clock
from app.core.db import db, is_id
from app.flows.library.models import BankQuestion, FlowTemplate
from app.flows.models import InterviewFlow, Right
from app.flows.queries import reach
from app.interviews import pending as interviews
from app.interviews.models import Interview, InterviewData
from app.review.flow_access.queries import how_many_wait_for
from app.review.notices.queries import channels_in_trouble
from app.review.rate_first.queries import hidden_interviews
from app.webhooks.models import Delivery, DeliveryState, Endpoint, Route
from app.webhooks.queries import of_organization

RESENT_FOR = timedelta(days=30)
"""How long webhooks can be sent again; older failures are not listed."""


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of task: how many, since when (for requests: due when), and how many of them are overdue.

    ``kind`` identifies it; for candidate requests it is the kind of request.
    """

    kind: str
    count: int
    at: datetime | None = None
    late: int = 0


def tasks_of(member: TeamMember, *, link_days: int) -> list[Task]:
    """The member's tasks, the most urgent kinds first; viewers have none."""
    if member.role is Role.VIEWER:
        return []
    tasks = [
        *_requests(member),
        *_access(member),
        *_results(member),
        *_interviews(member, link_days),
        *_webhooks(member),
        *_channels(member),
        *_statuses(member),
    ]
    return [task for task in tasks if task.count]


def _requests(member: TeamMember) -> Iterator[Task]:
    """Open candidate requests by kind, the ones due first on top."""
    overdue = sa.func.count(sa.case((CandidateRequest.due_at < clock.now(), 1)))
    query = sa.select(CandidateRequest.kind, sa.func.count(), sa.func.min(CandidateRequest.due_at), overdue)
    opened = query.where(*reach_of_requests(member, Right.EDIT), CandidateRequest.state == RequestState.OPEN).group_by(
        CandidateRequest.kind
    )
    rows = db.session.execute(opened).all()
    for kind, count, due, late in sorted(rows, key=lambda row: (row[2] is None, row[2], row[0])):
        yield Task(kind.value, count, due, late)


def _access(member: TeamMember) -> Iterator[Task]:
    """Open requests for access to flows that the member can edit."""
    count, oldest = how_many_wait_for(member)
    yield Task("access", count, oldest)


def _results(member: TeamMember) -> Iterator[Task]:
    """Results to review: those assigned to the member, and all in the member's teams."""
    is_mine = sa.func.coalesce(Candidate.assigned_recruiter_id, "") == member.id
    mine = sa.case((is_mine, Candidate.interviewed_at))
    query = sa.select(
        sa.func.count(mine), sa.func.min(mine), sa.func.count(), sa.func.min(Candidate.interviewed_at)
    ).where(
        *reach(member, Candidate, Right.EDIT),
        Candidate.interviewed_at.is_not(None),
        Candidate.reviewed_at.is_(None),
        Candidate.is_test.is_(False),
        Candidate.quarantined_at.is_(None),
    )
    my_count, my_oldest, count, oldest = db.session.execute(query).one()
    yield Task("my_results", my_count, my_oldest)
    yield Task("results", count if count > my_count else 0, oldest)


def _interviews(member: TeamMember, link_days: int) -> Iterator[Task]:
    """Interviews stuck in processing, and links that expire soon."""
    mine = reach(member, Interview, Right.EDIT)
    stuck = sa.select(sa.func.count()).select_from(Interview).where(*mine, interviews.stuck())
    ending = sa.select(sa.func.count(), sa.func.min(interviews.LINK_FROM)).where(
        *mine, Interview.candidate_id.is_not(None), interviews.ending(link_days)
    )
    yield Task("stuck", db.session.scalar(stuck) or 0)
    count, first = db.session.execute(ending).one()
    yield Task("ending", count, first + timedelta(days=link_days) if first else None)


def _webhooks(member: TeamMember) -> Iterator[Task]:
    """Undelivered webhooks, and endpoints that are disabled or failing."""
    mine = reach(member, InterviewFlow, Right.EDIT)
    lost = (
        sa.select(sa.func.count(), sa.func.min(Delivery.finished_at))
        .join(Endpoint, Endpoint.id == Delivery.endpoint_id)
        .join(InterviewFlow, InterviewFlow.id == Delivery.flow_id)
        .where(
            Endpoint.organization_id == member.organization_id,
            *mine,
            Delivery.state == DeliveryState.EXHAUSTED,
            Delivery.finished_at > clock.now() - RESENT_FOR,
        )
    )
    led = sa.select(Route.endpoint_id).join(InterviewFlow, InterviewFlow.id == Route.flow_id)
    shown: sa.ColumnElement[bool] = Endpoint.id.in_(led.where(*mine))
    if member.role is Role.ADMIN:
        shown = sa.or_(shown, sa.and_(*of_organization(member.organization_id)))
    else:
        lost = lost.where(Delivery.lane == "")
    health = sa.select(
        sa.func.count(Endpoint.disabled_at),
        sa.func.min(Endpoint.disabled_at),
        sa.func.count(sa.case((Endpoint.disabled_at.is_(None), Endpoint.failing_since))),
        sa.func.min(sa.case((Endpoint.disabled_at.is_(None), Endpoint.failing_since))),
    ).where(shown)
    disabled, disabled_since, failing, failing_since = db.session.execute(health).one()
    yield Task("disabled", disabled, disabled_since)
    yield Task("failing", failing, failing_since)
    count, oldest = db.session.execute(lost).one()
    yield Task("undelivered", count, oldest)


def _channels(member: TeamMember) -> Iterator[Task]:
    """For administrators: channels in Slack and Teams that get no notices."""
    if member.role is Role.ADMIN:
        count, since = channels_in_trouble(member.organization_id)
        yield Task("channels", count, since)


def _statuses(member: TeamMember) -> Iterator[Task]:
    """For administrators: statuses without a meaning, which count as open until they choose one."""
    if member.role is Role.ADMIN:
        yield Task("meanings", len(statuses_without_meaning(member.organization)))


@dataclass(frozen=True, slots=True)
class NewResult:
    """A completed interview and its overall score, 0 to 5; None if too little was assessed.

    ``is_hidden``: the member rates it before they see the score.
    """

    interview: Interview
    score: float | None
    is_hidden: bool = False


def new_results(member: TeamMember, *, limit: int) -> list[NewResult]:
    """The newest results that the member may see, without test interviews, with flow and candidate."""
    data = joinedload(Interview.data)
    scores = data.options(load_only(InterviewData.scores, InterviewData.criteria_id))
    criteria = data.joinedload(InterviewData.criteria_set)
    found = (
        sa.select(Interview)
        .where(*_results_of(member))
        .order_by(Interview.completed_at.desc(), Interview.id)
        .options(joinedload(Interview.flow), joinedload(Interview.candidate), scores, criteria)
        .limit(limit)
    )
    rows = db.session.scalars(found).all()
    hidden = hidden_interviews(member, rows)
    return [
        NewResult(
            one,
            overall(one.data.scores, one.data.own_criteria) if one.data and one.id not in hidden else None,
            one.id in hidden,
        )
        for one in rows
    ]


@dataclass(frozen=True, slots=True)
class Compared:
    """How many there were since Monday (UTC), and how many in the week before until the same weekday and time."""

    label: str
    count: int
    before: int


def this_week(member: TeamMember) -> list[Compared]:
    """New candidates, results and decisions that the member may see, without tests and withdrawn decisions."""
    now = clock.now()
    monday = datetime.combine(now.date() - timedelta(days=now.weekday()), time.min, tzinfo=UTC)
    enrolled = (*reach(member, Candidate), Candidate.is_test.is_(False), Candidate.quarantined_at.is_(None))
    decided = (*reach(member, DecisionRecord), DecisionRecord.withdrawn_at.is_(None))
    kinds: list[tuple[str, Any, Sequence[Any]]] = [
        ("New candidates", Candidate.created_at, enrolled),
        ("New results", Interview.completed_at, _results_of(member)),
        ("Decisions", DecisionRecord.at, decided),
    ]
    return [
        Compared(label, *_counted(moment, conditions, monday=monday, now=now)) for label, moment, conditions in kinds
    ]


def _results_of(member: TeamMember) -> list[sa.ColumnElement[bool]]:
    return [
        *reach(member, Interview),
        Interview.completed_at.is_not(None),
        Interview.is_test.is_(False),
        Interview.quarantined_at.is_(None),
        Interview.erased_at.is_(None),
    ]


def _counted(moment: Any, conditions: Sequence[Any], *, monday: datetime, now: datetime) -> tuple[int, int]:
    """How many since ``monday``, and how many in the week before, until as long after its Monday as ``now`` is."""
    week = timedelta(days=7)
    in_week = sa.func.count(sa.case((moment >= monday, 1)))
    in_last = sa.func.count(sa.case((moment < now - week, 1)))
    query = sa.select(in_week, in_last).where(*conditions, moment >= monday - week)
    count, before = db.session.execute(query).one()
    return count, before


@dataclass(frozen=True, slots=True)
class Named:
    """The subject of an audit log entry. ``page`` and ``parameter``: the view that shows it, if any."""

    kind: str
    name: str
    page: str = ""
    parameter: str = ""
    key: str = ""


_KINDS: tuple[tuple[str, Any, Any, str, str], ...] = (
    ("Flow", InterviewFlow, InterviewFlow.title, "flows.show", "flow_id"),
    ("Template", FlowTemplate, FlowTemplate.name, "flows.templates", ""),
    ("Bank question", BankQuestion, BankQuestion.text, "library.edit", "question_id"),
    ("Member", TeamMember, sa.func.coalesce(TeamMember.full_name, TeamMember.email), "accounts.member", "member_id"),
    ("Team", Team, Team.name, "accounts.team", ""),
    ("API key", ApiKey, ApiKey.name, "accounts.api_keys", ""),
    ("Webhook endpoint", Endpoint, Endpoint.url, "webhooks.index", ""),
    ("Status", PipelineStatus, PipelineStatus.name, "candidates.statuses", ""),
    ("Webhook event", Delivery, Delivery.event_type, "webhooks.show", "delivery_id"),
)


def named(organization: Organization, ids: Collection[str]) -> dict[str, Named]:
    """Names of the organization's things with these ids; deleted things are missing."""
    wanted = [one for one in ids if is_id(one)]
    names = {organization.id: Named("Organization", organization.name, "accounts.organization")}
    for kind, rows, name, page, parameter in _KINDS:
        for row_id, text in _own(organization, rows, (name,), wanted=wanted):
            names[row_id] = Named(kind, str(text), page, parameter, row_id)
    return names | _people(organization, wanted)


def _own(
    organization: Organization, rows: Any, parts: Sequence[Any], *, wanted: Sequence[str]
) -> Iterator[Sequence[Any]]:
    """Id and parts of the organization's rows among these.

    The organization is compared here: given both, SQLite walks all rows of the organization.
    """
    query = sa.select(rows.organization_id, rows.id, *parts).where(rows.id.in_(wanted))
    return (row[1:] for row in db.session.execute(query) if row[0] == organization.id)


def _people(organization: Organization, wanted: Sequence[str]) -> dict[str, Named]:
    """Candidates and interviews, by name or address; erased interviews have neither."""
    names: dict[str, Named] = {}
    talk = (Interview.interviewee_first_name, Interview.interviewee_last_name, Interview.interviewee_email_address)
    person = (Candidate.first_name, Candidate.last_name, Candidate.email)
    for kind, rows, parts, page, parameter in (
        ("Interview", Interview, talk, "interviews.show", "interview_id"),
        ("Candidate", Candidate, person, "candidates.show", "candidate_id"),
    ):
        for row_id, first, last, address in _own(organization, rows, parts, wanted=wanted):
            text = " ".join(filter(None, (first, last))) or address or "Unnamed"
            names[row_id] = Named(kind, text, page, parameter, row_id)
    return names
