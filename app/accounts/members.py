"""What administrators change about members and keys that are there: role, teams, access, a new key for an old one."""

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.accounts import queries, second_factor
from app.accounts.actions import (
    end_address_changes,
    end_entry_links,
    end_sessions,
    issue_api_key,
    named,
    revoke_api_key,
    write_audit,
)
from app.accounts.models import (
    AddressChange,
    ApiKey,
    EntryLink,
    Login,
    Organization,
    Role,
    Team,
    TeamMember,
    TeamMembership,
)
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected

OVERLAPS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "now": timedelta()}
"""How long a replaced key may still be used."""
LATE = 0.8
"""The part of an overlap after which a replaced key that is still used is worth a warning."""
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
        end_address_changes(member)
        end_sessions(member)
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
    end_address_changes(member)
    end_sessions(member)
    write_audit(member.organization, action="member.password_reset", subject=member.id, by=by, details={})


def drop_second_factor(member: TeamMember, *, by: TeamMember | None) -> None:
    """For whoever has lost app and recovery codes: the password alone opens again, and every session ends."""
    if member.totp_since is not None:
        second_factor.turn_off(member, by=by)
        end_sessions(member)


def _keep_an_admin(member: TeamMember, field: str | None = None) -> None:
    if member.role is not Role.ADMIN or member.disabled_at is not None or member.password_hash is None:
        return
    # Two administrators who remove each other at the same moment queue up here.
    db.session.execute(sa.select(Organization.id).where(Organization.id == member.organization_id).with_for_update())
    if not queries.has_other_admin(member):
        raise Rejected(LAST_ADMIN if field else f"This member {LAST_ADMIN}.", field=field)


def rotate_api_key(key: ApiKey, *, ends: str, by: TeamMember | None) -> tuple[ApiKey, str]:
    """A new key in the place of ``key``, which works on until it ``ends``: a word of OVERLAPS.

    Returns the new row, and the key itself, this once. Raises Rejected for a key that was replaced already, by somebody
    else at the same moment too, or works no more, and for another word.
    """
    now = clock.now()
    if ends not in OVERLAPS:
        raise Rejected(f"must be one of: {', '.join(OVERLAPS)}", field="ends")
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        raise Rejected("This key no longer works; create a new one instead.", field="key")
    if not _is_first(key.id, "rotated_at"):
        raise Rejected("This key has been replaced already; revoke it, or wait for its end.", field="key")
    row, secret = issue_api_key(key.organization, name=key.name, by=by, is_test=key.is_test)
    if OVERLAPS[ends]:
        end = now + OVERLAPS[ends]
        key.expires_at = min(key.expires_at, end) if key.expires_at else end
    else:
        revoke_api_key(key, by=by)
    details = {"new_key": row.id, "old_ends": ends}
    write_audit(key.organization, action="api_key.rotated", subject=key.id, by=by, details=details)
    return row, secret


def late_keys() -> list[str]:
    """Ids of replaced keys that are still used when four fifths of their overlap are over, and were not told of yet."""
    found = sa.select(ApiKey).where(
        ApiKey.rotated_at.is_not(None),
        ApiKey.revoked_at.is_(None),
        ApiKey.warned_at.is_(None),
        ApiKey.expires_at > clock.now(),
    )
    return [key.id for key in db.session.scalars(found) if is_late(key)]


def note_late(key_id: str) -> bool:
    """Write down that a replaced key is still used; False where somebody else was quicker. Each is told once."""
    if not _is_first(key_id, "warned_at"):
        return False
    organization = db.session.get_one(ApiKey, key_id).organization
    write_audit(organization, action="api_key.still_used", subject=key_id, by=None, details={})
    return True


def is_late(key: ApiKey) -> bool:
    """Whether a replaced key is near its end and was used lately: some program still needs the new one."""
    if key.rotated_at is None or key.expires_at is None or key.last_used_at is None:
        return False
    late = key.rotated_at + (key.expires_at - key.rotated_at) * LATE
    return clock.now() >= late and key.last_used_at > key.rotated_at + (late - key.rotated_at) / 2


def _is_first(key_id: str, name: str) -> bool:
    """Write the moment into this column of the key, if it is still empty: of two at once, one is the first."""
    column = getattr(ApiKey, name)
    taken = sa.update(ApiKey).where(ApiKey.id == key_id, column.is_(None)).values({column: clock.now()})
    return db.session.execute(taken.returning(ApiKey.id)).first() is not None


def restored(*, taken_at: str) -> int:
    """The rows are those of a backup: sessions and links that ended after it would live again, so all of them end.

    Every organization's log says so. Returns how many sessions there were.
    """
    ended = 0
    for model in (Login, EntryLink, AddressChange):
        live = sa.update(model).where(model.ended_at.is_(None)).values(ended_at=clock.now())
        rows = db.changed(live)
        ended += rows if model is Login else 0
    db.session.expire_all()
    for organization in db.session.scalars(sa.select(Organization)).all():
        details = {"backup_of": taken_at}
        write_audit(organization, action="organization.restored", subject=organization.id, by=None, details=details)
    return ended


def rename_team(team: Team, name: str, *, by: TeamMember) -> None:
    """Another name; the same one is no change. Raises Rejected for an impossible one."""
    cleaned = named(name, "name")
    if team.name != cleaned:
        team.name = cleaned
        write_audit(by.organization, action="team.renamed", subject=team.id, by=by, details={})


def delete_team(team: Team, *, by: TeamMember) -> None:
    """Take the members out of a team and delete it.

    Raises Conflict for the last team, into which flows go that name none, and for one that has ever had a flow: its
    interviews are numbered in it for ``/v1``.
    """
    if len(queries.teams_of(by.organization)) < 2:
        raise Conflict("This is your last team. Flows need one, so it cannot be deleted.")
    members = db.session.query(TeamMembership).filter_by(team_id=team.id)
    try:
        with db.session.begin_nested():
            count = members.delete()
            db.session.execute(sa.delete(Team).where(Team.id == team.id))
    except sa.exc.IntegrityError:  # the database knows what hangs on it, also what came at this very moment
        raise Conflict(
            "This team has flows, open, closed or archived. Their interviews are counted in it, so it cannot be "
            "deleted. You can rename it."
        ) from None
    write_audit(by.organization, action="team.deleted", subject=team.id, by=by, details={"members": count})
