"""The blueprint of outreach, and helpers that its pages share."""

from typing import Any

from flask import Blueprint, current_app, flash

from app import gateways
from app.accounts.access import current_member, require_member
from app.core import clock
from app.core.db import db
from app.flows.models import InterviewFlow
from app.gateways.mail import Mail
from app.interviews.models import Interview
from app.mail_outbox.html_part import mail_as_html
from app.outreach import actions, queries
from app.outreach.actions import Post
from app.outreach.models import Step
from app.outreach.people_file import Line
from app.settings import Settings
from app.web import rate_limits

TESTS_PER_MINUTE = 10

pages = Blueprint("outreach", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _for_cards() -> dict[str, Any]:
    """For the interview's page: its emails. For samples: their HTML."""
    return {"mails_of": mails_of, "mail_as_html": mail_as_html}


def mails_of(interview: Interview) -> dict[str, Any]:
    """The emails sent about the interview, the step of the next one, and why it cannot be sent."""
    sent = queries.messages_of(interview.id)
    step = Step.REMINDER if any(one.letter.state not in queries.FAILED for one in sent) else Step.INVITATION
    return {"sent": sent, "next": step, "hindrance": actions.hindrance(interview, step, post(), sent=sent)}


def post() -> Post:
    """Settings for the emails of this request."""
    settings: Settings = current_app.extensions["parley.settings"]
    return Post(settings.app_url, settings.link_expiry_days, gateways.current().mail.is_configured)


def sent_test(sample: Mail) -> None:
    """Send the sample to the member who asks, commit, and say so. Raises 429 beyond ``TESTS_PER_MINUTE``."""
    rate_limits.count("test-mail", most=TESTS_PER_MINUTE)
    member = current_member()
    actions.send_test(sample, to=member)
    db.session.commit()
    flash(f"A test email is on its way to {member.email}.", "good")


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
