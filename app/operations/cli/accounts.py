"""Commands about organizations, teams, members and API keys. They work while Parley runs, for any organization."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from app.core import clock
from app.core.errors import Rejected
from app.operations.cli.console import AS_JSON, database, installed, tell

if TYPE_CHECKING:
    from app.accounts.models import Organization

ROLES = ("admin", "recruiter", "viewer")
ENDS = ("24h", "7d", "now")
"""A copy of the rooms' own values, so that help does not load those. A test compares them."""

ORGANIZATION = click.option(
    "--org",
    "organization",
    default=None,
    help="Id or name of the organization. Optional if there is only one.",
)
PASSWORD_NOTE = "12 to 128 characters. Without it, the command asks; - reads a line from standard input."
SHOWN = (
    "Warning: other users of this machine can see a password on the command line. Leave the option out to be "
    "asked, or pass - and send the password to standard input."
)


def _given(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """The password itself, wherever it comes from."""
    if value == "-":
        return sys.stdin.readline().rstrip("\r\n")
    if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
        click.echo(SHOWN, err=True)
    return value


def _organization(named: str | None) -> "Organization":
    from app.accounts import queries

    if named is not None:
        return queries.organization_named(named)
    only = queries.only_organization()
    if only is None:
        raise Rejected("name the organization with --org: there is none, or more than one", field="--org")
    return only


@click.group()
def org() -> None:
    """Organizations."""


@org.command("create")
@click.argument("name")
@click.option("--team", "team_name", required=True, help="Name of the first team.")
@click.option("--admin-email", required=True, help="Email address of the first administrator, used to sign in.")
@click.option("--admin-name", default=None, help="Full name of the administrator.")
@click.option(
    "--admin-password",
    prompt="Password of the administrator",
    hide_input=True,
    confirmation_prompt=True,
    envvar="PARLEY_ADMIN_PASSWORD",
    help=PASSWORD_NOTE,
    callback=_given,
)
@AS_JSON
def org_create(
    *, name: str, team_name: str, admin_email: str, admin_name: str | None, admin_password: str, as_json: bool
) -> None:
    """Create an organization with a team, an administrator and an API key. The key is shown only once."""
    from app.accounts import actions, passwords
    from app.core.db import db

    with database(installed()):
        hashed = passwords.hashed(admin_password)
        founded = actions.create_organization(
            name, team_name=team_name, admin_email=admin_email, admin_hash=hashed, admin_name=admin_name
        )
        _row, key = actions.issue_api_key(founded.organization, name="First key", by=founded.admin)
        created = {
            "organization_id": founded.organization.id,
            "team_id": founded.team.id,
            "member_id": founded.admin.id,
            "api_key": key,
        }
        db.session.commit()
    words = "\n".join(f"{key.replace('_', ' ')}: {value}" for key, value in created.items())
    tell(created, as_json=as_json, words=words)


@click.group()
def team() -> None:
    """Teams."""


@team.command("create")
@click.argument("name")
@ORGANIZATION
@AS_JSON
def team_create(*, name: str, organization: str | None, as_json: bool) -> None:
    """Create a team."""
    from app.accounts import actions
    from app.core.db import db

    with database(installed()):
        added = actions.add_team(_organization(organization), name, by=None)
        team_id = added.id
        db.session.commit()
    tell({"team_id": team_id}, as_json=as_json, words=f"team id: {team_id}")


@click.group()
def member() -> None:
    """Members, who sign in to the platform."""


@member.command("add")
@click.argument("email")
@ORGANIZATION
@click.option("--team", "team_id", default=None, help="Id of the team. Default: the oldest team.")
@click.option("--name", "full_name", default=None, help="Full name of the member.")
@click.option("--role", type=click.Choice(ROLES), default="recruiter", show_default=True)
@click.option(
    "--password",
    prompt="Initial password",
    hide_input=True,
    confirmation_prompt=True,
    envvar="PARLEY_MEMBER_PASSWORD",
    help=PASSWORD_NOTE,
    callback=_given,
)
@AS_JSON
def member_add(
    *,
    email: str,
    organization: str | None,
    team_id: str | None,
    full_name: str | None,
    role: str,
    password: str,
    as_json: bool,
) -> None:
    """Add a member to a team."""
    from app.accounts import actions, passwords, queries
    from app.accounts.models import Role
    from app.core.db import db

    with database(installed()):
        hashed = passwords.hashed(password)
        owner = _organization(organization)
        team = queries.team_of(owner, team_id) if team_id else queries.oldest_team(owner)
        added = actions.add_member(
            owner, email, full_name=full_name, role=Role(role), teams=[team], password_hash=hashed, by=None
        )
        member_id = added.id
        db.session.commit()
    tell({"member_id": member_id}, as_json=as_json, words=f"member id: {member_id}")


@member.command("password")
@click.argument("email")
@click.option(
    "--password",
    prompt="New password",
    hide_input=True,
    confirmation_prompt=True,
    envvar="PARLEY_MEMBER_PASSWORD",
    help=PASSWORD_NOTE,
    callback=_given,
)
@AS_JSON
def member_password(*, email: str, password: str, as_json: bool) -> None:
    """Set a new password for a member, for example a locked-out administrator. Signs the member out everywhere."""
    from app.accounts import members, passwords, queries
    from app.core.db import db

    with database(installed()):
        hashed = passwords.hashed(password)
        member = queries.member_by_address(email)
        if member is None:
            raise Rejected(f"no member has the email address {email}", field="email")
        members.reset_password(member, hashed, by=None)
        member_id = member.id
        db.session.commit()
    tell({"member_id": member_id}, as_json=as_json, words="Password changed. The member is signed out everywhere.")


@member.command("second-factor-off")
@click.argument("email")
@AS_JSON
def member_second_factor_off(*, email: str, as_json: bool) -> None:
    """Turn off two-step sign-in for a member who lost the app and the recovery codes. Signs them out everywhere."""
    from app.accounts import members, queries
    from app.core.db import db

    with database(installed()):
        member = queries.member_by_address(email)
        if member is None:
            raise Rejected(f"no member has the email address {email}", field="email")
        members.drop_second_factor(member, by=None)
        member_id = member.id
        db.session.commit()
    tell(
        {"member_id": member_id}, as_json=as_json, words="Two-step sign-in is off. The member is signed out everywhere."
    )


@click.group("api-key")
def api_key() -> None:
    """API keys for /v1."""


@api_key.command("create")
@click.argument("name", default="Command line")
@click.option("--test", "is_test", is_flag=True, help="Create a test key. Its interviews complete without a candidate.")
@click.option("--read-only", "is_read_only", is_flag=True, help="The key can read data, but cannot change it.")
@click.option("--no-secrets", "hides_secrets", is_flag=True, help="The key never sees webhook secrets.")
@click.option("--team", "teams", multiple=True, metavar="ID", help="Limit the key to this team. Can be repeated.")
@click.option("--flow", "flows", multiple=True, metavar="ID", help="Limit the key to this flow. Can be repeated.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Last day (UTC) on which the key works.")
@ORGANIZATION
@AS_JSON
def key_create(
    *, name: str, is_test: bool, expires: datetime | None, organization: str | None, as_json: bool, **scope: Any
) -> None:
    """Create an API key. It is shown only once. What it may do cannot be changed later."""
    from app.accounts import actions, members
    from app.core.db import db

    with database(installed()):
        owner = _organization(organization)
        end = members.end_of(expires.date() if expires else None)
        chosen = members.chosen_scope(owner, **scope)
        row, key = actions.issue_api_key(owner, name=name, by=None, is_test=is_test, scope=chosen, expires_at=end)
        created = {"api_key_id": row.id, "api_key": key}
        db.session.commit()
    tell(created, as_json=as_json, words=f"api key id: {created['api_key_id']}\napi key: {key}")


@api_key.command("list")
@ORGANIZATION
@AS_JSON
def key_list(*, organization: str | None, as_json: bool) -> None:
    """List active API keys."""
    from app.accounts import queries
    from app.core.db import db

    with database(installed()):
        keys: list[dict[str, Any]] = [
            {
                "api_key_id": key.id,
                "name": key.name,
                "last4": key.last4,
                "created_at": clock.rfc3339(key.created_at),
                "last_used_at": clock.rfc3339(key.last_used_at) if key.last_used_at else None,
                "ends_at": clock.rfc3339(key.expires_at) if key.expires_at else None,
                "test": key.is_test,
                "read_only": key.is_read_only,
                "no_secrets": key.hides_secrets,
                "teams": key.team_ids,
                "flows": key.flow_ids,
            }
            for key in queries.keys_of(_organization(organization))
        ]
        db.session.rollback()
    lines = [
        f"{key['api_key_id']}  …{key['last4']}  {key['name']}  last used {key['last_used_at'] or 'never'}"
        + (f"  ends {key['ends_at']}" if key["ends_at"] else "")
        + "".join(f"  {word.replace('_', ' ')}" for word in ("test", "read_only", "no_secrets") if key[word])
        + "".join(f"  {word}: {', '.join(key[word])}" for word in ("teams", "flows") if key[word])
        for key in keys
    ]
    tell({"api_keys": keys}, as_json=as_json, words="\n".join(lines) or "No keys.")


@api_key.command("rotate")
@click.argument("key_id")
@click.option(
    "--ends",
    type=click.Choice(ENDS),
    default="24h",
    show_default=True,
    help="When the old key stops working.",
)
@ORGANIZATION
@AS_JSON
def key_rotate(*, key_id: str, ends: str, organization: str | None, as_json: bool) -> None:
    """Replace an API key. The new one is shown only once; the old one works until --ends."""
    from app.accounts import members, queries
    from app.core.db import db

    with database(installed()):
        key = queries.key_for(_organization(organization), key_id)
        row, secret = members.rotate_api_key(key, ends=ends, by=None)
        row_id = row.id
        db.session.commit()
    words = f"api key id: {row_id}\napi key: {secret}\nold key expires: {ends}"
    tell({"api_key_id": row_id, "api_key": secret, "old_ends": ends}, as_json=as_json, words=words)


@api_key.command("revoke")
@click.argument("key_id")
@ORGANIZATION
@AS_JSON
def key_revoke(*, key_id: str, organization: str | None, as_json: bool) -> None:
    """Revoke an API key immediately."""
    from app.accounts import actions, queries
    from app.core.db import db

    with database(installed()):
        actions.revoke_api_key(queries.key_for(_organization(organization), key_id), by=None)
        db.session.commit()
    tell({"api_key_id": key_id, "revoked": True}, as_json=as_json, words=f"{key_id} no longer works")
