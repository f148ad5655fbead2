"""The tools of the profile ``create``. They add flows and interviews; none changes or deletes anything.

No tool takes a URL: text that a model has read must not decide where Parley sends data or candidates.
"""

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

from app.operations.mcp_server.shared import FlowId, Shared

Question = Annotated[str, Field(min_length=1, max_length=2_000)]
Questions = Annotated[list[Question], Field(min_length=1, max_length=20, description="Script questions, in order.")]
Line = Annotated[str, Field(min_length=1, max_length=300)]
Name = Annotated[str | None, Field(max_length=200)]
Spoken = Annotated[str | None, Field(max_length=5_000, description="The agent says this. Null: its own words.")]
Background = Annotated[str | None, Field(max_length=20_000, description="Background that the agent can use.")]
Manners = Annotated[str | None, Field(max_length=20_000, description="How the agent should behave.")]
Language = Annotated[str | None, Field(max_length=10, description="Such as en-US or de-DE. Null: en-US.")]
Kind = Annotated[
    Literal["recruitment", "general"], Field(description="Only recruitment interviews appear among the candidates.")
]
TeamOf = Annotated[str | None, Field(max_length=100, description="Team of the flow. Null: the oldest team.")]
Recruiter = Annotated[str | None, Field(max_length=100, description="Id from list_team_members.")]
Address = Annotated[
    str | None, Field(max_length=320, description="Without it, the interview does not appear among the candidates.")
]


class Creating(Shared):
    """Nothing here reads what candidates said."""

    async def create_flow(
        self,
        ctx: Context[Any, Any],
        *,
        title: Line,
        org_name: Line,
        questions: Questions,
        language: Language = None,
        interview_type: Kind = "recruitment",
        additional_info: Background = None,
        additional_instructions: Manners = None,
        intro: Spoken = None,
        outro: Spoken = None,
        team_id: TeamOf = None,
    ) -> str:
        """Create an interview flow, open for interviews at once. Show the questions to the person first and ask.

        A member can change and close it in Parley. Calling again creates another flow.
        """
        call = self.api.call(ctx, "create_flow")
        body = {
            "title": title,
            "org_name": org_name,
            "questions": questions,
            "language": language,
            "interview_type": interview_type,
            "additional_info": additional_info,
            "additional_instructions": additional_instructions,
            "intro": intro,
            "outro": outro,
            "team_id": team_id,
        }
        return self.as_json(await call.post("/v1/interview-flows", body))

    async def create_interview(
        self,
        ctx: Context[Any, Any],
        *,
        flow_id: FlowId,
        candidate_email_address: Address = None,
        candidate_first_name: Name = None,
        candidate_last_name: Name = None,
        assigned_recruiter_id: Recruiter = None,
    ) -> str:
        """Create one interview of a flow and return its invite link, which works once. Parley sends no email.

        Anyone with the invite link can take the interview. Calling again creates another interview.
        """
        call = self.api.call(ctx, "create_interview")
        body = {
            "interview_flow_id": flow_id,
            "interviewee_email_address": candidate_email_address,
            "interviewee_first_name": candidate_first_name,
            "interviewee_last_name": candidate_last_name,
            "assigned_recruiter_id": assigned_recruiter_id,
        }
        return self.as_json(await call.post("/v1/interviews", body))
