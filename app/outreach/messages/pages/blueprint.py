"""The blueprint of messages, and what the pages of candidates show of them."""

from typing import Any

from flask import Blueprint, current_app

from app import gateways
from app.accounts.access import require_member
from app.mail_outbox.actions import CANCELLED
from app.outreach.actions import Post
from app.outreach.messages import queries
from app.settings import Settings

pages = Blueprint("messages", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _for_candidates() -> dict[str, Any]:
    """For the pages of candidates and interviews; they query only when called."""
    return {
        "messages_to": queries.messages_to,
        "messages_about": queries.messages_about,
        "waiting_rejection": queries.waiting_rejection,
        "mail_cancelled": CANCELLED,
    }


def post() -> Post:
    """Settings for the emails of this request."""
    settings: Settings = current_app.extensions["parley.settings"]
    return Post(settings.app_url, settings.link_expiry_days, gateways.current().mail.is_configured)
