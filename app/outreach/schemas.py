"""What goes in and out of the operation of ``/v1`` on links."""

import marshmallow as ma

from app.outreach.models import LinkState
from app.web import examples
from app.web.fields import Choice, Time


class LinkExtensionSchema(ma.Schema):
    """Body that lets a link work longer."""

    class Meta:
        unknown = ma.RAISE

    expires_at = Time(
        "When the link stops working: in the future, later than before, at most 90 days from now.", required=True
    )


class LinkExtendedSchema(ma.Schema):
    """The link, and until when it works."""

    interview_id = ma.fields.String(required=True)
    interview_link = ma.fields.String(required=True, metadata={"description": "Single-use link for the interviewee."})
    expires_at = ma.fields.String(required=True, metadata={"format": "date-time"})


class LinkSchema(ma.Schema):
    """Whether the link still works, and until when."""

    interview_id = ma.fields.String(required=True)
    state = Choice(
        tuple(LinkState),
        called="InterviewLinkState",
        required=True,
        metadata={
            "description": "open: the interview can be started; in_progress: it was started and can be continued; "
            "submitted: the candidate has finished; expired: extend it, and it works again; closed: it was cancelled, "
            "its recordings were revoked, consent was withdrawn, it was erased, or its flow is archived."
        },
    )
    expires_at = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={
            "format": "date-time",
            "description": "When the link expires or has expired. Null: it leads nowhere.",
        },
    )


EXTENSION_EXAMPLE = {"expires_at": "2026-03-31T17:00:00Z"}
EXTENDED_EXAMPLE = {
    "interview_id": examples.INTERVIEW_ID,
    "interview_link": f"{examples.ADDRESS}/interview/api/{examples.FLOW_ID}/{examples.INTERVIEW_ID}",
    **EXTENSION_EXAMPLE,
}
LINK_EXAMPLE = {"interview_id": examples.INTERVIEW_ID, "state": "open", **EXTENSION_EXAMPLE}
