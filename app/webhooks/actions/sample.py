"""Test events for setting up a receiver: shaped like real ones, about an invented person, never in the outbox."""

from typing import Any

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import new_id
from app.core.errors import Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.flows.queries import secret_of
from app.webhooks.actions.outbox import FIELDS, serialise
from app.webhooks.delivery import Message, Outcome
from app.webhooks.models import EventType, new_event_id

PERSON = ("test@example.com", "Test", "Event")


def sample(flow: InterviewFlow, kind: EventType, *, app_url: str) -> Message:
    """An event of ``kind`` as ``flow`` would send it now, with an id that begins with ``evt_test_``.

    Raises Rejected for an archived flow and for one without an address.
    """
    if flow.status is FlowStatus.ARCHIVED:
        raise Rejected("This interview flow is archived and no longer sends webhooks.")
    if not flow.webhook_url:
        raise Rejected("This flow has no webhook URL. Edit the flow and add one first.")
    interview_id = new_id()
    values: dict[str, Any] = {
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
    body = serialise(kind, {name: values[name] for name in FIELDS[kind]})
    return Message(flow.webhook_url, secret_of(flow), new_event_id(is_test=True), body, clock.now())


def tested(flow: InterviewFlow, kind: EventType, outcome: Outcome, *, by: TeamMember) -> None:
    """Audit that a test event was sent, with the response's status or the error class."""
    details = {"event": kind.value, "answer": outcome.status or outcome.error}
    write_audit(flow.organization, action="webhook.tested", subject=flow.id, by=by, details=details)
