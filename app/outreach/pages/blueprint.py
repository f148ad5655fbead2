"""The blueprint of outreach, and helpers that its pages share."""

from typing import Any

from flask import Blueprint, current_app

from app import gateways
from app.accounts.access import require_member
from app.core import clock
from app.flows.models import InterviewFlow
from app.interviews.models import Interview
from app.outreach import actions, queries
from app.outreach.actions import Post
from app.outreach.models import Step
from app.outreach.people_file import Line
from app.settings import Settings

pages = Blueprint("outreach", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _for_cards() -> dict[str, Any]:
    """For the interview's page: its emails, and why another one cannot be sent."""

    def mails_of(interview: Interview) -> dict[str, Any]:
        sent = queries.messages_of(interview.id)
        step = Step.REMINDER if any(one.letter.state not in queries.FAILED for one in sent) else Step.INVITATION
        return {"sent": sent, "next": step, "hindrance": actions.hindrance(interview, step, post(), sent=sent)}

    return {"mails_of": mails_of}


def post() -> Post:
    """Settings for the emails of this request."""
    settings: Settings = current_app.extensions["parley.settings"]
    return Post(settings.app_url, settings.link_expiry_days, gateways.current().mail.is_configured)


def pretended(flow: InterviewFlow, line: Line | None = None) -> Interview:
    """An unsaved interview for a sample email."""
    line = line or Line(1, "candidate@example.com", "Maria")
    return Interview(
        id="…",
        flow_id="…",
        flow=flow,
        created_at=clock.now(),
        interviewee_email_address=line.email,
        interviewee_first_name=line.first_name,
        organization_id=flow.organization_id,
    )
