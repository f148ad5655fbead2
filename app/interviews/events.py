"""The webhook events of an interview, exactly as the contract lists them: both have the same nine fields."""

from typing import Any

from app.interviews.models import Interview

INTERVIEW_PROCESSED = "interview_processed"
VIDEO_PROCESSED = "video_processed"

SEQUENCE = {INTERVIEW_PROCESSED: 1, VIDEO_PROCESSED: 2}
"""Position of each event in the order of deliveries for one interview."""


def payload(interview: Interview, event_type: str, *, app_url: str) -> dict[str, Any]:
    """Body of ``event_type``. The link leads to the recruiters' page, so a webhook lets no one take the interview."""
    return {
        "event_type": event_type,
        "interview_flow_id": interview.flow_id,
        "interview_id": interview.id,
        "interview_link": interview.page_link(app_url),
        "interview_flow_name": interview.flow.title,
        "interviewee_email_address": interview.interviewee_email_address,
        "interviewee_first_name": interview.interviewee_first_name,
        "interviewee_last_name": interview.interviewee_last_name,
        "status": interview.status.value,
    }
