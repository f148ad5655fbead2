"""Published shapes of ``/v1/ping``, ``/v1/teams`` and ``/v1/team-members``."""

import marshmallow as ma

from app.accounts.models import Team
from app.core import clock
from app.web import examples
from app.web.fields import team_id_field


class PingResponseSchema(ma.Schema):
    """Answer of the connectivity check."""

    message = ma.fields.String(required=True, metadata={"description": "The text pong."})


def _created(team: Team) -> str:
    return clock.rfc3339(team.created_at)


class TeamSchema(ma.Schema):
    """A team."""

    id = ma.fields.String(required=True, metadata={"description": "Team id."})
    name = ma.fields.String(required=True, metadata={"description": "Team name."})
    created_at = ma.fields.Function(
        _created,
        required=True,
        metadata={"type": "string", "format": "date-time", "description": "Creation date of the team."},
    )


class TeamsSchema(ma.Schema):
    """All teams of the organization."""

    teams = ma.fields.List(ma.fields.Nested(TeamSchema), required=True)


class TeamMemberSchema(ma.Schema):
    """A member; ``id`` is what ``assigned_recruiter_id`` takes."""

    id = ma.fields.String(required=True, metadata={"description": "Team member id."})
    email = ma.fields.String(
        allow_none=True, dump_default=None, metadata={"description": "Primary email address.", "default": None}
    )
    full_name = ma.fields.String(
        allow_none=True, dump_default=None, metadata={"description": "Full name.", "default": None}
    )


class TeamMembersSchema(ma.Schema):
    """Members of one team or of all."""

    team_members = ma.fields.List(ma.fields.Nested(TeamMemberSchema), required=True)


class TeamMembersQuerySchema(ma.Schema):
    """Query of the members list."""

    team_id = team_id_field()


TEAMS_EXAMPLE = {"teams": [{"id": examples.TEAM_ID, "name": "Hiring", "created_at": "2026-03-01T09:15:00Z"}]}
TEAM_MEMBERS_EXAMPLE = {
    "team_members": [{"id": examples.MEMBER_ID, "email": "sam@example.com", "full_name": "Sam Example"}]
}
