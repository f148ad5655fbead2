"""What administrators change about members who have joined: role, teams, access, a forgotten password."""

from collections.abc import Sequence

import sqlalchemy as sa

from app import clock
from app.accounts import queries, second_factor
from app.accounts.actions import end_entry_links, write_audit
from app.accounts.models import Organization, Role, Team, TeamMember
from app.db import db
from app.errors import Rejected

LAST_ADMIN = "is the last administrator; make someone else one first"


def change(member: TeamMember, *, role: Role, teams: Sequence[Team], by: TeamMember) -> None:
    """Another role or other teams, from the member's next request on. Raises Rejected for the last administrator."""
    if role is not Role.ADMIN:
        _keep_an_admin(member, field="role")
    before = (member.role, {team.id for team in member.teams})
    after = (role, {team.id for team in teams})
    if before == after:
        return
    member.role, member.teams = role, list(teams)
    details = {"role": role.value, "teams": sorted(after[1])}
    write_audit(member.organization, action="member.changed", subject=member.id, by=by, details=details)


def disable(member: TeamMember, *, by: TeamMember) -> None:
    """No way in any more, and every session ends at once. Raises Rejected for oneself and the last administrator."""
    if member.id == by.id:
        raise Rejected("You cannot disable yourself; ask another administrator.")
    _keep_an_admin(member)
    if member.disabled_at is None:
        member.disabled_at = clock.now()
        end_entry_links(member)
        _end_sessions(member)
        write_audit(member.organization, action="member.disabled", subject=member.id, by=by, details={})


def enable(member: TeamMember, *, by: TeamMember) -> None:
    """May sign in again, with the password of before; old sessions stay ended."""
    if member.disabled_at is not None:
        member.disabled_at = None
        write_audit(member.organization, action="member.enabled", subject=member.id, by=by, details={})


def reset_password(member: TeamMember, password_hash: str, *, by: TeamMember | None) -> None:
    """A password from an administrator, or from the command line; every session of the member ends."""
    member.password_hash = password_hash
    end_entry_links(member)
    _end_sessions(member)
    write_audit(member.organization, action="member.password_reset", subject=member.id, by=by, details={})


def drop_second_factor(member: TeamMember, *, by: TeamMember | None) -> None:
    """For whoever has lost app and recovery codes: the password alone opens again, and every session ends."""
    if member.totp_since is not None:
        second_factor.turn_off(member, by=by)
        _end_sessions(member)


def _end_sessions(member: TeamMember) -> None:
    for login in queries.logins_of(member):
        login.ended_at = clock.now()


def _keep_an_admin(member: TeamMember, field: str | None = None) -> None:
    if member.role is not Role.ADMIN or member.disabled_at is not None or member.password_hash is None:
        return
    # Two administrators who remove each other at the same moment queue up here.
    db.session.execute(sa.select(Organization.id).where(Organization.id == member.organization_id).with_for_update())
    if not queries.has_other_admin(member):
        raise Rejected(LAST_ADMIN if field else f"This member {LAST_ADMIN}.", field=field)
