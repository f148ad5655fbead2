"""Changes that administrators make to members, keys and teams: role, access, key rotation, team names."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

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
from app.accounts.key_scope import KeyScope, scope_of_key
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
from app.core import clock, rooms
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.web.fields import FIRST_DAY, LAST_DAY

OVERLAPS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "now": timedelta()}
"""How long a replaced key still works."""
MOST_IN_SCOPE = 100
"""Teams or flows that one key can be limited to: each call reads them with the key."""
LATE = 0.8
"""The part of an overlap after which a replaced key that is still used is worth a warning."""
LAST_ADMIN = "is the last administrator; make another member an administrator first"


def change(member: TeamMember, *, role: Role, teams: Sequence[Team], by: TeamMember) -> None:
    """Change role and teams, from the member's next request on. Raises Rejected for the last administrator."""
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
    """Block the member and end every session. Raises Rejected for yourself and for the last administrator."""
    if member.id == by.id:
        raise Rejected("You cannot disable yourself. Ask another administrator.")
    _keep_an_admin(member)
    if member.disabled_at is None:
        member.disabled_at = clock.now()
        end_entry_links(member)
        end_address_changes(member)
        end_sessions(member)
        write_audit(member.organization, action="member.disabled", subject=member.id, by=by, details={})


def enable(member: TeamMember, *, by: TeamMember) -> None:
    """Let the member sign in again, with the same password; old sessions stay ended."""
    if member.disabled_at is not None:
        member.disabled_at = None
        write_audit(member.organization, action="member.enabled", subject=member.id, by=by, details={})


def reset_password(member: TeamMember, password_hash: str, *, by: TeamMember | None) -> None:
    """Set a password; every session of the member ends. ``by`` is None for the command line."""
    member.password_hash = password_hash
    end_entry_links(member)
    end_address_changes(member)
    end_sessions(member)
    write_audit(member.organization, action="member.password_reset", subject=member.id, by=by, details={})


def drop_second_factor(member: TeamMember, *, by: TeamMember | None) -> None:
    """For members who lost app and recovery codes: turn two-step sign-in off and end every session."""
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


def chosen_scope(
    organization: Organization,
    *,
    is_read_only: bool = False,
    hides_secrets: bool = False,
    teams: Sequence[str] = (),
    flows: Sequence[str] = (),
) -> KeyScope:
    """The scope of a new key; no teams and no flows: all of them. With flows, the key belongs to their teams.

    Raises Rejected naming the field for a team or flow that is not the organization's, and for a flow that is not in
    one of the chosen teams.
    """
    for field, ids in (("teams", teams), ("flows", flows)):
        if len(ids) > MOST_IN_SCOPE:
            raise Rejected(f"Choose at most {MOST_IN_SCOPE} {field}.", field=field)
    wanted_teams, wanted_flows = ({one.strip().lower() for one in ids} for ids in (teams, flows))
    if wanted_teams - {team.id for team in queries.teams_of(organization)}:
        raise Rejected("Choose teams in your organization.", field="teams")
    if not wanted_flows:
        return KeyScope(is_read_only, hides_secrets, tuple(sorted(wanted_teams)) or None)
    found = rooms.flows().labels_of(organization.id, ids=wanted_flows)
    if len(found) < len(wanted_flows):
        raise Rejected("Choose interview flows in your organization.", field="flows")
    of_flows = {flow.team_id for flow in found}
    if wanted_teams and of_flows - wanted_teams:
        raise Rejected("Choose flows that belong to the chosen teams, or choose no team.", field="flows")
    return KeyScope(is_read_only, hides_secrets, tuple(sorted(of_flows)), tuple(sorted(wanted_flows)))


def end_of(last_day: date | None) -> datetime | None:
    """When a key with this last day (in UTC) stops working. Raises Rejected for a day far from any of Parley's."""
    if last_day is not None and not FIRST_DAY <= last_day <= LAST_DAY:
        raise Rejected(f"Choose today or a later day, before the year {LAST_DAY.year}.", field="expires")
    return None if last_day is None else datetime.combine(last_day, time(), UTC) + timedelta(days=1)


def rotate_api_key(key: ApiKey, *, ends: str, by: TeamMember | None) -> tuple[ApiKey, str]:
    """Create a key that replaces ``key``, which keeps working until it ``ends``: one of OVERLAPS. The new key has the
    same scope and the same last day.

    Returns the new row, and the key itself, which cannot be read again. Raises Rejected for a key that was already
    replaced (also by someone else at the same moment) or no longer works, and for an unknown ``ends``.
    """
    now = clock.now()
    if ends not in OVERLAPS:
        raise Rejected(f"must be one of: {', '.join(OVERLAPS)}", field="ends")
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        raise Rejected("This key no longer works. Create a new one instead.", field="key")
    if not _is_first(key.id, "rotated_at"):
        raise Rejected("This key was already replaced. Revoke it, or wait until it expires.", field="key")
    scope, last = scope_of_key(key), key.expires_at
    row, secret = issue_api_key(
        key.organization, name=key.name, by=by, is_test=key.is_test, scope=scope, expires_at=last
    )
    if OVERLAPS[ends]:
        end = now + OVERLAPS[ends]
        key.expires_at = min(key.expires_at, end) if key.expires_at else end
    else:
        revoke_api_key(key, by=by)
    details = {"new_key": row.id, "old_ends": ends}
    write_audit(key.organization, action="api_key.rotated", subject=key.id, by=by, details=details)
    return row, secret


def late_keys() -> list[str]:
    """Ids of replaced keys that are still used after four fifths of their overlap, and were not reported yet."""
    query = sa.select(ApiKey).where(
        ApiKey.rotated_at.is_not(None),
        ApiKey.revoked_at.is_(None),
        ApiKey.warned_at.is_(None),
        ApiKey.expires_at > clock.now(),
    )
    return [key.id for key in db.session.scalars(query) if is_late(key)]


def note_late(key_id: str) -> bool:
    """Record once that a replaced key is still used; False if another process was quicker."""
    if not _is_first(key_id, "warned_at"):
        return False
    organization = db.session.get_one(ApiKey, key_id).organization
    write_audit(organization, action="api_key.still_used", subject=key_id, by=None, details={})
    return True


def is_late(key: ApiKey) -> bool:
    """Whether a replaced key ends soon and was used recently: some program does not have the new one yet."""
    if key.rotated_at is None or key.expires_at is None or key.last_used_at is None:
        return False
    late = key.rotated_at + (key.expires_at - key.rotated_at) * LATE
    return clock.now() >= late and key.last_used_at > key.rotated_at + (late - key.rotated_at) / 2


def _is_first(key_id: str, name: str) -> bool:
    """Write the current time into this column if it is empty; True for only one of two processes at once."""
    column = getattr(ApiKey, name)
    statement = sa.update(ApiKey).where(ApiKey.id == key_id, column.is_(None)).values({column: clock.now()})
    return db.session.execute(statement.returning(ApiKey.id)).first() is not None


def restored(*, taken_at: str) -> int:
    """End every session and link after a restore, as those that ended after the backup would work again.

    Audited in every organization. Returns the number of sessions.
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
    """Raises Rejected for an invalid name; the same name is no change."""
    cleaned = named(name, "name")
    if team.name != cleaned:
        team.name = cleaned
        write_audit(by.organization, action="team.renamed", subject=team.id, by=by, details={})


def delete_team(team: Team, *, by: TeamMember) -> None:
    """Take the members out of a team and delete it.

    Raises Conflict for the last team, which flows without a team go to, and for a team that has ever had a flow
    (``/v1`` numbers its interviews within it), or has templates or bank questions.
    """
    if len(queries.teams_of(by.organization)) < 2:
        raise Conflict("This is your last team. Flows need one, so it cannot be deleted.")
    members = db.session.query(TeamMembership).filter_by(team_id=team.id)
    try:
        with db.session.begin_nested():
            count = members.delete()
            db.session.execute(sa.delete(Team).where(Team.id == team.id))
    except sa.exc.IntegrityError:  # the database knows every reference, including one added at this moment
        raise Conflict(
            "This team has flows (open, closed or archived), questions in the question bank or templates of its own, "
            "so it cannot be deleted. You can rename it."
        ) from None
    write_audit(by.organization, action="team.deleted", subject=team.id, by=by, details={"members": count})
