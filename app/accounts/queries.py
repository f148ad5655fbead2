"""Reads of organizations, teams, members and keys, always within the organization of the caller."""

from collections.abc import Sequence

import sqlalchemy as sa

from app.accounts.key_scope import refuse_outside, scope_of, within
from app.accounts.models import ApiKey, Login, Organization, Owner, Role, Team, TeamMember, TeamMembership
from app.core import clock
from app.core.db import db, is_id, row_security, unseen
from app.core.errors import Forbidden, NotFound, Rejected

FOREIGN_MEMBER = "This member belongs to another organization."
FOREIGN_KEY = "This API key belongs to another organization."


def team_of(organization: Owner, team_id: str) -> Team:
    """The organization's team. Raises the same Forbidden for another organization's and for one that does not exist."""
    team = db.session.scalar(sa.select(Team).where(Team.id == team_id.lower(), Team.organization_id == organization.id))
    if team is None:
        raise Forbidden("team_id does not belong to your organization.", code="other_organization")
    refuse_outside(organization, team_id=team.id)
    return team


def teams_of(organization: Owner) -> Sequence[Team]:
    """All teams, the oldest first; of an API key with a scope, those within it."""
    own = sa.select(Team).where(Team.organization_id == organization.id, *within(organization, team_id=Team.id))
    return db.session.scalars(own.order_by(Team.created_at, Team.id)).all()


def oldest_team(organization: Owner) -> Team:
    """The team for flows that name none. Raises Rejected if the organization has no team."""
    teams = teams_of(organization)
    if not teams:
        raise Rejected("Your organization has no teams. Add one first.", field="team_id")
    return teams[0]


def members_of(organization: Owner, team: Team | None) -> Sequence[TeamMember]:
    """Members who can sign in, of one team or of all, by address; an API key's scope narrows all to its teams."""
    query = sa.select(TeamMember).where(TeamMember.organization_id == organization.id, TeamMember.disabled_at.is_(None))
    team_ids = scope_of(organization).team_ids
    if team is not None:
        query = query.where(_is_in(team.id))
    elif team_ids is not None:
        query = query.where(_is_in(*team_ids))
    return db.session.scalars(query.order_by(TeamMember.email)).all()


def everyone_of(organization: Organization) -> Sequence[TeamMember]:
    """All members by address, disabled ones last."""
    query = sa.select(TeamMember).where(TeamMember.organization_id == organization.id)
    return db.session.scalars(query.order_by(TeamMember.disabled_at.is_not(None), TeamMember.email)).all()


def member_of(organization: Organization, member_id: str) -> TeamMember:
    """A member of this organization, disabled ones included. Raises NotFound or Forbidden."""
    member = db.session.get(TeamMember, member_id) if is_id(member_id) else None
    if member is None:
        raise unseen(TeamMember, member_id, NotFound("There is no such member."), foreign=FOREIGN_MEMBER)
    if member.organization_id != organization.id:
        raise Forbidden(FOREIGN_MEMBER, code="other_organization")
    return member


def has_other_admin(member: TeamMember) -> bool:
    """Whether another administrator of the organization can sign in."""
    others = sa.select(TeamMember.id).where(
        TeamMember.organization_id == member.organization_id,
        TeamMember.id != member.id,
        TeamMember.role == Role.ADMIN,
        TeamMember.disabled_at.is_(None),
        TeamMember.password_hash.is_not(None),
    )
    return db.session.scalar(others.limit(1)) is not None


def member_in_team(team_id: str, member_id: str) -> TeamMember | None:
    """The member, if they belong to that team and can sign in."""
    return db.session.scalar(
        sa.select(TeamMember).where(
            TeamMember.id == member_id.lower(), TeamMember.disabled_at.is_(None), _is_in(team_id)
        )
    )


def _is_in(*team_ids: str) -> sa.ColumnElement[bool]:
    membership = sa.select(TeamMembership.member_id).where(TeamMembership.team_id.in_(team_ids))
    return TeamMember.id.in_(membership)


def teams_seen_by(member: TeamMember) -> Sequence[Team]:
    """Teams whose flows, candidates and interviews the member sees: all for an administrator, else their own."""
    if member.role == Role.ADMIN:
        return teams_of(member.organization)
    query = (
        sa.select(Team)
        .join(TeamMembership, TeamMembership.team_id == Team.id)
        .where(TeamMembership.member_id == member.id, Team.organization_id == member.organization_id)
        .order_by(Team.created_at, Team.id)
    )
    return db.session.scalars(query).all()


def member_by_address(email: str) -> TeamMember | None:
    """The member who signs in with ``email``, in upper or lower case."""
    with row_security.everyone():
        return db.session.scalar(sa.select(TeamMember).where(TeamMember.email == email.strip().lower()))


def keys_of(organization: Organization) -> Sequence[ApiKey]:
    """Keys that still work, the newest first."""
    lives = sa.or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > clock.now())
    query = sa.select(ApiKey).where(ApiKey.organization_id == organization.id, ApiKey.revoked_at.is_(None), lives)
    return db.session.scalars(query.order_by(ApiKey.created_at.desc(), ApiKey.id)).all()


def key_for(organization: Organization, key_id: str) -> ApiKey:
    """A key of this organization. Raises NotFound or Forbidden."""
    key = db.session.get(ApiKey, key_id)
    if key is None:
        raise unseen(ApiKey, key_id, NotFound("There is no such API key."), foreign=FOREIGN_KEY)
    if key.organization_id != organization.id:
        raise Forbidden(FOREIGN_KEY, code="other_organization")
    return key


def organization_named(id_or_name: str) -> Organization:
    """For the command line: by id, or by a name that only one organization has. Raises NotFound or Rejected."""
    organization = db.session.get(Organization, id_or_name.lower())
    if organization is not None:
        return organization
    matches = db.session.scalars(sa.select(Organization).where(Organization.name == id_or_name).limit(2)).all()
    if not matches:
        raise NotFound(f"There is no organization with the id or name {id_or_name!r}.")
    if len(matches) > 1:
        raise Rejected(f"Several organizations are called {id_or_name!r}. Use the id instead.", field="organization")
    return matches[0]


def organization_with(organization_id: str) -> Organization:
    """For work on rows that name their organization. Raises NoResultFound."""
    return db.session.get_one(Organization, organization_id)


def all_organizations() -> list[tuple[str, str]]:
    """(id, name) of every organization, for the operator's commands."""
    return [(row[0], row[1]) for row in db.session.execute(sa.select(Organization.id, Organization.name))]


def only_organization() -> Organization | None:
    """The organization, if the installation has exactly one."""
    organizations = db.session.scalars(sa.select(Organization).limit(2)).all()
    return organizations[0] if len(organizations) == 1 else None


def is_disabled(organization_id: str) -> bool:
    """Whether the organization is disabled: its keys, members and signed links do not work."""
    disabled = sa.select(Organization.id).where(
        Organization.id == organization_id, Organization.disabled_at.is_not(None)
    )
    return db.session.scalar(disabled) is not None


def has_organization() -> bool:
    """Whether this installation has been set up."""
    return db.session.scalar(sa.select(Organization.id).limit(1)) is not None


def logins_of(member: TeamMember) -> Sequence[Login]:
    """Browsers that were not signed out, the most recently used first."""
    query = sa.select(Login).where(Login.member_id == member.id, Login.ended_at.is_(None))
    return db.session.scalars(query.order_by(Login.seen_at.desc())).all()


def login_of(member: TeamMember, login_id: str) -> Login | None:
    return db.session.scalar(sa.select(Login).where(Login.id == login_id, Login.member_id == member.id))
