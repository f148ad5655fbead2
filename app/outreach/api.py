"""The operations of ``/v1`` on the candidate's link. The contract does not have them."""

from typing import Any

from flask import current_app

from app import gateways
from app.accounts import idempotency
from app.accounts.access import caller
from app.core import clock
from app.core.db import db
from app.interviews.api import blp
from app.interviews.queries import interview_for
from app.outreach import invitations
from app.outreach.actions import Post
from app.outreach.models import LinkState
from app.outreach.schemas import (
    EXTENDED_EXAMPLE,
    EXTENSION_EXAMPLE,
    LINK_EXAMPLE,
    LinkExtendedSchema,
    LinkExtensionSchema,
    LinkSchema,
)
from app.settings import Settings
from app.web.spec import extension


@blp.get("/interviews/<string:interview_id>/link")
@blp.response(200, LinkSchema, description="The state of the link.", example=LINK_EXAMPLE)
@blp.doc(**extension("getInterviewLink"))
def get_interview_link(interview_id: str) -> dict[str, Any]:
    """Tell whether the candidate's link still works.

    An interview whose link is closed stays `incomplete` for good.
    """
    interview = interview_for(caller(), interview_id)
    state, ends = invitations.state_of_link(interview, _post()), _post().ends(interview)
    leads_on = state not in {LinkState.CLOSED, LinkState.SUBMITTED}
    return {
        "interview_id": interview.id,
        "state": state,
        "expires_at": clock.rfc3339(ends) if leads_on else None,
    }


@blp.post("/interviews/<string:interview_id>/extend")
@blp.arguments(LinkExtensionSchema, example=EXTENSION_EXAMPLE)
@blp.response(200, LinkExtendedSchema, description="The link works until then.", example=EXTENDED_EXAMPLE)
@blp.alt_response(
    409, description="The candidate has finished, declined or withdrawn, or the link was closed: nothing to extend."
)
@blp.doc(**extension("extendInterview"))
def extend_interview(body: dict[str, Any], interview_id: str) -> dict[str, Any]:
    """Let the link of an interview work longer, also if it has expired."""
    interview = interview_for(caller(), interview_id)
    until = invitations.extend_until(interview, body["expires_at"], _post())
    extended = idempotency.promise(
        {
            "interview_id": interview.id,
            "interview_link": interview.link(_post().app_url),
            "expires_at": clock.rfc3339(until),
        }
    )
    db.session.commit()
    return extended


def _post() -> Post:
    settings: Settings = current_app.extensions["parley.settings"]
    return Post(settings.app_url, settings.link_expiry_days, gateways.current().mail.is_configured)
