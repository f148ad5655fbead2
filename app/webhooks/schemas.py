"""Published schemas of the events, and the ``webhooks`` section of the OpenAPI document.

The outbox writes bodies from its own list of fields; a test compares the two.
"""

from typing import Any

import marshmallow as ma
from apispec import APISpec

from app.web import examples
from app.webhooks.models import EventType

ANSWERED = {
    "2XX": "Accepted. Respond before you do the work: an attempt times out after 15 seconds.",
    "410": "The endpoint is gone: it is disabled, and its events are held until an administrator enables it.",
    "default": "Not accepted: retried, up to ten attempts over three days.",
}
HEADERS = {
    "webhook-id": "Id of the event, the same for every attempt. Ignore an event whose id you have already processed.",
    "X-Parley-Test": "`1` on test events and on events about test interviews; absent otherwise.",
    "webhook-timestamp": "Time of this attempt in Unix seconds. Reject a webhook that is more than 5 minutes off.",
    "webhook-signature": "`v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`; several "
    "are separated by spaces: during a rotation of the secret, the new one's first. Absent without a secret.",
    "x-service-signature": "HMAC-SHA256 over the raw body, 64 lower-case hex characters. It covers neither id nor "
    "time. During a rotation it is made with the old secret. Absent without a secret.",
}
SIGNATURES = frozenset({"webhook-signature", "x-service-signature"})
TEST_HEADER = "X-Parley-Test"


def _text(description: str, *, nullable: bool = False) -> ma.fields.String:
    return ma.fields.String(required=True, allow_none=nullable, metadata={"description": description})


def _kind(kind: EventType) -> ma.fields.Constant[str]:
    return ma.fields.Constant(kind.value, required=True, metadata={"type": "string"})


class _InterviewEventSchema(ma.Schema):
    """Fields of the events about an interview."""

    interview_flow_id = _text("Id of the flow.")
    interview_id = _text("Id of the interview. Read its result with `GET /v1/interviews/{interview_id}`.")
    interview_link = _text("The recruiters' page of the interview. It requires a sign-in.")
    interview_flow_name = _text("Title of the flow.")
    interviewee_email_address = _text("Email address given when the interview was created, or null.", nullable=True)
    interviewee_first_name = _text("First name, or null.", nullable=True)
    interviewee_last_name = _text("Last name, or null.", nullable=True)
    status = _text("Status of the interview: `completed`.")


class InterviewProcessedEventSchema(_InterviewEventSchema):
    """The result of an interview is ready. If the interview has video, `video_processed` follows."""

    event_type = _kind(EventType.INTERVIEW_PROCESSED)


class VideoProcessedEventSchema(_InterviewEventSchema):
    """The video of an interview is ready."""

    event_type = _kind(EventType.VIDEO_PROCESSED)


class CandidateStatusUpdatedEventSchema(ma.Schema):
    """A candidate's status has changed."""

    event_type = _kind(EventType.CANDIDATE_STATUS_UPDATED)
    interview_flow_id = _text("Id of the candidate's flow.")
    interview_flow_name = _text("Title of the flow.")
    interviewee_email = _text("The candidate's email address. The other events call it `interviewee_email_address`.")
    previous_status = _text("The candidate's previous status in your pipeline.")
    new_status = _text("The candidate's new status.")


_ABOUT = {
    "interview_flow_id": examples.FLOW_ID,
    "interview_id": examples.INTERVIEW_ID,
    "interview_link": f"{examples.ADDRESS}/interviews/{examples.INTERVIEW_ID}",
    "interview_flow_name": examples.FLOW_TITLE,
    "interviewee_email_address": examples.EMAIL,
    "interviewee_first_name": examples.FIRST_NAME,
    "interviewee_last_name": examples.LAST_NAME,
    "status": "completed",
}
EVENTS: dict[EventType, tuple[type[ma.Schema], str, dict[str, str]]] = {
    EventType.INTERVIEW_PROCESSED: (
        InterviewProcessedEventSchema,
        "Sent when an interview has been processed. Transcript, summary, scores and audio are ready. The video is not.",
        {"event_type": EventType.INTERVIEW_PROCESSED.value, **_ABOUT},
    ),
    EventType.VIDEO_PROCESSED: (
        VideoProcessedEventSchema,
        "Sent when the video of an interview is ready, and only after `interview_processed` was delivered.",
        {"event_type": EventType.VIDEO_PROCESSED.value, **_ABOUT},
    ),
    EventType.CANDIDATE_STATUS_UPDATED: (
        CandidateStatusUpdatedEventSchema,
        (
            "Sent when a candidate's status changes: when a member changes it for one or many candidates, when a "
            "change is undone, when a status is removed, and automatically from `invited` to `interviewed` when a "
            "result is ready. Changes of one candidate arrive in order."
        ),
        {
            "event_type": EventType.CANDIDATE_STATUS_UPDATED.value,
            "interview_flow_id": examples.FLOW_ID,
            "interview_flow_name": examples.FLOW_TITLE,
            "interviewee_email": examples.EMAIL,
            "previous_status": "invited",
            "new_status": "interviewed",
        },
    ),
}


def describe(document: APISpec) -> None:
    """Add the events to the OpenAPI document."""
    for kind, (schema, words, example) in EVENTS.items():
        name = schema.__name__.removesuffix("Schema")
        document.components.schema(name, schema=schema)
        body = {"schema": document.components.get_ref("schema", name), "example": example}
        operation: dict[str, Any] = {
            "operationId": name[0].lower() + name[1:],
            "summary": str(schema.__doc__),
            "description": words,
            "security": [],
            "parameters": [_header(header) for header in HEADERS],
            "requestBody": {"required": True, "content": {"application/json": body}},
            "responses": {code: {"description": meaning} for code, meaning in ANSWERED.items()},
        }
        document.options.setdefault("webhooks", {})[kind.value] = {"post": operation}


def _header(name: str) -> dict[str, Any]:
    return {
        "in": "header",
        "name": name,
        "required": name not in SIGNATURES | {TEST_HEADER},
        "schema": {"type": "string"},
        "description": HEADERS[name],
    }
