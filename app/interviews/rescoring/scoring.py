"""Scores a stored transcript again: slow work on plain values, without database or Flask."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.gateways.language_model.usage import Used, counted
from app.gateways.speech.ports import Analyst, Segment, Word
from app.interviews.analysis.answers import Evidence, score
from app.interviews.highlights import obeyed_in
from app.interviews.processing import Talk, brief_of


@dataclass(frozen=True, slots=True)
class Scoring:
    """New scores with their evidence, the engine that made them, and what it cost."""

    evidence: tuple[Evidence, ...]
    source: str
    used: Used


def score_again(
    talk: Talk, result: Mapping[str, Any], evidence: Mapping[str, Any] | None, *, analyst: Analyst
) -> Scoring:
    """Score a transcript as it was published (``result`` as ``/v1`` sends it) with the engine of today.

    ``evidence`` of the result says which of its words were addressed to the agent. Raises GatewayError.
    """
    with counted() as used:
        made = score(brief_of(talk), segments_of(result, evidence), analyst=analyst)
    return Scoring(made, analyst.name, used)


def segments_of(result: Mapping[str, Any], evidence: Mapping[str, Any] | None) -> tuple[Segment, ...]:
    """The published transcript as it was analysed."""
    questions = {
        index: number
        for number, chapter in enumerate(result["questions_to_transcript_mapping"])
        for index in chapter["transcript_item_indices"]
    }
    obeyed = obeyed_in(evidence)
    return tuple(
        _segment(one, question=questions.get(index), is_obeyed=index in obeyed)
        for index, one in enumerate(result["transcript_with_timestamp"])
    )


def _segment(item: Mapping[str, Any], *, question: int | None, is_obeyed: bool) -> Segment:
    words = tuple(Word(one["word"], one["start"], one["end"]) for one in item["words"])
    start, end = (words[0].start, words[-1].end) if words else (0.0, 0.0)
    return Segment(item["role"], item["content"], words, start, end, question_index=question, obeyed=is_obeyed)
