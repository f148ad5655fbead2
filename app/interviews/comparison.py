"""Candidates of one flow side by side: each one's answer to a question, and the scores it supports. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.flows.criteria import Criterion

LABELS = {
    "communication": "Communication",
    "motivation": "Motivation",
    "skills": "Skills",
    "language_vocabulary_and_expression": "Vocabulary and expression",
    "language_grammar_and_structure": "Grammar and structure",
    "language_fluency_and_pace": "Fluency and pace",
    "language_comprehension": "Comprehension",
}


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of an answer that support a score."""

    label: str
    score: float
    text: str
    criterion: Criterion | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One candidate's answer to one question: (role, words) in order, without the question itself.

    ``start`` and ``end`` are seconds of the recording, None where they were not measured.
    """

    said: tuple[tuple[str, str], ...]
    start: float | None
    end: float | None
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """The parts of one candidate's result that are compared. ``segments`` and ``chapters`` as in ``result_of``.

    ``criteria`` are the flow's own. ``obeyed`` are indices of segments that were addressed to the agent.
    """

    segments: Sequence[Mapping[str, Any]]
    chapters: Sequence[Mapping[str, Any]]
    scores: Mapping[str, float | None]
    evidence: Mapping[str, Any]
    obeyed: frozenset[int] = frozenset()
    criteria: Sequence[Criterion] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A question, and for each candidate the answer or the reason why there is none."""

    question: str
    cells: tuple[Answer | str, ...]


NO_RESULT = "No result yet"
NOT_ASKED = "Not asked in this interview"
NOT_REACHED = "Not reached"
NO_ANSWER = "No answer"


def rows_of(columns: Sequence[Compared | None]) -> list[Row]:
    """A row for each question that was asked, in the order of the candidate with the most questions.

    Flows change between interviews, so questions are matched by their words and not by their number.
    """
    by_column = [_by_words(one.chapters) if one else {} for one in columns]
    order: dict[tuple[str, int], str] = {}
    for chapters in sorted(by_column, key=len, reverse=True):
        for key, chapter in chapters.items():
            order.setdefault(key, chapter["script_question"])
    return [
        Row(words, tuple(_cell(one, chapters.get(key)) for one, chapters in zip(columns, by_column, strict=True)))
        for key, words in order.items()
    ]


def _by_words(chapters: Iterable[Mapping[str, Any]]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Chapters by the question's words and by how often the same words came before."""
    by_words: dict[tuple[str, int], Mapping[str, Any]] = {}
    for chapter in chapters:
        words = " ".join(chapter["script_question"].casefold().split())
        time = sum(1 for other, _ in by_words if other == words)
        by_words[words, time] = chapter
    return by_words


def _cell(column: Compared | None, chapter: Mapping[str, Any] | None) -> Answer | str:
    if column is None:
        return NO_RESULT
    if chapter is None:
        return NOT_ASKED
    places = chapter["transcript_item_indices"]
    if not places:
        return NOT_REACHED
    own = [at for at in places if column.segments[at]["role"] == "user" and at not in column.obeyed]
    if not own:
        return NO_ANSWER
    there = [column.segments[at] for at in places if own[0] <= at <= own[-1] and at not in column.obeyed]
    said = tuple((one["role"], one["content"]) for one in there)
    timed = [word for one in there for word in one["shown"]]
    start, end = (timed[0][1], timed[-1][2]) if timed else (None, None)
    return Answer(said, start, end, tuple(_quotes(column, frozenset(places))))


def _quotes(column: Compared, places: frozenset[int]) -> Iterable[Quote]:
    own = {one.key: one for one in column.criteria}
    for name, label in [*((key, one.name) for key, one in own.items()), *LABELS.items()]:
        score = column.scores.get(name)
        for quote in (column.evidence.get(name) or {}).get("quotes") or () if score is not None else ():
            if quote["segment_index"] in places and score is not None:
                yield Quote(label, score, quote["text"], own.get(name))
