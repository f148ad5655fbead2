"""The event ``candidate_status_updated``, with the payload that ``/v1`` documents."""

from collections.abc import Sequence

from app.candidates.models import Candidate, StatusChange
from app.core.rooms import Event, outbox

STATUS_UPDATED = "candidate_status_updated"


def status_updated(moves: Sequence[tuple[Candidate, StatusChange]]) -> None:
    """Announce moves; the outbox rows commit with them. Moves of one candidate are delivered in order."""
    outbox().announce_all([_event(candidate, change) for candidate, change in moves], event_type=STATUS_UPDATED)


def _event(candidate: Candidate, change: StatusChange) -> Event:
    flow = candidate.flow
    payload = {
        "event_type": STATUS_UPDATED,
        "interview_flow_id": flow.id,
        "interview_flow_name": flow.title,
        "interviewee_email": candidate.email,
        "previous_status": change.previous,
        "new_status": change.new,
    }
    return Event(flow, payload, candidate.id, change.number, candidate.is_test)
