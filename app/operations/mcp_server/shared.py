"""The tools of both profiles: flows, members, links."""

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from app.operations.mcp_server.untrusted import as_json
from app.operations.mcp_server.v1 import Api, Call, at

FlowId = Annotated[str, Field(min_length=1, max_length=100, description="Id of a flow, from list_flows.")]
InterviewId = Annotated[str, Field(min_length=1, max_length=100, description="Id of an interview.")]
TeamId = Annotated[str | None, Field(max_length=100, description="Only this team. Null: all teams.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="Where to begin; next_offset of the previous result.")]

SECRETS = ("webhook_secret_key", "webhook_url", "redirect_url", "company_logo_url")
"""Fields of a flow that no tool shows: a secret, and URLs that may contain one."""


class Shared:
    """Reads that contain nothing of candidates."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.options = api.options

    def as_json(self, value: Any) -> str:
        return as_json(value, shows_emails=self.options.shows_emails)

    async def list_flows(self, ctx: Context[Any, Any], team_id: TeamId = None, offset: Offset = 0) -> str:
        """List interview flows (scripts of questions): id, title, status, language, number of questions."""
        call = self.api.call(ctx, "list_flows")
        page = await call.get("/v1/interview-flows", team_id=team_id, limit=100, offset=offset)
        flows = page["interview_flows"]
        shown = [{**_part(flow, FLOW_LINE), "questions": len(flow["questions"])} for flow in flows]
        return self.as_json({"flows": shown, "next_offset": offset + 100 if len(flows) == 100 else None})

    async def get_flow(self, ctx: Context[Any, Any], flow_id: FlowId) -> str:
        """Read one flow: questions, language, options and texts. Webhook settings are left out."""
        return self.as_json(await self.flow(self.api.call(ctx, "get_flow"), flow_id))

    async def flow(self, call: Call, flow_id: str) -> dict[str, Any]:
        """A flow without its secrets."""
        flow = await call.get(at("interview-flows", flow_id))
        return {name: value for name, value in flow.items() if name not in SECRETS}

    async def list_team_members(self, ctx: Context[Any, Any], team_id: TeamId = None) -> str:
        """List the members of the organization. An interview can be assigned to one of them by id."""
        call = self.api.call(ctx, "list_team_members")
        members = (await call.get("/v1/team-members", team_id=team_id))["team_members"]
        fields = ("id", "full_name", "email") if self.options.shows_emails else ("id", "full_name")
        return self.as_json({"team_members": [_part(member, fields) for member in members]})

    async def interview_link(self, ctx: Context[Any, Any], interview_id: InterviewId) -> str:
        """Links of an interview: its page for members, who sign in there, and the candidate's invite link.

        The invite link is null once the interview is completed. Anyone with the invite link can take the interview,
        so give it to the candidate only.
        """
        call = self.api.call(ctx, "interview_link")
        found = await call.get(at("interviews", interview_id), transcript="none")
        base, flow_id, own_id = self.options.public_url, found["interview_flow_id"], found["interview_id"]
        is_open = found["status"] == "incomplete"
        invite = f"{base}/interview/api/{flow_id}/{own_id}" if is_open else None
        links = {"interview_id": own_id, "page_for_members": f"{base}/interviews/{own_id}", "invite_link": invite}
        return self.as_json(links)


FLOW_LINE = ("interview_flow_id", "team_id", "title", "org_name", "status", "language", "interview_type")


def _part(row: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in fields}
