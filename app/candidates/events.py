"""The event ``candidate_status_updated``, with the payload that ``/v1`` documents."""

from app.candidates.models import Candidate, StatusChange
from app.core.rooms import outbox

STATUS_UPDATED = "candidate_status_updated"


def status_updated(candidate: Candidate, change: StatusChange) -> None:
    """Announce one move; the outbox row commits with the move. Moves of one candidate are delivered in order."""
    flow = candidate.flow
    payload = {
        "event_type": STATUS_UPDATED,
        "interview_flow_id": flow.id,
        "interview_flow_name": flow.title,
        "interviewee_email": candidate.email,
        "previous_status": change.previous,
        "new_status": change.new,
    }
    outbox().announce(
        flow,
        event_type=STATUS_UPDATED,
        payload=payload,
        subject=candidate.id,
        sequence=change.number,
        is_test=candidate.is_test,
    )
