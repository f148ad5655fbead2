"""What happens to candidates: they are enrolled, and they are moved."""

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.models import TeamMember
from app.candidates import events, pipeline
from app.candidates.models import INVITED, Candidate, StatusChange
from app.candidates.queries import enrolled, status_for, statuses_of
from app.db import db
from app.errors import Conflict, Rejected
from app.flows.models import InterviewFlow

LONGEST_NOTE = 2_000
_ATTEMPTS = 5


def enrol(
    flow: InterviewFlow, *, email: str, first_name: str | None, last_name: str | None, recruiter: TeamMember | None
) -> Candidate:
    """The flow's candidate with this address, made if there is none; tells nobody, since nothing has moved.

    A candidate who was there already keeps what is known of them; only gaps are filled.
    """
    recruiter_id = recruiter.id if recruiter else None
    known = enrolled(flow.id, email)
    if known is None:
        made = Candidate(
            organization_id=flow.organization_id, team_id=flow.team_id, flow_id=flow.id, email=email,
            address=email.lower(), first_name=first_name, last_name=last_name, flow=flow,
            assigned_recruiter_id=recruiter_id, status=status_for(flow.organization, INVITED),
        )  # fmt: skip
        known = _added_or_found(made)
    known.first_name = known.first_name or first_name
    known.last_name = known.last_name or last_name
    known.assigned_recruiter_id = known.assigned_recruiter_id or recruiter_id
    db.session.flush()
    return known


def move(candidate: Candidate, to: str, *, by: TeamMember | None, note: str | None = None) -> StatusChange | None:
    """Set the status, keep the move in the history, announce it. The same status is no move: None.

    ``by`` is None when the product itself moves the candidate. Of two moves at once both count, one after the other:
    each takes its number in the same UPDATE that checks where the candidate stands.
    """
    statuses = statuses_of(candidate.flow.organization)
    if note is not None and len(note) > LONGEST_NOTE:
        raise Rejected(f"The note has {len(note)} characters; at most {LONGEST_NOTE} fit.", field="note")
    for _ in range(_ATTEMPTS):
        previous = candidate.status
        if not pipeline.is_move(previous, to, statuses=statuses):
            return None
        number = _step(candidate.id, previous, to)
        db.session.refresh(candidate)
        if number is not None:
            return _kept(candidate, StatusChange(number=number, previous=previous, new=to, note=note or None), by)
    raise Conflict("Others are moving this candidate at this very moment. Try again.")


def erase(candidate: Candidate) -> None:
    """Forget a candidate and every move; whoever calls this has taken the interviews off."""
    db.session.execute(sa.delete(StatusChange).where(StatusChange.candidate_id == candidate.id))
    db.session.delete(candidate)
    db.session.flush()


def _added_or_found(made: Candidate) -> Candidate:
    try:
        with db.session.begin_nested():
            db.session.add(made)
    except IntegrityError:
        found = enrolled(made.flow_id, made.email)
        if found is None:
            raise
        return found
    return made


def _step(candidate_id: str, previous: str, to: str) -> int | None:
    statement = (
        sa.update(Candidate)
        .where(Candidate.id == candidate_id, Candidate.status == previous)
        .values(status=to, status_changes=Candidate.status_changes + 1)
        .returning(Candidate.status_changes)
        .execution_options(synchronize_session=False)
    )
    return db.session.execute(statement).scalar_one_or_none()


def _kept(candidate: Candidate, change: StatusChange, by: TeamMember | None) -> StatusChange:
    change.candidate_id, change.by_id = candidate.id, by.id if by else None
    db.session.add(change)
    db.session.flush()
    events.status_updated(candidate, change)
    return change
