"""Links to choose a password: an invitation, or a reset for a forgotten password. Each works once.

A new link ends the previous one, and so does any new password. But a link requested without signing in does not end
one that an administrator created.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

import sqlalchemy as sa

from app.accounts import actions
from app.accounts.models import AddressChange, EntryKind, EntryLink, TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict
from app.gateways.mail import Mail
from app.mail_outbox import actions as mail_outbox

INVITATION_LASTS = timedelta(days=7)
RESET_LASTS = timedelta(hours=24)
ASKED_LASTS = timedelta(hours=1)
"""For a link that was requested without signing in."""

Link = TypeVar("Link", EntryLink, AddressChange)


@dataclass(frozen=True, slots=True)
class Post:
    """How links are delivered: ``address_of(token)`` is the full URL, ``by_mail`` whether mail is configured."""

    address_of: Callable[[str], str]
    by_mail: bool


def issue(member: TeamMember, post: Post, *, by: TeamMember | None) -> str:
    """Create a link for the member and mail it if mail is configured. Returns its URL, which cannot be read again.

    ``by`` is the administrator, or None if a member who forgot their password requested it.
    """
    kind = EntryKind.INVITATION if member.password_hash is None else EntryKind.RESET
    lasts = ASKED_LASTS if by is None else INVITATION_LASTS if kind is EntryKind.INVITATION else RESET_LASTS
    actions.end_entry_links(member, only_requested=by is None)
    token = secrets.token_urlsafe(32)
    address, now = post.address_of(token), clock.now()
    mail = replace(_mail(member, address, lasts, kind=kind, by=by), reply_to=by.email if by else "")
    queued = mail_outbox.post(None, mail, lasts=lasts) if post.by_mail else None
    link = EntryLink(
        member_id=member.id,
        kind=kind,
        token_hash=digest_of(token),
        created_at=now,
        expires_at=now + lasts,
        created_by_id=by.id if by else None,
        letter_id=queued.id if queued else None,
    )
    db.session.add(link)
    db.session.flush()
    word = "member.invited" if kind is EntryKind.INVITATION else "member.reset_link"
    actions.write_audit(member.organization, action=word, subject=member.id, by=by, details={})
    return address


def link_for(token: str) -> EntryLink | None:
    """The password link with this token, if it works."""
    return working(EntryLink, token)


def working(kind: type[Link], token: str) -> Link | None:
    """The link if it works: not used, not replaced, not expired, and its member can sign in."""
    link = db.session.scalar(sa.select(kind).where(kind.token_hash == digest_of(token)))
    if link is None or link.ended_at is not None or link.expires_at <= clock.now():
        return None
    return link if link.member.disabled_at is None and link.member.organization.disabled_at is None else None


def take(link: EntryLink | AddressChange) -> None:
    """Use the link up. Raises Conflict if it was used meanwhile."""
    kind = type(link)
    statement = sa.update(kind).where(kind.id == link.id, kind.ended_at.is_(None)).values(ended_at=clock.now())
    if db.session.execute(statement.returning(kind.id)).first() is None:
        raise Conflict("This link was already used.")


def latest(member: TeamMember) -> EntryLink | None:
    """The member's newest link that works, or else the newest one."""
    works = sa.and_(EntryLink.ended_at.is_(None), EntryLink.expires_at > clock.now())
    mine = sa.select(EntryLink).where(EntryLink.member_id == member.id)
    ordered = mine.order_by(sa.case((works, 0), else_=1), EntryLink.created_at.desc(), EntryLink.id)
    return db.session.scalar(ordered.limit(1))


def use(link: EntryLink, password_hash: str, *, full_name: str | None) -> TeamMember:
    """Set the password, and the name if there is one; every session ends. Raises Conflict if the link was used."""
    take(link)
    member = link.member
    is_new = member.password_hash is None
    if full_name:
        member.full_name = full_name
    member.password_hash = password_hash
    actions.end_sessions(member)
    actions.end_entry_links(member)
    actions.end_address_changes(member)
    word = "member.joined" if is_new else "member.password_changed"
    actions.write_audit(member.organization, action=word, subject=member.id, by=member, details={"by_link": True})
    return member


def digest_of(token: str) -> str:
    """What is stored of a link's token; a plain hash is enough for 256 random bits."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _in_words(lasts: timedelta) -> str:
    hours = round(lasts.total_seconds() / 3600)
    number, thing = (hours // 24, "day") if hours > 24 else (hours, "hour")
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _mail(member: TeamMember, address: str, lasts: timedelta, *, kind: EntryKind, by: TeamMember | None) -> Mail:
    organization = " ".join(member.organization.name.split())
    link = f"the link works once, for {_in_words(lasts)}):\n{address}"
    if kind is EntryKind.INVITATION:
        who = " ".join((by.full_name or by.email).split()) if by else "You"
        asks = f"{who} invites you to" if by else "You are invited to"
        return Mail(
            member.email,
            f"Your invitation to {organization} on Parley",
            f"{asks} join {organization} on Parley, where interviews are held and reviewed.\n\n"
            f"Choose your password here ({link}\n\n"
            f"You sign in with this address: {member.email}\n"
            "If you did not expect this invitation, you can ignore it.\n",
            link=address,
            button="Choose your password",
            sender=organization,
        )
    return Mail(
        member.email,
        "Reset your password for Parley",
        f"Choose a new password for {organization} on Parley here ({link}\n\n"
        "If you did not request this, ignore this email. Your password stays the same.\n",
        link=address,
        button="Choose a new password",
        sender=organization,
    )
