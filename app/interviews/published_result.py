"""The published result: checked once, here, and stored as the exact bytes that ``/v1`` sends.

These bytes are not parsed again when they are sent, so errors have to be found here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import marshmallow as ma
import orjson

from app.gateways.language_model.usage import Used
from app.gateways.speech.ports import Segment
from app.interviews.analysis.alignment import as_written
from app.interviews.analysis.answers import QuestionPart
from app.web.json_splice import Fragment, inflate, make_fragment

FORMAT = 1
"""Version of the fragments' shape; a new version needs a job that rewrites old rows."""


class WordSchema(ma.Schema):
    """A word and when it was spoken, in seconds from the start of the recording."""

    word = ma.fields.String(required=True)
    start = ma.fields.Float(required=True)
    end = ma.fields.Float(required=True)


class BaseSegmentSchema(ma.Schema):
    """Something one side said, without word times."""

    content = ma.fields.String(required=True)
    role = ma.fields.String(required=True, metadata={"description": "agent or user"})


class SegmentSchema(BaseSegmentSchema):
    """Something one side said; ``words`` is empty where no engine measured word times."""

    words = ma.fields.List(ma.fields.Nested(WordSchema), required=True)


class QuestionToTranscriptMappingSchema(ma.Schema):
    """Which parts of the transcript belong to a script question."""

    script_question = ma.fields.String(required=True)
    transcript_item_indices = ma.fields.List(ma.fields.Integer(strict=True), required=True)
    start_timestamp = ma.fields.Float(required=True)
    end_timestamp = ma.fields.Float(required=True)
    transcript_items = ma.fields.List(ma.fields.Nested(BaseSegmentSchema), required=True)


class TextSchema(ma.Schema):
    """The fragment that ``transcript=text`` sends."""

    transcript = ma.fields.String(required=True)


class DetailsSchema(ma.Schema):
    """The fragment that only ``transcript=full`` sends."""

    transcript_with_timestamp = ma.fields.List(ma.fields.Nested(SegmentSchema), required=True)
    questions_to_transcript_mapping = ma.fields.List(ma.fields.Nested(QuestionToTranscriptMappingSchema), required=True)


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of processing: two fragments ready to be sent, and the small parts that pages read.

    ``used``: what the language model cost. ``criteria_id``: the version of the flow's own criteria in ``scores``.
    """

    text: Fragment
    details: Fragment
    summary: str | None
    scores: dict[str, float | None] | None
    evidence: dict[str, Any]
    format: int = FORMAT
    used: Used = field(default_factory=Used)
    criteria_id: str | None = None


def freeze_text(transcript: str) -> Fragment:
    """The text as a fragment ``,"transcript":…`` that continues an object."""
    return make_fragment(_following(TextSchema(), {"transcript": transcript}))


def freeze_details(
    segments: Sequence[Segment], chapters: Sequence[QuestionPart], *, duration: float | None
) -> Fragment:
    """Segments, words and mapping as a fragment. ValueError when they do not fit each other or the recording."""
    check_words(segments, duration)
    check_chapters(chapters, len(segments))
    items = [{"content": segment.content, "role": segment.role} for segment in segments]
    details = {
        "transcript_with_timestamp": [{**item, "words": _words(s)} for item, s in zip(items, segments, strict=True)],
        "questions_to_transcript_mapping": [
            {
                "script_question": chapter.question,
                "transcript_item_indices": list(chapter.indices),
                "start_timestamp": chapter.start,
                "end_timestamp": chapter.end,
                "transcript_items": [items[index] for index in chapter.indices],
            }
            for chapter in chapters
        ],
    }
    return make_fragment(_following(DetailsSchema(), details))


def _words(segment: Segment) -> list[dict[str, Any]]:
    return [{"word": word.word, "start": word.start, "end": word.end} for word in segment.words]


def _following(schema: ma.Schema, value: Mapping[str, Any]) -> bytes:
    wrong = schema.validate(value)
    if wrong:
        raise ValueError(f"the result does not match its published schema: {sorted(wrong)}")
    return b"," + orjson.dumps(value)[1:-1]


def check_words(segments: Sequence[Segment], duration: float | None) -> None:
    """Raise ValueError unless word times lie in the recording and rise within each segment."""
    for index, segment in enumerate(segments):
        last = 0.0
        for word in segment.words:
            if not last <= word.start <= word.end or (duration is not None and word.end > duration):
                raise ValueError(f"segment {index}: word times do not fit the recording")
            last = word.start


def check_chapters(chapters: Sequence[QuestionPart], segments: int) -> None:
    """Raise ValueError unless indices exist and rise, and times do not run backwards."""
    for number, chapter in enumerate(chapters):
        rising = sorted(set(chapter.indices)) == list(chapter.indices)
        if not rising or any(not 0 <= index < segments for index in chapter.indices):
            raise ValueError(f"question {number}: its segments do not exist or are not in order")
        if not 0 <= chapter.start <= chapter.end:
            raise ValueError(f"question {number}: its times run backwards")


def as_shown(text: Fragment, details: Fragment) -> dict[str, Any]:
    """What ``/v1`` sends, with each segment's words as the content writes them, for the interview's page.

    ``shown``: (text, start, end) of each word, with the part of the content that writes it. A word that the content
    writes together with the previous one has an empty text, and the previous one lasts until its end. ``texts``: the
    words to read, also where their times were not measured; corrections refer to them by index.
    """
    result: dict[str, Any] = orjson.loads(b"{" + (inflate(text) + inflate(details))[1:] + b"}")
    for segment in result["transcript_with_timestamp"]:
        words = segment["words"]
        texts = as_written(segment["content"], [word["word"] for word in words])
        segment["shown"] = _timed(texts, words)
        segment["texts"] = texts or segment["content"].split()
    return result


def _timed(texts: Sequence[str], words: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, float]]:
    shown: list[tuple[str, float, float]] = []
    end = 0.0
    for text, word in zip(reversed(texts), reversed(words), strict=True):
        end = max(end, word["end"])
        shown.append((text, word["start"], end if text else word["end"]))
        if text:
            end = 0.0
    return shown[::-1]
