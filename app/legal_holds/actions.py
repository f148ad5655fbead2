"""What happens to legal holds: they are placed, and they are released. Both are audited, without the reason's words."""

from datetime import datetime

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.legal_holds.models import LONGEST_REASON, Held, LegalHold
from app.legal_holds.queries import hold_on

HELD = "A legal hold since %(day)s keeps this from being deleted. Release the hold first, if it is over."


def place(kind: Held, subject_id: str, *, reason: str, ends_at: datetime | None, by: TeamMember) -> LegalHold:
    """Keep a candidate or an interview of the member's organization from every deletion.

    Whoever calls this has locked what is held, so that no deletion is half done. Raises Rejected, Conflict when it is
    held already.
    """
    words = " ".join(reason.split())
    if not words:
        raise Rejected("Write why this is held.", field="reason")
    if len(words) > LONGEST_REASON:
        raise Rejected(f"The reason has {len(words)} characters; at most {LONGEST_REASON} fit.", field="reason")
    if ends_at is not None and ends_at <= clock.now():
        raise Rejected("Choose a day that is still to come, or none.", field="ends")
    if hold_on(subject_id) is not None:
        raise Conflict("This is held already.")
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
    """From now on the ordinary rules count again. False when it was released before."""
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


def refuse_held(*subject_ids: str | None) -> None:
    """Raise Conflict when one of these is held."""
    hold = hold_on(*subject_ids)
    if hold is not None:
        raise Conflict(HELD, day=f"{hold.created_at:%Y-%m-%d}", details={"reason": "held"})


def erase(subject_id: str) -> None:
    """Forget why something was held that is erased now; that it was held stays."""
    emptied = sa.update(LegalHold).where(LegalHold.subject_id == subject_id).values(reason=None)
    db.changed(emptied)
