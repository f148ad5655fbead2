"""What can be done with organizations, teams, members and keys. Every change leaves an entry in the audit log."""

import hashlib
import hmac
import json
import os
import secrets
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts import passwords, queries
from app.accounts.key_scope import EVERYTHING, KeyScope
from app.accounts.models import (
    AddressChange,
    ApiKey,
    AuditEntry,
    EntryLink,
    Installation,
    Login,
    Organization,
    Owner,
    Role,
    Team,
    TeamMember,
    TeamMembership,
)
from app.core import clock
from app.core.db import db
from app.core.db.prepared import Prepared
from app.core.encryption import derived_key
from app.core.errors import Conflict, Rejected
from app.gateways.mail import Mail
from app.mail_outbox import actions as mail_outbox

NAME_MOST = 300
MOST_MAILED = 20
TEST_PREFIX = "7e577e57-"
"""What test keys begin with, so that people and programs recognise them; 90 random bits follow."""
IN_USE = "is already in use by a member"


class NewOrganization(NamedTuple):
    organization: Organization
    team: Team
    admin: TeamMember


def create_organization(
    name: str,
    *,
    team_name: str,
    admin_email: str,
    admin_hash: str,
    admin_name: str | None = None,
    is_first: bool = False,
) -> NewOrganization:
    """Create an organization with a team and an administrator. It has no API key yet.

    ``admin_hash`` comes from ``passwords.hashed``, which takes too long for a transaction.
    ``is_first``: from the set-up page; of several at once the database lets one win (Conflict for the others).
    Raises Rejected for an address in use or an invalid name.
    """
    organization = Organization(name=named(name, "name"))
    db.session.add(organization)
    db.session.flush()
    _claim_installation(organization, is_first=is_first)
    team = add_team(organization, team_name, by=None)
    admin = add_member(
        organization,
        admin_email,
        full_name=admin_name,
        role=Role.ADMIN,
        teams=[team],
        password_hash=admin_hash,
        by=None,
    )
    write_audit(organization, action="organization.founded", subject=organization.id, by=admin, details={})
    return NewOrganization(organization, team, admin)


def note_preview(organization: Organization) -> None:
    """Remember that a member of the organization has tried a flow. Nothing else of a preview is stored."""
    if organization.previewed_at is None:
        organization.previewed_at = clock.now()


def hide_first_steps(organization: Organization) -> None:
    """Stop showing the first steps on the dashboard, to everyone in the organization."""
    if organization.first_steps_hidden_at is None:
        organization.first_steps_hidden_at = clock.now()


def _claim_installation(organization: Organization, *, is_first: bool) -> None:
    """The row's primary key is the lock: the first insert sets the installation up."""
    try:
        with db.session.begin_nested():
            db.session.add(Installation(id=1, organization_id=organization.id))
    except sa.exc.IntegrityError:
        if is_first:
            raise Conflict("This installation is already set up. Sign in instead.") from None


def named(name: str, field: str) -> str:
    """The name without spaces around it. Raises Rejected for one that is empty or too long, or cannot be stored."""
    cleaned = name.strip()
    if "\x00" in cleaned:
        raise Rejected("contains a character that cannot be stored", field=field)
    if not cleaned or len(cleaned) > NAME_MOST:
        raise Rejected(f"must have 1 to {NAME_MOST} characters", field=field)
    return cleaned


def add_team(organization: Organization, name: str, *, by: TeamMember | None) -> Team:
    team = Team(organization_id=organization.id, name=named(name, "team_name"))
    db.session.add(team)
    db.session.flush()
    write_audit(organization, action="team.added", subject=team.id, by=by, details={})
    return team


def add_member(
    organization: Organization,
    email: str,
    *,
    full_name: str | None,
    role: Role,
    teams: list[Team],
    password_hash: str | None,
    by: TeamMember | None,
) -> TeamMember:
    """Add a member, who can sign in if there is a password. Raises Rejected naming the field."""
    address = passwords.checked_address(email)
    if queries.member_by_address(address) is not None:
        raise Rejected(IN_USE, field="email")
    name = named(full_name, "full_name") if full_name and full_name.strip() else None
    member = TeamMember(
        organization_id=organization.id, email=address, full_name=name, role=role, password_hash=password_hash
    )
    try:
        with db.session.begin_nested():
            db.session.add(member)
    except sa.exc.IntegrityError:  # added by someone else at the same moment
        raise Rejected(IN_USE, field="email") from None
    for team in teams:
        db.session.add(TeamMembership(team_id=team.id, member_id=member.id))
    db.session.flush()
    write_audit(organization, action="member.added", subject=member.id, by=by, details={"role": role.value})
    return member


def issue_api_key(
    organization: Organization,
    *,
    name: str,
    by: TeamMember | None,
    is_test: bool = False,
    scope: KeyScope = EVERYTHING,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Create a key: its row, and the key itself, which cannot be read again. Raises Rejected for an end in the past."""
    if expires_at is not None and expires_at <= clock.now():
        raise Rejected("Choose today or a later day.", field="expires")
    key = _new_key(is_test=is_test)
    row = ApiKey(
        organization_id=organization.id,
        name=named(name, "name"),
        key_hash=key_digest(key),
        last4=key[-4:],
        created_by_id=by.id if by else None,
        is_test=is_test,
        is_read_only=scope.is_read_only,
        hides_secrets=scope.hides_secrets,
        team_ids=_listed(scope.team_ids),
        flow_ids=_listed(scope.flow_ids),
        expires_at=expires_at,
    )
    db.session.add(row)
    db.session.flush()
    details = scope.as_details() | ({"test": True} if is_test else {})
    if expires_at is not None:
        details["expires"] = clock.rfc3339(expires_at)
    write_audit(organization, action="api_key.issued", subject=row.id, by=by, details=details)
    return row, key


def _listed(ids: tuple[str, ...] | None) -> list[str] | None:
    return None if ids is None else sorted(ids)


def _new_key(*, is_test: bool) -> str:
    """A UUID from random bits; those of test keys, and no others, begin with ``TEST_PREFIX``."""
    while True:
        key = str(uuid.UUID(bytes=os.urandom(16), version=4))
        if is_test:
            return TEST_PREFIX + key[len(TEST_PREFIX) :]
        if not key.startswith(TEST_PREFIX):
            return key


def key_digest(key: str) -> str:
    """What is stored of a key: HMAC-SHA256 with a pepper made from SECRET_KEY, so a copied database opens nothing."""
    return hmac.new(derived_key("api keys"), key.lower().encode(), hashlib.sha256).hexdigest()


def revoke_api_key(key: ApiKey, *, by: TeamMember | None) -> None:
    """The key stops working with the commit; revoking it again changes nothing."""
    if key.revoked_at is None:
        key.revoked_at = clock.now()
        write_audit(key.organization, action="api_key.revoked", subject=key.id, by=by, details={})


def set_assess_language(organization: Organization, *, wanted: bool, by: TeamMember) -> None:
    """Set whether results carry language scores, for flows that do not set it themselves."""
    if organization.assess_language != wanted:
        organization.assess_language = wanted
        write_audit(
            organization,
            action="organization.assess_language",
            subject=organization.id,
            by=by,
            details={"wanted": wanted},
        )


def set_shows_status(organization: Organization, *, wanted: bool, by: TeamMember) -> None:
    """Set whether candidates see their pipeline status on their own page."""
    if organization.shows_status != wanted:
        organization.shows_status = wanted
        write_audit(
            organization, action="organization.shows_status", subject=organization.id, by=by, details={"wanted": wanted}
        )


def set_rates_first(organization: Organization, *, wanted: bool, by: TeamMember) -> bool:
    """Set whether members see scores only after they have rated, for flows that do not say it. False: no change."""
    if organization.rates_first == wanted:
        return False
    organization.rates_first = wanted
    details = {"wanted": wanted}
    write_audit(organization, action="organization.rates_first", subject=organization.id, by=by, details=details)
    return True


def sign_in(member: TeamMember, *, address: str | None, browser: str | None) -> tuple[Login, str]:
    """Start a session: its row, and the 256 random bits for the cookie."""
    token = secrets.token_urlsafe(32)
    login = Login(
        member_id=member.id,
        token_hash=login_digest(token),
        seen_at=clock.now(),
        address=(address or "")[:64] or None,
        browser=(browser or "")[:200] or None,
    )
    db.session.add(login)
    db.session.flush()
    write_audit(member.organization, action="member.signed_in", subject=member.id, by=member, details={})
    return login, token


def login_digest(token: str) -> str:
    """What is stored of a cookie; a fast hash is enough for 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def sign_out(login: Login) -> None:
    """End one session; copies of its cookie stop working too."""
    if login.ended_at is None:
        login.ended_at = clock.now()
        write_audit(
            login.member.organization, action="member.signed_out", subject=login.member_id, by=login.member, details={}
        )


def rename(member: TeamMember, full_name: str) -> None:
    """Change the member's own name; with an empty one the address is shown instead."""
    name = named(full_name, "full_name") if full_name.strip() else None
    if member.full_name != name:
        member.full_name = name
        write_audit(member.organization, action="member.renamed", subject=member.id, by=member, details={})


def end_entry_links(member: TeamMember, *, only_requested: bool = False) -> None:
    """End the member's password links; ``only_requested`` spares those that administrators created."""
    live = sa.update(EntryLink).where(EntryLink.member_id == member.id, EntryLink.ended_at.is_(None))
    if only_requested:
        live = live.where(EntryLink.created_by_id.is_(None))
    db.session.execute(live.values(ended_at=clock.now()).execution_options(synchronize_session="fetch"))


def end_address_changes(member: TeamMember) -> None:
    live = sa.update(AddressChange).where(AddressChange.member_id == member.id, AddressChange.ended_at.is_(None))
    db.session.execute(live.values(ended_at=clock.now()).execution_options(synchronize_session="fetch"))


def end_sessions(member: TeamMember, *, but: str | None = None) -> None:
    """End every session of the member ``but`` the one with this id."""
    for login in queries.logins_of(member):
        if login.id != but:
            login.ended_at = clock.now()


def change_password(member: TeamMember, password_hash: str, *, but: str | None) -> None:
    """Set a new password and end every session of the member ``but`` the one with this id."""
    member.password_hash = password_hash
    end_entry_links(member)
    end_address_changes(member)
    end_sessions(member, but=but)
    write_audit(member.organization, action="member.password_changed", subject=member.id, by=member, details={})


def write_audit(
    organization: Owner, *, action: str, subject: str, by: TeamMember | None, details: dict[str, Any]
) -> None:
    """Append to the organization's log: ids and words only, no names, no addresses, no texts.

    Entries are numbered and each carries the hash of the one before it, so a removed or altered one shows.
    """
    db.session.flush()
    # Locks the organization's row on PostgreSQL (SQLite has one writer): two entries never take the same number.
    [(number,)] = _NUMBERED.rows(owner=organization.id)
    before = "".join(row[0] for row in _HASHED.rows(owner=organization.id, last=number - 1))
    row: dict[str, Any] = {
        "organization_id": organization.id,
        "number": number,
        "at": clock.now(),
        "action": action,
        "subject": subject,
        "details": details,
        "member_id": by.id if by else None,
    }
    _WRITTEN.changed(row | {"hash": audit_hash(AuditEntry(**row), before)})


# Of plain tables and built once: most changes write an entry.
_OWNERS: Any = Organization.__table__
_ENTRIES: Any = AuditEntry.__table__
_NUMBERED = Prepared(
    sa.update(_OWNERS)
    .where(_OWNERS.c.id == sa.bindparam("owner"))
    .values(audit_seq=_OWNERS.c.audit_seq + 1)
    .returning(_OWNERS.c.audit_seq)
)
_HASHED = Prepared(
    sa.select(_ENTRIES.c.hash).where(
        _ENTRIES.c.organization_id == sa.bindparam("owner"), _ENTRIES.c.number == sa.bindparam("last")
    )
)
_WRITTEN = Prepared(sa.insert(_ENTRIES))


def audit_hash(entry: AuditEntry, before: str) -> str:
    """SHA-256 over the entry and the hash of the one before it."""
    fields = [entry.number, _instant(entry.at), entry.member_id, entry.action, entry.subject, entry.details]
    return hashlib.sha256((before + json.dumps(fields, sort_keys=True)).encode()).hexdigest()


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


def mail_administrators(organization: Organization, mail: Mail, *, lasts: timedelta) -> int:
    """Send ``mail`` to the administrators who can sign in, ``MOST_MAILED`` at most; returns how many were queued."""
    admins = [member for member in queries.members_of(organization, None) if member.role is Role.ADMIN][:MOST_MAILED]
    name = " ".join(organization.name.split())
    signed = f"{mail.text}\n\nYou receive this email because you are an administrator of {name} on Parley.\n"
    for admin in admins:
        mail_outbox.post(None, replace(mail, to=admin.email, text=signed, sender=name), lasts=lasts)
    return len(admins)
