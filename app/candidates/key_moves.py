"""Moves that a program makes with an API key: the rules of the pages, with the person who decided named in the call."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.accounts.queries import member_of
from app.candidates import actions
from app.candidates.decisions import Grounds
from app.candidates.models import DECIDING, Candidate, Source
from app.candidates.queries import meanings_of
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import Right
from app.flows.queries import who_may

_FIELDS = {"reason": "reason_code"}
"""Fields of the pages' form, and what ``/v1`` calls them."""
_NEEDED = {"decided_by": "who decided", "reason_code": "why"}
"""What a decision needs, and what each field says."""
_WHERE = "GET /v1/statuses lists the reasons for each status."


@dataclass(frozen=True, slots=True)
class Wanted:
    """A move as a program asks for it; ``seen`` is the status that it has read before."""

    status: str
    decided_by: str | None = None
    reason_code: str | None = None
    note: str | None = None
    seen: str | None = None


def move(candidate: Candidate, wanted: Wanted) -> bool:
    """As ``actions.move``, audited. A decision needs a member who may make it, and a reason. False if nothing changes.

    Raises NotFound and Forbidden for the member, Rejected, and Conflict if the status is not the one ``seen``.
    """
    organization = candidate.flow.organization
    if candidate.quarantined_at is not None:
        raise Conflict("This candidate is in quarantine and will be deleted. A member can restore them first.")
    decider = _decider(candidate, wanted.decided_by) if wanted.decided_by is not None else None
    meaning = meanings_of(organization).get(wanted.status)
    needed = {"decided_by": decider, "reason_code": wanted.reason_code}
    missing = [name for name, value in needed.items() if value is None]
    if meaning in DECIDING and missing:
        said = " and ".join(_NEEDED[name] for name in missing)
        words = f"“{wanted.status}” is a decision about the candidate, so say {said}."
        raise Rejected(words, field=missing[0], also=tuple(missing[1:]), code="decision_incomplete")
    grounds = Grounds(Source.API_KEY, wanted.reason_code or "", decider.email if decider else None)
    with _in_words_of_v1():
        note = (wanted.note or "").replace("\r\n", "\n").strip()
        change = actions.move(candidate, wanted.status, by=None, note=note, grounds=grounds, seen=wanted.seen)
    if change is None:
        return False
    change.is_by_api_key = True
    details: dict[str, object] = {"through": "/v1"}
    if decider is not None:
        actions.note_review(candidate)
        details["decided_by"] = decider.id
    write_audit(organization, action="candidate.moved", subject=candidate.id, by=None, details=details)
    return True


def _decider(candidate: Candidate, member_id: str) -> TeamMember:
    """The member, if they may change the candidate on the pages."""
    member = member_of(candidate.flow.organization, member_id.lower())
    able = sa.select(TeamMember.id).where(TeamMember.id == member.id, *who_may(candidate, Right.EDIT))
    if db.session.scalar(able) is None:
        words = "This member may not decide about this candidate. Send the id of a member who may change the flow."
        raise Rejected(words, field="decided_by")
    return member


@contextmanager
def _in_words_of_v1() -> Iterator[None]:
    try:
        yield
    except Rejected as refusal:
        if refusal.field in _FIELDS:
            words = f"{refusal.message} {_WHERE}"
            raise Rejected(words, field=_FIELDS[refusal.field], code=refusal.code) from refusal
        raise
