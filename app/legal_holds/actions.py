"""Place and release legal holds. Both are audited, without the text of the reason."""

from datetime import datetime

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.legal_holds.models import LONGEST_REASON, Held, LegalHold
from app.legal_holds.queries import held_since, hold_on

HELD = "A legal hold placed on %(day)s prevents deletion. Release it first if it is no longer needed."


def place(kind: Held, subject_id: str, *, reason: str, ends_at: datetime | None, by: TeamMember) -> LegalHold:
    """Protect a candidate or an interview of the member's organization from every deletion.

    The caller has locked the row, so that no deletion is half done. Raises Rejected, and Conflict if there is a hold
    already.
    """
    words = " ".join(reason.split())
    if not words:
        raise Rejected("Enter the reason for the hold.", field="reason")
    if len(words) > LONGEST_REASON:
        raise Rejected(f"The reason has {len(words)} characters. The maximum is {LONGEST_REASON}.", field="reason")
    if ends_at is not None and ends_at <= clock.now():
        raise Rejected("Choose today or a later day, or leave this empty.", field="ends")
    if hold_on(subject_id) is not None:
        raise Conflict("This is already under a legal hold.")
    hold = LegalHold(
        organization_id=by.organization_id,
        kind=kind,
        subject_id=subject_id,
        reason=words,
        by_id=by.id,
        ends_at=ends_at,
        created_at=clock.now(),
    )
    db.session.add(hold)
    db.session.flush()
    details = {"kind": kind.value, "hold": hold.id, "ends": clock.rfc3339(ends_at) if ends_at else None}
    write_audit(by.organization, action="hold.placed", subject=subject_id, by=by, details=details)
    return hold


def release(hold: LegalHold, *, by: TeamMember) -> bool:
    """End the hold. False if it was already released."""
    freed = (
        sa.update(LegalHold)
        .where(LegalHold.id == hold.id, LegalHold.released_at.is_(None))
        .values(released_at=clock.now(), released_by_id=by.id)
    )
    changed = db.changed(freed) == 1
    db.session.refresh(hold)
    if changed:
        details = {"kind": hold.kind.value, "hold": hold.id}
        write_audit(by.organization, action="hold.released", subject=hold.subject_id, by=by, details=details)
    return changed


def refuse_held(subject_id: str, other_id: str | None = None) -> None:
    """Raises Conflict if one of these, an interview and its candidate, is under a legal hold."""
    since = held_since(subject_id, other_id)
    if since is not None:
        raise Conflict(HELD, day=f"{since:%Y-%m-%d}", details={"reason": "held"}, code="legal_hold")


def erase(subject_id: str) -> None:
    """Delete the reasons of the holds on something that is erased; the holds themselves stay on record."""
    emptied = sa.update(LegalHold).where(LegalHold.subject_id == subject_id).values(reason=None)
    db.changed(emptied)
