"""Maps segments to script questions by their place in the script, follow-ups included."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.gateways.speech.ports import Segment


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One script question, its transcript indices, and the time from the first to the last of them.

    Words to the agent are included but change neither time. A question that was not reached has the times 0.0.
    """

    question_index: int
    question: str
    indices: tuple[int, ...]
    start: float
    end: float


def map_questions(questions: Sequence[str], segments: Sequence[Segment]) -> tuple[QuestionPart, ...]:
    """Every script question once, in order. ValueError if a segment names a question that the script does not have."""
    places: dict[int, list[int]] = {}
    for index, segment in enumerate(segments):
        if segment.question_index is None:
            continue
        if not 0 <= segment.question_index < len(questions):
            raise ValueError(f"segment {index} belongs to question {segment.question_index} of {len(questions)}")
        places.setdefault(segment.question_index, []).append(index)
    return tuple(
        _part(number, text, indices=places.get(number, []), segments=segments) for number, text in enumerate(questions)
    )


def _part(number: int, question: str, *, indices: list[int], segments: Sequence[Segment]) -> QuestionPart:
    counted = [segments[index] for index in indices if not segments[index].obeyed]
    first = min((segments[index].start for index in indices), default=0.0)
    start = min((segment.start for segment in counted), default=first)
    end = max((segment.end for segment in counted), default=first)
    return QuestionPart(number, question, tuple(indices), start, end)


def check(parts: Sequence[QuestionPart], segments: Sequence[Segment]) -> None:
    """Raise ValueError unless indices, times and segments agree with each other."""
    for part in parts:
        if list(part.indices) != sorted(set(part.indices)):
            raise ValueError(f"question {part.question_index}: indices are not in order")
        for index in part.indices:
            segment = segments[index]
            if segment.question_index != part.question_index:
                raise ValueError(f"question {part.question_index}: segment {index} belongs to another question")
            if not segment.obeyed and not part.start <= segment.start <= segment.end <= part.end:
                raise ValueError(f"question {part.question_index}: segment {index} lies outside its time")
