"""The tools of the profile ``read``: interviews, and what candidates said in them.

``/v1`` does not search: that tool reads pages of its list, up to a bound, and says where to go on.
"""

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import AwareDatetime, Field

from app.operations.mcp_server.shared import FlowId, InterviewId, Offset, Shared, TeamId
from app.operations.mcp_server.untrusted import NOTICE, cleaned, excerpts_of, page_of
from app.operations.mcp_server.v1 import Call, at

PAGE = 100
"""Interviews that one use of a tool reads from the list, without transcripts."""
SEARCH_PAGE, SEARCHED = 25, 100
"""Transcripts that are read at once, and by one use of the search."""
AROUND, EXCERPTS = 160, 3

Status = Annotated[Literal["incomplete", "completed"] | None, Field(description="Only this status. Null: both.")]
AnyFlow = Annotated[str | None, Field(max_length=100, description="Only interviews of this flow. Null: all flows.")]
Since = Annotated[
    AwareDatetime | None,
    Field(description="Only interviews created later than this, such as 2026-01-31T09:15:00Z. Null: all."),
]
Words = Annotated[str, Field(min_length=2, max_length=200, description="A word or phrase. Case does not matter.")]
FromSegment = Annotated[int, Field(ge=0, le=100_000, description="Segment to begin with: next.from_segment.")]
FromCharacter = Annotated[int, Field(ge=0, le=10_000_000, description="Where in it: next.from_character.")]


class Reading(Shared):
    """Every result that candidates have a part in begins with ``NOTICE``."""

    def _noted(self, value: Any) -> list[str]:
        return [NOTICE, self.as_json(value)]

    async def list_interviews(
        self,
        ctx: Context[Any, Any],
        *,
        status: Status = None,
        flow_id: AnyFlow = None,
        team_id: TeamId = None,
        since: Since = None,
        offset: Offset = 0,
    ) -> list[str]:
        """List interviews, newest first: id, flow, status, name of the candidate.

        One call returns up to 100, and next_offset continues after them.
        """
        call = self.api.call(ctx, "list_interviews")
        rows, after = await _page(
            call,
            offset=offset,
            size=PAGE,
            interview_flow_id=flow_id,
            status=status,
            team_id=team_id,
            created_after=since.isoformat() if since else None,
            transcript="none",
        )
        return self._noted({"interviews": [_line(row) for row in rows], "next_offset": after})

    async def get_interview(
        self,
        ctx: Context[Any, Any],
        *,
        interview_id: InterviewId,
        transcript: Annotated[Literal["none", "text"], Field(description="text: with what was said.")] = "none",
        from_segment: FromSegment = 0,
        from_character: FromCharacter = 0,
    ) -> list[str]:
        """Read one interview: status, name, summary, scores from 0 to 5 (null: not assessed), and what was said.

        A transcript comes in pages of at most 20,000 characters. While next is not null, call again with its values.
        """
        call = self.api.call(ctx, "get_interview")
        wanted = "full" if transcript == "text" else "none"
        found = await call.get(at("interviews", interview_id), transcript=wanted)
        data = found["interview_data"]
        shown = {**_line(found), "summary": data and data["summary"], "scores": data and data["scores"]}
        if data and wanted == "full":
            shown["transcript"] = self.page(data, from_segment, from_character)
        return self._noted(shown)

    def page(self, data: dict[str, Any], segment: int, character: int) -> dict[str, Any]:
        """Cleaned before it is cut, so that no cut shows a part of what is hidden."""
        said = [{"role": one["role"], "content": one["content"]} for one in data["transcript_with_timestamp"]]
        return page_of(cleaned(said, shows_emails=self.options.shows_emails), segment=segment, character=character)

    async def transcript(self, call: Call, interview_id: str) -> list[str]:
        """The first page of a transcript, for the resource."""
        found = await call.get(at("interviews", interview_id), transcript="full")
        if found["interview_data"] is None:
            raise ToolError("This interview is not completed, so it has no transcript yet.")
        return self._noted({"interview_id": interview_id, **self.page(found["interview_data"], 0, 0)})

    async def search_transcripts(
        self, ctx: Context[Any, Any], words: Words, *, flow_id: AnyFlow = None, offset: Offset = 0
    ) -> list[str]:
        """Find a word or phrase in transcripts, with the text around it. Newest interviews first.

        One call searches up to 100 completed interviews, and next_offset continues after them. It matches exact text,
        not meaning.
        """
        call = self.api.call(ctx, "search_transcripts")
        found: list[dict[str, Any]] = []
        after: int | None = offset
        while after is not None and after < offset + SEARCHED:
            rows, after = await _page(
                call,
                offset=after,
                size=SEARCH_PAGE,
                interview_flow_id=flow_id,
                status="completed",
                transcript="text",
            )
            found += [{**_line(row), "excerpts": hits} for row in rows if (hits := self._hits(row, words))]
        return self._noted({"found": found, "next_offset": after})

    def _hits(self, row: dict[str, Any], words: str) -> list[dict[str, str]]:
        text = cleaned(row["interview_data"]["transcript"], shows_emails=self.options.shows_emails)
        return excerpts_of(text, words, around=AROUND, most=EXCERPTS)

    async def compare_scores(self, ctx: Context[Any, Any], flow_id: FlowId, offset: Offset = 0) -> list[str]:
        """Show the scores in force of a flow's completed interviews side by side, newest first.

        The order is not a ranking. Scores go from 0 to 5, and null means not assessed. A person decides about
        candidates, with the interviews. One call returns up to 100, and next_offset continues after them.
        """
        call = self.api.call(ctx, "compare_scores")
        flow = await self.flow(call, flow_id)
        rows, after = await _page(
            call, offset=offset, size=PAGE, interview_flow_id=flow_id, status="completed", transcript="none"
        )
        lines = [{**_line(row), "scores": row["interview_data"]["scores"]} for row in rows]
        return self._noted({"flow_title": flow["title"], "interviews": lines, "next_offset": after})


def _line(row: dict[str, Any]) -> dict[str, Any]:
    data = row["interview_data"] or {}
    named = {name: data.get(f"interviewee_{name}") for name in ("first_name", "last_name", "email_address")}
    return {
        "interview_id": row["interview_id"],
        "interview_flow_id": row["interview_flow_id"],
        "status": row["status"],
        **{f"candidate_{name}": value for name, value in named.items()},
    }


async def _page(call: Call, *, offset: int, size: int, **query: str | None) -> tuple[list[dict[str, Any]], int | None]:
    """A page of the list, and the offset of the next one; None at the end of the list."""
    rows = (await call.get("/v1/interviews", limit=size, offset=offset, **query))["interviews"]
    return rows, offset + size if len(rows) == size else None
