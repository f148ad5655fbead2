"""The transcript as a table: one row per utterance, with its question. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.web.csv import BEGINNING, line

COLUMNS = ("number", "question_number", "question", "speaker", "start_seconds", "end_seconds", "text", "corrections")
SPEAKERS = {"agent": "Agent", "user": "Candidate"}


def as_csv(export: Mapping[str, Any]) -> Iterator[str]:
    """Header and rows (RFC 4180, UTF-8 with a byte order mark); each question that was not reached has its own row."""
    questions: dict[int, tuple[int, str]] = {}
    for number, answer in enumerate(export["answers"], 1):
        questions |= dict.fromkeys(answer["segments"], (number, answer["question"]))
    yield BEGINNING + line(COLUMNS)
    for at, one in enumerate(export["transcript"]):
        corrections = "; ".join(
            f"“{mark['words']}” to “{mark['suggestion']}”{'' if mark['is_accepted'] else ' (not accepted yet)'}"
            for mark in one["corrections"]
        )
        said = (SPEAKERS.get(one["role"], one["role"]), one["start"], one["end"], one["content"])
        yield line([at + 1, *questions.get(at, (None, None)), *said, corrections])
    for number, answer in enumerate(export["answers"], 1):
        if not answer["is_reached"]:
            yield line([None, number, answer["question"], None, None, None, None, None])
