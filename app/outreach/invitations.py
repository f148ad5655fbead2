"""Turns a list of people into interviews: all lines are checked first, then carried out one by one, idempotently."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.accounts.models import TeamMember
from app.core import clock
from app.core.errors import Conflict, DomainError, Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews import actions as interviews
from app.interviews.models import Interview, Stage
from app.outreach import actions
from app.outreach.actions import Post
from app.outreach.models import Step
from app.outreach.people_file import Line
from app.outreach.queries import standing_invitations


@dataclass(frozen=True, slots=True)
class Row:
    """Outcome of one line: ``new``, ``done``, ``same`` (already invited) or ``refused``, with the reason."""

    line: Line
    outcome: str
    reason: str = ""
    interview: Interview | None = None


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
            rows.append(Row(line, "same", f"Same email address as in line {first[address]}."))
        elif standing is not None and not _is_over(standing, link_days):
            rows.append(Row(line, "same", _standing(standing), standing))
        else:
            rows.append(Row(line, "new"))
        first.setdefault(address, line.number)
    return rows


def _is_over(interview: Interview, link_days: int) -> bool:
    """Whether a new invitation makes sense: this interview is closed, or expired before it was started."""
    ended = interview.created_at + timedelta(days=link_days) <= clock.now()
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
