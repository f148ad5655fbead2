"""The fact that this room tells customers: ``candidate_status_updated``, in exactly the interface's words."""

from app.candidates.models import Candidate, StatusChange
from app.core.rooms import outbox

STATUS_UPDATED = "candidate_status_updated"


def status_updated(candidate: Candidate, change: StatusChange) -> None:
    """Announce one move; the outbox row commits with the move. Moves of one candidate go out in their order."""
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
