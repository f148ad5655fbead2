"""What goes in and out of ``/v1/interviews``. The bodies of results are spliced from kept fragments, never dumped by
these schemas; they document the answers, and tests hold the sent bytes against them."""

from typing import Any

import marshmallow as ma

from app.candidates.models import LONGEST_NAME
from app.interviews.models import InterviewStatus, Scenario
from app.interviews.published_result import DetailsSchema, TextSchema
from app.web import examples
from app.web.body import RepeatedQuery
from app.web.fields import (
    EXTENSION,
    AnyOf,
    Choice,
    EmailAddress,
    IdPattern,
    QueryId,
    Text,
    TextByKey,
    Time,
    limit_field,
    offset_field,
    team_id_field,
)

SCENARIO_HEADER = "X-Parley-Scenario"
MODES = ("live", "test")
TRANSCRIPT_CHOICES = ("full", "text", "none")
STATUSES = tuple(status.value for status in InterviewStatus)


class ScoresSchema(ma.Schema):
    """Grouped scores, 0 to 5 with one decimal; null means not assessed."""

    communication = ma.fields.Float(allow_none=True, dump_default=None)
    motivation = ma.fields.Float(allow_none=True, dump_default=None)
    skills = ma.fields.Float(allow_none=True, dump_default=None)
    language_vocabulary_and_expression = ma.fields.Float(allow_none=True, dump_default=None)
    language_grammar_and_structure = ma.fields.Float(allow_none=True, dump_default=None)
    language_fluency_and_pace = ma.fields.Float(allow_none=True, dump_default=None)
    language_comprehension = ma.fields.Float(allow_none=True, dump_default=None)


def _or_null(description: str) -> ma.fields.String:
    return ma.fields.String(allow_none=True, dump_default=None, metadata={"description": description})


class InterviewDataNoTranscriptSchema(ma.Schema):
    """The result of a completed interview as ``transcript=none`` shows it."""

    audio_url = _or_null(
        "URL of the audio. It works for one hour. Null if there is no audio, or if access was revoked."
    )
    video_url = _or_null(
        "URL of the video. Null if there is no video, until it is processed, or if access was revoked."
    )
    summary = _or_null("A summary of what was said.")
    scores = ma.fields.Nested(ScoresSchema, allow_none=True, dump_default=None)
    interviewee_email_address = _or_null("As given when the interview was created.")
    interviewee_first_name = _or_null("First name of the interviewee.")
    interviewee_last_name = _or_null("Last name of the interviewee.")


class InterviewDataTextOnlySchema(TextSchema, InterviewDataNoTranscriptSchema):
    """The same as ``transcript=text`` shows it."""


class InterviewDataSchema(DetailsSchema, InterviewDataTextOnlySchema):
    """The same as ``transcript=full`` shows it. Times are seconds from the start of the recording."""


class InterviewSchema(ma.Schema):
    """An interview; ``interview_data`` is null until it is completed."""

    interview_flow_id = ma.fields.String(required=True)
    interview_id = ma.fields.String(required=True)
    team_id = ma.fields.String(required=True)
    status = Choice(STATUSES, called="InterviewStatus", required=True)
    interview_data = AnyOf(
        InterviewDataSchema,
        InterviewDataTextOnlySchema,
        InterviewDataNoTranscriptSchema,
        required=True,
        metadata={"description": "Null until the interview is completed. Then its shape depends on `transcript`."},
    )


class InterviewsSchema(ma.Schema):
    """One page of a list."""

    interviews = ma.fields.List(ma.fields.Nested(InterviewSchema), required=True)


def _transcript_field() -> Choice:
    words = "full: transcript, word times and mapping; text: the transcript alone; none: none of the three."
    return Choice(TRANSCRIPT_CHOICES, called="TranscriptChoice", load_default="full", metadata={"description": words})


class InterviewsQuerySchema(RepeatedQuery):
    """Query of the list."""

    limit = limit_field(20)
    offset = offset_field()
    status = Choice(
        STATUSES,
        called="InterviewStatus",
        allow_none=True,
        load_default=None,
        metadata={"description": "Only interviews of this status. If absent, both."},
    )
    team_id = team_id_field()
    transcript = _transcript_field()
    mode = Choice(
        MODES,
        called="InterviewMode",
        allow_none=True,
        load_default=None,
        metadata={
            "description": "Only interviews created with live keys (`live`) or test keys (`test`). If absent, both.",
            **EXTENSION,
        },
    )
    interview_flow_id = QueryId(
        load_default=None, metadata={"description": "Only interviews of this flow.", **EXTENSION}
    )
    created_after = Time("Only interviews created later than this.", load_default=None, metadata=EXTENSION)


class InterviewQuerySchema(RepeatedQuery):
    """Query of a single interview."""

    transcript = _transcript_field()


def _name(description: str) -> Text:
    return Text(most=LONGEST_NAME, allow_none=True, load_default=None, metadata={"description": description})


class NewInterviewSchema(ma.Schema):
    """Body that creates an interview."""

    interview_flow_id = Text(
        most=100,
        required=True,
        metadata={"description": "The flow to use: `interview_flow_id` from the response of createInterviewFlow."},
    )
    interviewee_email_address = EmailAddress(
        allow_none=True,
        load_default=None,
        metadata={"description": "Who this is on the web platform. Without it, the interview does not appear there."},
    )
    interviewee_first_name = _name("First name of the interviewee.")
    interviewee_last_name = _name("Last name of the interviewee.")
    assigned_recruiter_id = IdPattern(
        allow_none=True,
        load_default=None,
        metadata={"description": "A member of the flow's team, see GET /v1/team-members."},
    )


class NewInterviewHeadersSchema(ma.Schema):
    """Headers of the call that creates an interview."""

    scenario = Choice(
        tuple(scenario.value for scenario in Scenario),
        called="Scenario",
        data_key=SCENARIO_HEADER,
        metadata={
            "description": "How a test interview goes; only for test keys. `scores`: with made-up scores. `abandoned`: "
            "the candidate leaves. `failed`: processing fails. `late-video`: the video follows five minutes later. "
            "Without the header it completes as any other."
        },
    )


class InterviewCreatedSchema(ma.Schema):
    """What was created."""

    interview_id = ma.fields.String(required=True)
    interview_link = ma.fields.String(required=True, metadata={"description": "Single-use link for the interviewee."})
    hint = ma.fields.String(
        allow_none=True, metadata={"description": "Whether the interview will appear on the web platform."}
    )


class RevokedSchema(ma.Schema):
    """Access to the recordings has ended and their bytes are gone."""

    success = ma.fields.Boolean(required=True)


class ScoreVersionSchema(ma.Schema):
    """One version of the scores of a result. Exactly one is current: the one that the interview shows."""

    score_version_id = ma.fields.String(required=True)
    interview_id = ma.fields.String(required=True)
    number = ma.fields.Integer(required=True, metadata={"description": "From 1, in the order in which they were made."})
    is_current = ma.fields.Boolean(required=True, metadata={"description": "Whether the interview shows these scores."})
    scores = ma.fields.Nested(ScoresSchema, required=True, allow_none=True)
    model = ma.fields.String(required=True, allow_none=True, metadata={"description": "What made the scores."})
    created_at = ma.fields.String(required=True, metadata={"format": "date-time"})


class ScoreVersionsSchema(ma.Schema):
    """All versions of the scores of one result."""

    score_versions = ma.fields.List(ma.fields.Nested(ScoreVersionSchema), required=True)


class InterviewCancelledSchema(ma.Schema):
    """The link of the interview is closed."""

    success = ma.fields.Boolean(required=True)
    interview_id = ma.fields.String(required=True)


class InterviewMetadataSchema(ma.Schema):
    """What your program keeps about an interview. It replaces what was kept before."""

    class Meta:
        unknown = ma.RAISE

    # Which keys and values are allowed is for the action to say: it knows a code for what is too large.
    metadata = TextByKey(
        required=True,
        metadata={
            "description": "At most 20 keys of a to z, 0 to 9 and _ (1 to 40 characters), with values of at most 500 "
            "characters; together at most 4096 bytes of JSON. `external_id`: 1 to 128 printable ASCII characters "
            "without a space at its ends.",
        },
    )


class LookupQuerySchema(ma.Schema):
    """Query of the lookup."""

    external_id = Text(
        most=128, blank=False, required=True, metadata={"description": "The interview's id in your system."}
    )


class FoundInterviewSchema(ma.Schema):
    """An interview that has the id."""

    interview_id = ma.fields.String(required=True)
    interview_flow_id = ma.fields.String(required=True)
    external_id = ma.fields.String(required=True)


class LookupSchema(ma.Schema):
    """The interviews with an id, newest first, at most 100."""

    interviews = ma.fields.List(ma.fields.Nested(FoundInterviewSchema), required=True)


_SAID = (
    {"content": examples.QUESTIONS[0], "role": "agent"},
    {"content": "I like to help people.", "role": "user"},
)


def _spoken(words: str, start: float) -> list[dict[str, Any]]:
    at = [round(start + 0.25 * number, 2) for number in range(len(words.split()) + 1)]
    return [{"word": word, "start": at[number], "end": at[number + 1]} for number, word in enumerate(words.split())]


INTERVIEW_EXAMPLE = {
    "interview_flow_id": examples.FLOW_ID,
    "interview_id": examples.INTERVIEW_ID,
    "team_id": examples.TEAM_ID,
    "status": InterviewStatus.COMPLETED.value,
    "interview_data": {
        "audio_url": f"{examples.ADDRESS}/recordings/…",
        "video_url": None,
        "summary": "Likes to help people.",
        "scores": dict.fromkeys(ScoresSchema().fields) | {"communication": 3.5, "motivation": 4.0},
        "interviewee_email_address": examples.EMAIL,
        "interviewee_first_name": examples.FIRST_NAME,
        "interviewee_last_name": examples.LAST_NAME,
        "transcript": "\n".join(f"{one['role']}: {one['content']}" for one in _SAID),
        "transcript_with_timestamp": [
            {**said, "words": _spoken(said["content"], start)} for said, start in zip(_SAID, (0.5, 2.5), strict=True)
        ],
        "questions_to_transcript_mapping": [
            {
                "script_question": examples.QUESTIONS[0],
                "transcript_item_indices": [0, 1],
                "start_timestamp": 0.5,
                "end_timestamp": 3.75,
                "transcript_items": list(_SAID),
            }
        ],
    },
}
NEW_INTERVIEW_EXAMPLE = {
    "interview_flow_id": examples.FLOW_ID,
    "interviewee_email_address": examples.EMAIL,
    "interviewee_first_name": examples.FIRST_NAME,
    "interviewee_last_name": examples.LAST_NAME,
}
INTERVIEW_CREATED_EXAMPLE = {
    "interview_id": examples.INTERVIEW_ID,
    "interview_link": f"{examples.ADDRESS}/interview/api/{examples.FLOW_ID}/{examples.INTERVIEW_ID}",
    "hint": None,
}

SCORE_VERSION_EXAMPLE = {
    "score_version_id": f"{examples.INTERVIEW_ID}.1",
    "interview_id": examples.INTERVIEW_ID,
    "number": 1,
    "is_current": True,
    "scores": INTERVIEW_EXAMPLE["interview_data"]["scores"],  # type: ignore[index]
    "model": "example-model",
    "created_at": "2026-03-01T09:15:00Z",
}
METADATA_EXAMPLE = {"metadata": {"external_id": "application-4711", "office": "Oslo"}}
FOUND_EXAMPLE = {
    "interview_id": examples.INTERVIEW_ID,
    "interview_flow_id": examples.FLOW_ID,
    "external_id": "application-4711",
}

SCORES = tuple(ScoresSchema().fields)


def scores_of(scores: dict[str, Any] | None) -> dict[str, float | None] | None:
    """All seven scores in the interface's order, or null where nothing was scored."""
    return None if scores is None else {name: scores.get(name) for name in SCORES}
