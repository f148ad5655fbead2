"""A made-up event, for whoever sets up a receiver: in the shape of real ones, about nobody, and never in the outbox."""

from typing import Any

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import new_id
from app.core.errors import Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.flows.queries import secret_of
from app.webhooks.actions.outbox import FIELDS, serialise
from app.webhooks.delivery import Letter, Outcome
from app.webhooks.models import EventType, new_event_id

PERSON = ("test@example.com", "Test", "Event")


def sample(flow: InterviewFlow, kind: EventType, *, app_url: str) -> Letter:
    """An event of ``kind`` as ``flow`` would send it now, with an id that begins with ``evt_test_``.

    Rejected for a flow without an address, or an archived one.
    """
    if flow.status is FlowStatus.ARCHIVED:
        raise Rejected("This interview flow has been deleted; it sends nothing any more.")
    if not flow.webhook_url:
        raise Rejected("This flow has no webhook address. Edit the flow and give it one first.")
    interview_id = new_id()
    known: dict[str, Any] = {
        "event_type": kind.value,
        "interview_flow_id": flow.id,
        "interview_flow_name": flow.title,
        "interview_id": interview_id,
        "interview_link": f"{app_url}/interviews/{interview_id}",
        "interviewee_email_address": PERSON[0],
        "interviewee_first_name": PERSON[1],
        "interviewee_last_name": PERSON[2],
        "status": "completed",
        "interviewee_email": PERSON[0],
        "previous_status": "invited",
        "new_status": "interviewed",
    }
    body = serialise(kind, {name: known[name] for name in FIELDS[kind]})
    return Letter(flow.webhook_url, secret_of(flow), new_event_id(is_test=True), body, clock.now())


def tested(flow: InterviewFlow, kind: EventType, outcome: Outcome, *, by: TeamMember) -> None:
    """Write into the audit log that a test event went out, and what came back: a status or the kind of failure."""
    details = {"event": kind.value, "answer": outcome.status or outcome.error}
    write_audit(flow.organization, action="webhook.tested", subject=flow.id, by=by, details=details)
