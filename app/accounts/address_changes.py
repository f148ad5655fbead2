"""A new sign-in address for a member: immediately without a mail server, else through a link that works once.

A newer link ends the previous one, and so do a new password, disabling the member, and any change of the address.
"""

import secrets
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts import actions, passwords, queries
from app.accounts.models import AddressChange, TeamMember
from app.accounts.password_links import Post, digest_of, take, working
from app.core import clock
from app.core.db import db
from app.core.errors import Rejected
from app.gateways.mail import Mail
from app.mail_outbox import actions as mail_outbox

LASTS = timedelta(hours=24)
MOST_ASKED = 10
"""For one member within ``LASTS``: each may be a mail to someone who has never heard of Parley."""
SAME = "is already the current address"


def ask(member: TeamMember, email: str, post: Post, *, by: TeamMember) -> str:
    """Create the link that confirms ``email`` as the member's address, and mail it there if mail is configured.

    Returns the link, which cannot be read again. Raises Rejected for an invalid address, the current one, one in
    use, and for more than ``MOST_ASKED`` within a day.
    """
    _refuse_often(member)
    address = _new_address(member, email)
    token = secrets.token_urlsafe(32)
    link = post.address_of(token)
    change = _keep(member, address, token, by=by)
    if post.by_mail:
        change.letter = mail_outbox.post(None, _mail(member, address, link), lasts=LASTS)
    db.session.flush()
    return link


def ask_in_vain(member: TeamMember, email: str, *, by: TeamMember) -> None:
    """For an address in use: leave the same rows as ``ask``, but no link and no mail, so that both look alike."""
    change = _keep(member, passwords.checked_address(email), secrets.token_urlsafe(32), by=by)
    change.ended_at = change.created_at
    db.session.flush()


def _refuse_often(member: TeamMember) -> None:
    recent = sa.select(sa.func.count()).select_from(AddressChange).where(AddressChange.member_id == member.id)
    if (db.session.scalar(recent.where(AddressChange.created_at > clock.now() - LASTS)) or 0) >= MOST_ASKED:
        raise Rejected(f"cannot be used now: {MOST_ASKED} changes were requested within a day", field="email")


def _keep(member: TeamMember, address: str, token: str, *, by: TeamMember) -> AddressChange:
    actions.end_address_changes(member)
    now = clock.now()
    change = AddressChange(
        member_id=member.id,
        address=address,
        token_hash=digest_of(token),
        created_at=now,
        expires_at=now + LASTS,
        created_by_id=by.id,
    )
    db.session.add(change)
    db.session.flush()
    actions.write_audit(member.organization, action="member.address_asked", subject=member.id, by=by, details={})
    return change


def change_at_once(member: TeamMember, email: str, *, but: str | None) -> None:
    """For installations without mail, after the password was checked. Raises Rejected."""
    _move(member, _new_address(member, email), but=but)
    actions.write_audit(
        member.organization, action="member.address_changed", subject=member.id, by=member, details={"by_link": False}
    )


def change_for(token: str) -> AddressChange | None:
    """The pending change that this link confirms, if the link still works."""
    return working(AddressChange, token)


def pending(member: TeamMember) -> AddressChange | None:
    """The member's change that is waiting to be confirmed."""
    waits = sa.select(AddressChange).where(
        AddressChange.member_id == member.id, AddressChange.ended_at.is_(None), AddressChange.expires_at > clock.now()
    )
    return db.session.scalar(waits.order_by(AddressChange.created_at.desc()).limit(1))


def confirm(change: AddressChange, *, by_mail: bool, but: str | None) -> TeamMember:
    """Apply the change: sessions end ``but`` the one with this id, and the old address gets a mail.

    Raises Conflict if the link was used meanwhile, Rejected if someone else has taken the address since.
    """
    take(change)
    member, old = change.member, change.member.email
    _move(member, change.address, but=but)
    details = {"by_link": True, "asked_by": change.created_by_id}
    actions.write_audit(
        member.organization, action="member.address_changed", subject=member.id, by=member, details=details
    )
    if by_mail:
        mail_outbox.post(None, _notice(member, old), lasts=LASTS)
    return member


def _new_address(member: TeamMember, email: str) -> str:
    address = passwords.checked_address(email)
    if address == member.email:
        raise Rejected(SAME, field="email")
    if queries.member_by_address(address) is not None:
        raise Rejected(actions.IN_USE, field="email")
    return address


def _move(member: TeamMember, address: str, *, but: str | None) -> None:
    try:
        with db.session.begin_nested():
            member.email = address
    except IntegrityError:
        raise Rejected(actions.IN_USE, field="email") from None
    actions.end_entry_links(member)
    actions.end_address_changes(member)
    actions.end_sessions(member, but=but)
    db.session.flush()


def _mail(member: TeamMember, address: str, link: str) -> Mail:
    organization = " ".join(member.organization.name.split())
    return Mail(
        address,
        "Confirm your new email address for Parley",
        f"Confirm that you want to sign in to {organization} on Parley with this address (the link works once, for "
        f"24 hours):\n{link}\n\n"
        "If you did not request this, ignore this email. Nothing will change.\n",
        link=link,
        button="Confirm this address",
        sender=organization,
    )


def _notice(member: TeamMember, old: str) -> Mail:
    organization = " ".join(member.organization.name.split())
    return Mail(
        old,
        "Your email address for Parley was changed",
        f"Your email address for {organization} on Parley was changed. You can no longer sign in with this address, "
        "and you were signed out in all other browsers.\n\n"
        "If you did not do this, tell an administrator of your organization immediately.\n",
        sender=organization,
    )
