"""``/v1/ping``, ``/v1/teams`` and ``/v1/team-members``."""

from typing import Any

from app.accounts import idempotency, queries, schemas
from app.accounts.access import caller, require_api_key
from app.accounts.key_guard import narrows_itself
from app.web.api import Blueprint

blp = Blueprint("Teams", __name__, url_prefix="/v1", description="The connection, teams and members.")
blp.before_request(require_api_key)
blp.after_app_request(idempotency.after)


@blp.get("/ping")
@blp.response(200, schemas.PingResponseSchema, description="The key works.", example={"message": "pong"})
@blp.doc(operationId="ping")
@narrows_itself
def ping() -> dict[str, Any]:
    """Check the connection."""
    return {"message": "pong"}


@blp.get("/teams")
@blp.response(200, schemas.TeamsSchema, description="All teams of the organization.", example=schemas.TEAMS_EXAMPLE)
@blp.doc(operationId="listTeams")
@narrows_itself
def teams() -> dict[str, Any]:
    """List the teams of the organization."""
    return {"teams": queries.teams_of(caller())}


@blp.get("/team-members")
@blp.arguments(schemas.TeamMembersQuerySchema, location="query")
@blp.response(
    200, schemas.TeamMembersSchema, description="The members, by email address.", example=schemas.TEAM_MEMBERS_EXAMPLE
)
@blp.doc(operationId="listTeamMembers")
@narrows_itself
def team_members(query: dict[str, Any]) -> dict[str, Any]:
    """List the members of the organization. You can assign one of them to an interview."""
    team = queries.team_of(caller(), query["team_id"]) if query["team_id"] is not None else None
    return {"team_members": queries.members_of(caller(), team)}
