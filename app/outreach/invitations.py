"""Turns a list of people into interviews: all lines are checked first, then carried out one by one, idempotently."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, DomainError, Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews import actions as interviews
from app.interviews.models import Interview, Stage
from app.interviews.pending import link_from
from app.outreach import actions
from app.outreach.actions import Post
from app.outreach.models import LinkState, Step
from app.outreach.people_file import Line
from app.outreach.queries import standing_invitations

MOST_DAYS = 90
"""How far from now a link can be extended, as often as needed."""


@dataclass(frozen=True, slots=True)
class Row:
    """Outcome of one line: ``new``, ``done``, ``same`` (already invited) or ``refused``, with the reason."""

    line: Line
    outcome: str
    reason: str = ""
    interview: Interview | None = None
    same_as: int | None = None
    """Number of the first line with this email address."""


@dataclass(frozen=True, slots=True)
class Order:
    """How a list is carried out. ``batch`` identifies the list, so that sending it twice invites once."""

    batch: str
    recruiter_id: str | None
    by_mail: bool
    post: Post


def judge(
    flow: InterviewFlow, lines: Sequence[Line], *, flaw: Callable[[Line], str | None], link_days: int
) -> list[Row]:
    """The outcome each line would have, without side effects. Raises Rejected for a flow that is not open."""
    if flow.status is not FlowStatus.OPEN:
        raise Rejected(f"This flow is {flow.status.value}. Choose an open flow.", field="flow")
    invited = standing_invitations(flow, [line.email for line in lines])
    first: dict[str, int] = {}
    rows = []
    for line in lines:
        address, wrong = line.email.lower(), flaw(line)
        standing = invited.get(address)
        if wrong:
            rows.append(Row(line, "refused", wrong))
        elif address in first:
            reason = f"Same email address as in line {first[address]}."
            rows.append(Row(line, "same", reason, same_as=first[address]))
        elif standing is not None and not _is_over(standing, link_days):
            rows.append(Row(line, "same", _standing(standing), standing))
        else:
            rows.append(Row(line, "new"))
        first.setdefault(address, line.number)
    return rows


def _is_over(interview: Interview, link_days: int) -> bool:
    """Whether a new invitation makes sense: this interview is closed, or expired before it was started."""
    ended = link_from(interview) + timedelta(days=link_days) <= clock.now()
    return interview.is_closed or (interview.stage is Stage.CREATED and ended)


def _standing(interview: Interview) -> str:
    day = f"{interview.created_at.day} {interview.created_at:%B %Y}"
    if interview.has_declined:
        return f"Invited on {day}. The candidate declined."
    if interview.stage is Stage.CREATED:
        return f"Already invited on {day}."
    return f"Invited on {day}. The candidate has already started the interview."


def carry_out(flow: InterviewFlow, row: Row, order: Order, *, by: TeamMember) -> Row:
    """Create the interview of a ``new`` row and post its invitation. Commit after each row: a list may be long.

    Returns the row as ``done``, or as ``refused`` with the reason; then roll back.
    """
    line = row.line
    try:
        interview = interviews.book(
            by.organization,
            flow.id,
            email=line.email,
            first_name=line.first_name,
            last_name=line.last_name,
            recruiter_id=order.recruiter_id,
        )
        actions.remember(interview, order.batch, line.number)
        if order.by_mail:
            actions.write(interview, Step.INVITATION, order.post, by=by, sent=())
    except DomainError as refusal:
        return Row(line, "refused", refusal.message)
    return Row(line, "done", interview=interview)


def write_to(interview: Interview | None, post: Post, *, by: TeamMember) -> tuple[str, str]:
    """Send one reminder. Returns ``done``, or ``refused`` with the reason."""
    if interview is None:
        return "refused", "There is no interview to start."
    try:
        actions.write(interview, Step.REMINDER, post, by=by)
    except Conflict as refusal:
        return "refused", refusal.message
    return "done", ""


def newest_of(candidate: Candidate) -> Interview | None:
    """The candidate's newest interview; None if all were erased."""
    query = sa.select(Interview).where(Interview.candidate_id == candidate.id, Interview.erased_at.is_(None))
    return db.session.scalar(query.order_by(Interview.org_seq.desc()).limit(1))


def state_of_link(interview: Interview, post: Post) -> LinkState:
    """The state that a program reads. A candidate who has declined may still start, so that link is open."""
    if interview.erased_at is not None or interview.withdrawn_at is not None or interview.is_closed:
        return LinkState.CLOSED
    if interview.stage not in {Stage.CREATED, Stage.RUNNING, Stage.ABANDONED}:
        return LinkState.SUBMITTED
    if interview.stage is Stage.RUNNING:
        return LinkState.IN_PROGRESS
    if interview.flow.status is FlowStatus.ARCHIVED:
        return LinkState.CLOSED
    if post.ends(interview) <= clock.now():
        return LinkState.EXPIRED
    return LinkState.OPEN if interview.stage is Stage.CREATED else LinkState.IN_PROGRESS


def cannot_extend(interview: Interview | None) -> str | None:
    """Why the link cannot be extended, as a sentence; None if it can."""
    if interview is None:
        return "There is no interview whose link can be extended."
    if interview.withdrawn_at is not None or interview.has_declined:
        return "The candidate has declined or withdrawn."
    if interview.stage not in {Stage.CREATED, Stage.RUNNING, Stage.ABANDONED}:
        return "The candidate has finished the interview."
    if interview.is_closed:
        return "The link was closed. Create another interview."
    return None


def extend(interview: Interview | None, days: int, post: Post, *, by: TeamMember) -> datetime:
    """Let the link work for ``days`` from now; returns until when. Audited.

    Raises Rejected for other days, Conflict if ``cannot_extend`` gives a reason.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Rejected(f"Enter 1 to {MOST_DAYS} days.", field="days")
    extended = _extendable(interview)
    until = clock.now() + timedelta(days=days)
    if until <= post.ends(extended):
        raise Rejected("The link already works longer than that. Choose more days.", field="days")
    _set_end(extended, until, post, by=by, details={"days": days})
    return until


def extend_until(interview: Interview, until: datetime, post: Post) -> datetime:
    """As ``extend``, for a program that says the time. Audited. Returns the time."""
    now = clock.now()
    if not now < until <= now + timedelta(days=MOST_DAYS):
        raise Rejected(f"Must be later than now, and at most {MOST_DAYS} days from now.", field="expires_at")
    extended = _extendable(interview)
    ends = post.ends(extended)
    if until <= ends:
        words = f"The link already works until {clock.rfc3339(ends)}. Send a later time."
        raise Rejected(words, field="expires_at")
    _set_end(extended, until, post, by=None, details={"through": "/v1", "until": clock.rfc3339(until)})
    return until


def _extendable(interview: Interview | None) -> Interview:
    """The same, locked until the commit. Raises Conflict."""
    if interview is not None:
        db.session.refresh(interview, with_for_update=True)
    reason = cannot_extend(interview)
    if reason or interview is None:
        raise Conflict(reason or "")
    return interview


def _set_end(
    interview: Interview, until: datetime, post: Post, *, by: TeamMember | None, details: dict[str, object]
) -> None:
    interview.link_since = until - timedelta(days=post.link_days)
    organization = interview.flow.organization
    write_audit(organization, action="interview.link_extended", subject=interview.id, by=by, details=details)
    db.session.flush()


def cannot_invite_again(candidate: Candidate, newest: Interview | None, post: Post) -> str | None:
    """Why the candidate needs or gets no new interview, as a sentence; None if they can be invited again."""
    if candidate.is_test:
        return "Candidates of test interviews are not invited."
    if candidate.flow.status is not FlowStatus.OPEN:
        return f"The flow is {candidate.flow.status.value}."
    return _is_still_needed(newest, post) if newest else None


def _is_still_needed(newest: Interview, post: Post) -> str | None:
    if newest.withdrawn_at is not None:
        return "The candidate has withdrawn their consent."
    if newest.stage in {Stage.RUNNING, Stage.ABANDONED}:
        return "The candidate has started their interview. Extend the link if they need more time."
    if newest.stage in {Stage.SUBMITTED, Stage.PROCESSING}:
        return "The candidate's interview is being processed."
    if newest.stage is Stage.CREATED and not newest.has_declined and not _is_over(newest, post.link_days):
        return "The candidate's link still works. Send a reminder, or extend the link."
    return None


def invite_again(candidate: Candidate, post: Post, *, by: TeamMember) -> Interview:
    """Create another interview of the same flow and post its invitation, where mail can be sent. Audited.

    Raises Conflict if ``cannot_invite_again`` gives a reason, and what ``book`` raises.
    """
    db.session.refresh(candidate, with_for_update=True)
    reason = cannot_invite_again(candidate, newest_of(candidate), post)
    if reason:
        raise Conflict(reason)
    in_team = candidate.assigned_recruiter is not None and candidate.team_id in {
        team.id for team in candidate.assigned_recruiter.teams
    }
    interview = interviews.book(
        by.organization,
        candidate.flow_id,
        email=candidate.email,
        first_name=candidate.first_name,
        last_name=candidate.last_name,
        recruiter_id=candidate.assigned_recruiter_id if in_team else None,
    )
    if post.can_send:
        actions.write(interview, Step.INVITATION, post, by=by, sent=())
    details: dict[str, object] = {"invited": 1}
    write_audit(by.organization, action="candidates.invited", subject=candidate.flow_id, by=by, details=details)
    return interview
