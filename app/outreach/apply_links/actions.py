"""Actions on apply links: turn on and off, renew, limit, and create interviews for people who apply."""

import enum
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.accounts.usage.queries import standing_of
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.outreach import actions as outreach
from app.outreach.actions import Post
from app.outreach.apply_links.models import FlowLink, FlowVisit
from app.outreach.apply_links.queries import got_before, link_of, visits
from app.outreach.models import Step
from app.outreach.queries import FAILED, messages_of, standing_invitations

MOST = 100_000
PER_NETWORK, PER_LINK = 20, 300
"""Most tries per hour."""
KEPT = timedelta(days=1)
"""How long visits are stored."""


class Over(enum.StrEnum):
    """Why a link gives no interview now."""

    EXPIRED = "expired"
    FULL = "full"
    CLOSED = "closed"
    OFTEN = "often"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class Comer:
    """A person who applies, as entered. ``network`` and ``browser`` are keyed hashes."""

    email: str
    first_name: str
    last_name: str | None
    network: str
    browser: str


def turn_on(flow: InterviewFlow, *, by: TeamMember) -> FlowLink:
    """Turn the flow's link on. A link that was off gets a new address. Raises Conflict for an archived flow."""
    if flow.status is FlowStatus.ARCHIVED:
        raise Conflict("This flow is archived.")
    link = link_of(flow)
    if link is not None and link.off_at is None:
        return link
    if link is None:
        link = FlowLink(organization_id=flow.organization_id, flow_id=flow.id, flow=flow, token=_new_token())
        try:
            with db.session.begin_nested():
                db.session.add(link)
        except IntegrityError:
            raise Conflict("Someone else has just turned the link on.") from None
    else:
        _reset(link)
    link.off_at = None
    _note(link, "flow.link_on", by=by)
    return link


def turn_off(link: FlowLink, *, by: TeamMember) -> None:
    """Turn the link off. Its address stops working for good; its interviews stay."""
    if link.off_at is None:
        link.off_at = clock.now()
        _note(link, "flow.link_off", by=by)


def renew(link: FlowLink, *, by: TeamMember) -> None:
    """Replace the address and reset the count. The old address stops working. Raises Conflict while the link is off."""
    if link.off_at is not None:
        raise Conflict("The link is off.")
    _reset(link)
    _note(link, "flow.link_renewed", by=by)


def limit(link: FlowLink, *, expires_at: datetime | None, most: int | None, by: TeamMember) -> None:
    """Set until when the link works and for how many interviews; None for no limit. Raises Rejected with the field."""
    if most is not None and not 1 <= most <= MOST:
        raise Rejected(f"Enter a whole number from 1 to {MOST:,}, or leave this empty.", field="most")
    if (link.expires_at, link.most) != (expires_at, most):
        link.expires_at, link.most = expires_at, most
        _note(link, "flow.link_limited", by=by, until=expires_at.isoformat() if expires_at else None, most=most)


def _reset(link: FlowLink) -> None:
    now = clock.now()
    link.token, link.renewed_at, link.used = _new_token(), now, 0
    if link.expires_at is not None and link.expires_at <= now:
        link.expires_at = None


def _new_token() -> str:
    return secrets.token_urlsafe(16)


def _note(link: FlowLink, action: str, *, by: TeamMember, **details: object) -> None:
    db.session.flush()
    write_audit(link.flow.organization, action=action, subject=link.flow_id, by=by, details=details)


def over(link: FlowLink) -> Over | None:
    """Why this link gives no interview now; None if it does."""
    if link.flow.status is not FlowStatus.OPEN or link.flow.organization.disabled_at is not None:
        return Over.CLOSED
    if link.expires_at is not None and link.expires_at <= clock.now():
        return Over.EXPIRED
    if link.most is not None and link.used >= link.most:
        return Over.FULL
    return Over.FULL if standing_of(link.organization_id).is_shut else None


def come(link: FlowLink, comer: Comer, post: Post) -> Interview | Over:
    """Create the applicant's interview, or return why there is none. The caller commits either way: each try counts.

    The same browser and address get the same interview again. An address that already has an interview of this flow
    gets no second one; its invite link is emailed to that address, never shown.
    """
    asked_for = link.token
    _hold(link)
    # nosemgrep: secret-compared-with-equals - both are read from our own row
    if link.off_at is not None or link.token != asked_for:  # turned off or renewed while this request waited
        return Over.CLOSED
    earlier = got_before(link, browser=comer.browser, email=comer.email)
    if earlier is not None:
        return earlier
    visit = _counted(link, comer)
    if visit is None:
        return Over.OFTEN
    reason = over(link)
    if reason is not None:
        return reason
    interview_before = standing_invitations(link.flow, [comer.email]).get(comer.email.lower())
    if interview_before is not None:
        _remind(interview_before, post)
        return Over.KNOWN
    interview = interviews.book(
        link.flow.organization, link.flow_id, email=comer.email, first_name=comer.first_name, last_name=comer.last_name
    )
    visit.interview_id = interview.id
    link.used, link.came = link.used + 1, link.came + 1
    db.session.flush()
    return interview


def _hold(link: FlowLink) -> None:
    """Lock the link's row, so that concurrent applicants queue up and neither limits nor duplicates slip through."""
    db.changed(sa.update(FlowLink).where(FlowLink.id == link.id).values(visited_at=clock.now()))
    db.session.refresh(link)


def _counted(link: FlowLink, comer: Comer) -> FlowVisit | None:
    if visits(link, network=comer.network) >= PER_NETWORK or visits(link) >= PER_LINK:
        return None
    visit = FlowVisit(link_id=link.id, network=comer.network, browser=comer.browser)
    db.session.add(visit)
    db.session.flush()
    return visit


def _remind(interview: Interview, post: Post) -> None:
    """Email the invite link to the interview's address, if the rules for emails to candidates allow it."""
    sent = messages_of(interview.id)
    step = Step.REMINDER if any(one.letter.state not in FAILED for one in sent) else Step.INVITATION
    if outreach.hindrance(interview, step, post, sent=sent) is None:
        outreach.write(interview, step, post, by=None, sent=sent)


def forget_old() -> int:
    """Delete visits older than a day. Returns how many."""
    return db.changed(sa.delete(FlowVisit).where(FlowVisit.at < clock.now() - KEPT))


def forget(interview_id: str) -> int:
    """Erase from which browser the interview came. Returns how many visits."""
    return db.changed(sa.delete(FlowVisit).where(FlowVisit.interview_id == interview_id))
