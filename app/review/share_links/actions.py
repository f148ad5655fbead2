"""Share links are created, opened and ended. All of it is audited."""

import ipaddress
import secrets
from collections.abc import Collection
from datetime import timedelta

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.interviews.models import Interview
from app.review.share_links.models import LONGEST_LABEL, MOST_DAYS, PARTS, Opening, Share
from app.review.share_links.queries import digest_of, live_shares

MOST_LIVE = 20
"""Active links per interview."""


def make(
    interview: Interview, parts: Collection[str], *, days: int, label: str | None, by: TeamMember
) -> tuple[Share, str]:
    """A new link and the secret of its address, which is not stored.

    Raises Rejected with the field, Conflict without a result to share or with too many active links.
    """
    if not parts or not set(parts) <= set(PARTS):
        raise Rejected("Select at least one part.", field="parts")
    if not 1 <= days <= MOST_DAYS:
        raise Rejected(f"Choose 1 to {MOST_DAYS} days.", field="days")
    if label and len(label) > LONGEST_LABEL:
        raise Rejected(f"Enter up to {LONGEST_LABEL} characters.", field="label")
    if interview.data is None or interview.withdrawn_at is not None or interview.erased_at is not None:
        raise Conflict("This interview has no result to share.")
    if live_shares(interview) >= MOST_LIVE:
        raise Conflict(f"This interview already has {MOST_LIVE} active links. Revoke one of them first.")
    token, now = secrets.token_urlsafe(32), clock.now()
    share = Share(
        organization_id=interview.organization_id,
        interview_id=interview.id,
        token_hash=digest_of(token),
        label=label,
        parts=[name for name in PARTS if name in parts],
        made_by_id=by.id,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    db.session.add(share)
    db.session.flush()
    details = {"share": share.id, "parts": share.parts, "days": days}
    write_audit(by.organization, action="interview.shared", subject=interview.id, by=by, details=details)
    return share, token


def revoke(share: Share, *, by: TeamMember) -> bool:
    """End the link immediately, for pages, files and running downloads; False if it had already ended."""
    ended = sa.update(Share).where(Share.id == share.id, Share.revoked_at.is_(None))
    if not db.changed(ended.values(revoked_at=clock.now(), revoked_by_id=by.id)):
        return False
    db.session.expire(share)
    details = {"share": share.id}
    write_audit(by.organization, action="interview.unshared", subject=share.interview_id, by=by, details=details)
    return True


def note_opening(share_id: str, *, browser: str, address: str) -> None:
    """Record that the link was opened, unless it was erased in the meantime."""
    if db.changed(sa.update(Share).where(Share.id == share_id).values(openings=Share.openings + 1)):
        db.session.add(Opening(share_id=share_id, at=clock.now(), browser=browser[:40], network=network_of(address)))
        db.session.flush()


def network_of(address: str) -> str:
    """The network of an address (/24 for IPv4, /48 for IPv6), without the part that identifies a household."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    ip = mapped or ip
    return str(ipaddress.ip_network(f"{ip}/{24 if ip.version == 4 else 48}", strict=False))


def erase(interview_id: str) -> int:
    """Delete all links of the interview and their openings; returns how many links there were. May be repeated."""
    mine = sa.select(Share.id).where(Share.interview_id == interview_id)
    db.changed(sa.delete(Opening).where(Opening.share_id.in_(mine)))
    return db.changed(sa.delete(Share).where(Share.interview_id == interview_id))
