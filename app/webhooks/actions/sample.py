"""Test events for setting up a receiver: shaped like real ones, about an invented person, never in the outbox."""

from typing import Any

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import new_id
from app.core.errors import Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.webhooks import queries
from app.webhooks.actions.outbox import FIELDS, serialise
from app.webhooks.actions.rotation import Holder, sealed_of
from app.webhooks.delivery import Message, Outcome
from app.webhooks.models import Endpoint, EventType, new_event_id

FLOW_TITLE = "Test flow"
"""Of test events to an organization's endpoint, which are about no flow."""
PERSON = ("test@example.com", "Test", "Event")


def sample(target: Holder, kind: EventType, *, app_url: str) -> Message:
    """An event of ``kind`` as it would be sent now to a flow's URL or an organization's endpoint.

    Its id begins with ``evt_test_``. Raises Rejected for an archived flow, for one without an address and for a removed
    endpoint.
    """
    url = _url_of(target)
    interview_id = new_id()
    flow_id, title = (target.id, target.title) if isinstance(target, InterviewFlow) else (new_id(), FLOW_TITLE)
    values: dict[str, Any] = {
        "event_type": kind.value,
        "interview_flow_id": flow_id,
        "interview_flow_name": title,
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
    secrets = sealed_of(target).opened(queries.present())
    return Message(url, secrets, new_event_id(is_test=True), body, clock.now())


def _url_of(target: Holder) -> str:
    if isinstance(target, Endpoint):
        if target.removed_at is not None:
            raise Rejected("This webhook endpoint was removed.")
        return target.url
    if target.status is FlowStatus.ARCHIVED:
        raise Rejected("This interview flow is archived and no longer sends webhooks.")
    if not target.webhook_url:
        raise Rejected("This flow has no webhook URL. Edit the flow and add one first.")
    return target.webhook_url


def tested(target: Holder, kind: EventType, outcome: Outcome, *, by: TeamMember) -> None:
    """Audit that a test event was sent, with the response's status or the error class."""
    details = {"event": kind.value, "answer": outcome.status or outcome.error}
    write_audit(by.organization, action="webhook.tested", subject=target.id, by=by, details=details)
