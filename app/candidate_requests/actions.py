"""Create and answer requests of candidates. No answer overwrites one that the member has not seen."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.candidate_requests.models import (
    DAYS,
    LONGEST_ANSWER,
    LONGEST_DAYS,
    MOST_OPEN,
    CandidateRequest,
    Different,
    RequestKind,
    RequestState,
)
from app.candidate_requests.queries import requests_of
from app.core import clock
from app.core.db import Moment, db
from app.core.errors import Conflict, Rejected, sentence
from app.core.rooms import notices
from app.interviews.actions import withdraw
from app.interviews.models import Interview

REQUEST_WAITING = "request_waiting"
"""The notice about a request that a member has to answer."""
REPLIED = "A newer reply to this request was saved while you were writing. Your reply was not saved."
ERASED = "Everything about this interview has been erased."
AT_ONCE = frozenset({Different.MORE_TIME, Different.TEXT})
"""Granted immediately: they cost nothing, and waiting for an answer would itself exclude someone."""


ASKABLE_AFTERWARDS = frozenset({RequestKind.DELETION, RequestKind.REVIEW, RequestKind.WITHDRAWAL})
"""What candidates may ask for on their own page."""


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A request as a candidate sends it."""

    kind: RequestKind
    text: str | None = None
    contact: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


def ask(interview: Interview, new: NewRequest) -> CandidateRequest:
    """Store a request. Repeating one that is open or granted returns the first. Raises Rejected for too many open ones.

    More time and text are granted immediately; the rest wait for a member until the due date. Raises Conflict after an
    erasure.
    """
    # The lock serialises simultaneous requests, and keeps requests and an erasure apart.
    db.session.refresh(interview, with_for_update={"key_share": True})
    if interview.erased_at is not None:
        raise Conflict(ERASED)
    earlier = requests_of(interview.id)
    same = next(
        (one for one in earlier if one.state in {RequestState.OPEN, RequestState.GRANTED} and _is(one, new)), None
    )
    if same is not None:
        return same
    if sum(one.state is RequestState.OPEN for one in earlier) >= MOST_OPEN:
        raise Rejected(sentence("There are too many open requests for this interview. Please wait for an answer."))
    now = clock.now()
    due = now + days_for(interview.flow.organization, new.kind)
    granted = new.details.get("choice") in AT_ONCE and new.kind is RequestKind.ACCOMMODATION
    candidate_request = CandidateRequest(
        organization_id=interview.organization_id,
        team_id=interview.team_id,
        interview_id=interview.id,
        kind=new.kind,
        state=RequestState.GRANTED if granted else RequestState.OPEN,
        details=dict(new.details),
        text=new.text,
        contact=new.contact,
        created_at=now,
        due_at=due,
        decided_at=now if granted else None,
    )
    db.session.add(candidate_request)
    db.session.flush()
    if not granted and not interview.is_test:
        notices().announce(
            REQUEST_WAITING,
            organization_id=interview.organization_id,
            key=f"{REQUEST_WAITING} {candidate_request.id}",
            interview_id=interview.id,
            request_id=candidate_request.id,
        )
    return candidate_request


def days_for(organization: Organization, kind: RequestKind) -> timedelta:
    """The time within which the organization answers requests of this kind."""
    return timedelta(days=int((organization.answer_days or {}).get(kind.value, DAYS[kind])))


def set_answer_days(organization: Organization, days: dict[RequestKind, int], *, by: TeamMember) -> None:
    """Set the days for answering new requests. Raises Rejected naming the kind. Audited."""
    for kind, count in days.items():
        if not 1 <= count <= LONGEST_DAYS:
            raise Rejected(f"Enter 1 to {LONGEST_DAYS} days.", field=kind.value)
    wanted = {kind.value: count for kind, count in days.items()}
    if wanted != {kind.value: days_for(organization, kind).days for kind in days}:
        organization.answer_days = {**(organization.answer_days or {}), **wanted}
        write_audit(organization, action="organization.answer_days", subject=organization.id, by=by, details=wanted)


def answer(
    candidate_request: CandidateRequest,
    *,
    state: RequestState,
    words: str | None,
    by: TeamMember,
    seen: str | None = None,
) -> None:
    """Record a member's decision, or change it. ``words`` are shown to the candidate.

    ``seen`` is the ``reply_version`` that the member saw; without it, that of the row as it was read counts. Raises
    Rejected for no decision or a text that is too long, Conflict if there is a newer reply.
    """
    if state is RequestState.OPEN:
        raise Rejected("Choose granted, declined or done.", field="state")
    if words is not None and len(words) > LONGEST_ANSWER:
        raise Rejected(f"The reply has {len(words)} characters. The maximum is {LONGEST_ANSWER}.", field="answer")
    given = (candidate_request.state, candidate_request.answer, candidate_request.decided_by_id)
    if given == (state, words, by.id):
        return  # the same once more, as after a double click
    if seen is not None and seen != candidate_request.reply_version:
        raise Conflict(REPLIED)
    before = candidate_request.state
    statement = (
        sa.update(CandidateRequest)
        .where(
            CandidateRequest.id == candidate_request.id,
            CandidateRequest.state == before,
            CandidateRequest.decided_at == candidate_request.decided_at,
        )
        .values(state=state, answer=words, decided_at=clock.now(), decided_by_id=by.id)
    )
    changed = db.changed(statement) == 1
    db.session.refresh(candidate_request)
    if not changed:
        raise Conflict(REPLIED)
    details = {
        "kind": candidate_request.kind.value,
        "from": before.value,
        "to": state.value,
        "interview": candidate_request.interview_id,
    }
    write_audit(by.organization, action="wish.answered", subject=candidate_request.id, by=by, details=details)


def erase(interview_id: str) -> int:
    """Delete all text from the interview's requests, keeping kinds and outcomes; open ones become done."""
    settled = sa.case(
        (CandidateRequest.state == RequestState.OPEN, RequestState.DONE.value), else_=CandidateRequest.state
    )
    decided = sa.func.coalesce(CandidateRequest.decided_at, sa.literal(clock.now(), Moment()))
    emptied: dict[str, Any] = {
        "text": None,
        "contact": None,
        "answer": None,
        "details": {},
        "state": settled,
        "decided_at": decided,
    }
    statement = sa.update(CandidateRequest).where(CandidateRequest.interview_id == interview_id).values(emptied)
    count = db.changed(statement)
    db.session.expire_all()
    return count


def _is(earlier: CandidateRequest, new: NewRequest) -> bool:
    return (earlier.kind, earlier.text, earlier.contact, earlier.details) == (
        new.kind,
        new.text,
        new.contact,
        new.details,
    )


def ask_afterwards(interview: Interview, kind: RequestKind, text: str | None) -> CandidateRequest:
    """A request from the candidate's own page. Withdrawing consent takes effect immediately."""
    if kind not in ASKABLE_AFTERWARDS:
        raise Rejected("Choose what you ask for.", field="kind")
    if kind is RequestKind.WITHDRAWAL:
        withdraw(interview)
    candidate_request = ask(interview, NewRequest(kind, text))
    note(interview, "own_page.asked", kind=kind.value, request=candidate_request.id)
    return candidate_request


def note(interview: Interview, action: str, **details: Any) -> None:
    """Write an audit entry about an action of the candidate: ids and words only."""
    organization = db.session.get_one(Organization, interview.organization_id)
    write_audit(organization, action=action, subject=interview.id, by=None, details=details)
