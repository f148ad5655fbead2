"""What goes in and out of ``/v1/interviews``. The bodies of results are spliced from kept fragments, never dumped by
these schemas; they document the answers, and tests hold the sent bytes against them."""

from typing import Any

import marshmallow as ma

from app.interviews.data import DetailsSchema, TextSchema
from app.interviews.models import LONGEST_NAME, InterviewStatus
from app.web.fields import (
    Choice,
    EmailAddress,
    IdPattern,
    Text,
    limit_field,
    offset_field,
    team_id_field,
)

TRANSCRIPT_CHOICES = ("full", "text", "none")


class ScoresSchema(ma.Schema):
    """Grouped scores, 0 to 5 with one decimal; null means not assessed."""

    communication = ma.fields.Float(allow_none=True, dump_default=None)
    motivation = ma.fields.Float(allow_none=True, dump_default=None)
    skills = ma.fields.Float(allow_none=True, dump_default=None)
    language_vocabulary_and_expression = ma.fields.Float(allow_none=True, dump_default=None)
    language_grammar_and_structure = ma.fields.Float(allow_none=True, dump_default=None)
    language_fluency_and_pace = ma.fields.Float(allow_none=True, dump_default=None)
    language_comprehension = ma.fields.Float(allow_none=True, dump_default=None)


class InterviewDataSchema(TextSchema, DetailsSchema):
    """The result of a completed interview. Times are seconds from the start of the recording."""

    audio_url = ma.fields.String(allow_none=True, dump_default=None)
    video_url = ma.fields.String(allow_none=True, dump_default=None)
    summary = ma.fields.String(allow_none=True, dump_default=None)
    scores = ma.fields.Nested(ScoresSchema, allow_none=True, dump_default=None)
    interviewee_email_address = ma.fields.String(allow_none=True, dump_default=None)
    interviewee_first_name = ma.fields.String(allow_none=True, dump_default=None)
    interviewee_last_name = ma.fields.String(allow_none=True, dump_default=None)


class InterviewSchema(ma.Schema):
    """An interview; ``interview_data`` is null until it is completed."""

    interview_flow_id = ma.fields.String(required=True)
    interview_id = ma.fields.String(required=True)
    team_id = ma.fields.String(required=True)
    status = Choice([status.value for status in InterviewStatus], required=True)
    interview_data = ma.fields.Nested(InterviewDataSchema, required=True, allow_none=True)


class InterviewsSchema(ma.Schema):
    """One page of a list."""

    interviews = ma.fields.List(ma.fields.Nested(InterviewSchema), required=True)


def _transcript_field() -> Choice:
    words = "full: transcript, word times and mapping; text: the transcript alone; none: none of the three."
    return Choice(TRANSCRIPT_CHOICES, load_default="full", metadata={"description": words})


class InterviewsQuerySchema(ma.Schema):
    """Query of the list."""

    limit = limit_field(20)
    offset = offset_field()
    status = Choice(
        [status.value for status in InterviewStatus],
        allow_none=True,
        load_default=None,
        metadata={"description": "Only interviews of this status; absent means both."},
    )
    team_id = team_id_field()
    transcript = _transcript_field()


class InterviewQuerySchema(ma.Schema):
    """Query of a single interview."""

    transcript = _transcript_field()


def _name(description: str) -> Text:
    return Text(most=LONGEST_NAME, allow_none=True, load_default=None, metadata={"description": description})


class NewInterviewSchema(ma.Schema):
    """Body that creates an interview."""

    interview_flow_id = Text(most=100, required=True, metadata={"description": "The flow to use."})
    interviewee_email_address = EmailAddress(
        allow_none=True,
        load_default=None,
        metadata={"description": "Who this is on the web platform; without it the interview does not appear there."},
    )
    interviewee_first_name = _name("First name of the interviewee.")
    interviewee_last_name = _name("Last name of the interviewee.")
    assigned_recruiter_id = IdPattern(
        allow_none=True,
        load_default=None,
        metadata={"description": "A member of the flow's team, see GET /v1/team-members."},
    )


class InterviewCreatedSchema(ma.Schema):
    """What was created."""

    interview_id = ma.fields.String(required=True)
    interview_link = ma.fields.String(required=True, metadata={"description": "Single-use link for the interviewee."})
    hint = ma.fields.String(
        allow_none=True, metadata={"description": "Whether the interview will show on the web platform."}
    )


class RevokedSchema(ma.Schema):
    """Access to the recordings has ended and their bytes are gone."""

    success = ma.fields.Boolean(required=True)


SCORES = tuple(ScoresSchema().fields)


def scores_of(kept: dict[str, Any] | None) -> dict[str, float | None] | None:
    """All seven scores in the interface's order, or null where nothing was scored."""
    return None if kept is None else {name: kept.get(name) for name in SCORES}
