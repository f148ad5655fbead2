"""Another address for a member: at once where no mail is sent, else by a link to the new address, which works once.

A newer link ends the one of before, and so do a new password, disabling, and any change of the address.
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
"""For one member within ``LASTS``: each may be a mail to somebody who never heard of Parley."""
SAME = "is the present address already"


def ask(member: TeamMember, email: str, post: Post, *, by: TeamMember) -> str:
    """A link that confirms ``email`` as the member's address, mailed there where mail is configured; told this once.

    Raises Rejected for no address, the present one, one in use, and for one too many within a day.
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
    """For an address in use: all that ``ask`` leaves but a link and a mail, so that nothing tells the two apart."""
    change = _keep(member, passwords.checked_address(email), secrets.token_urlsafe(32), by=by)
    change.ended_at = change.created_at
    db.session.flush()


def _refuse_often(member: TeamMember) -> None:
    asked = sa.select(sa.func.count()).select_from(AddressChange).where(AddressChange.member_id == member.id)
    if (db.session.scalar(asked.where(AddressChange.created_at > clock.now() - LASTS)) or 0) >= MOST_ASKED:
        raise Rejected(f"cannot be taken now, as {MOST_ASKED} were asked for within a day", field="email")


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
    """For installations without mail, after the password: the next sign-in is with the new address. Raises Rejected."""
    _move(member, _new_address(member, email), but=but)
    actions.write_audit(
        member.organization, action="member.address_changed", subject=member.id, by=member, details={"by_link": False}
    )


def found(token: str) -> AddressChange | None:
    """The change that the link still stands for."""
    return working(AddressChange, token)


def pending(member: TeamMember) -> AddressChange | None:
    """The member's change that waits to be confirmed."""
    waits = sa.select(AddressChange).where(
        AddressChange.member_id == member.id, AddressChange.ended_at.is_(None), AddressChange.expires_at > clock.now()
    )
    return db.session.scalar(waits.order_by(AddressChange.created_at.desc()).limit(1))


def confirm(change: AddressChange, *, by_mail: bool, but: str | None) -> TeamMember:
    """The link was followed: sessions end ``but`` the one with this id, and the old address is told.

    Conflict if it was used meanwhile, Rejected if the address has been taken by somebody else since.
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
        "Confirm your new address for Parley",
        f"This is to become the address with which you sign in to {organization} on Parley. Confirm it here "
        f"(the link works once, for 24 hours):\n{link}\n\n"
        "If you did not ask for this, do nothing: nothing changes then.\n",
    )


def _notice(member: TeamMember, old: str) -> Mail:
    organization = " ".join(member.organization.name.split())
    return Mail(
        old,
        "Your address for Parley was changed",
        f"The address with which you sign in to {organization} on Parley was changed. This one no longer works, and "
        "every other browser was signed out.\n\n"
        "If that was not you, tell an administrator of your organization at once.\n",
    )
