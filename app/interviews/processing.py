"""From what was said to the published result: recognise what is still missing, lay it out, analyse, freeze.

Slow work on plain values: no database, no Flask; engines are arguments.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.analysis.answers import Analysis, Brief, analyse
from app.interviews.data import Chapter, Result, freeze_details, freeze_text
from app.interviews.transcript import TurnValue, as_text, lay_out
from app.speech.ports import SPEECH_RATE, Analyst, Segment, Transcriber

__all__ = ["NotRecognised", "Result", "Talk", "TurnValue", "process"]

Samples = Callable[[int, float, float], bytes]
"""The candidate's voice of a recorder run from one time to another (seconds on its clock): s16le, 16 kHz, mono."""


class NotRecognised(Exception):
    """Something was said in a language that no engine understands; it waits for one."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One interview as plain values. ``offsets``: seconds to add to each turn's times, by its number.

    ``script`` is the frozen snapshot of the flow; ``duration`` the length of the recording, None without one.
    """

    script: Mapping[str, Any]
    turns: tuple[TurnValue, ...]
    offsets: Mapping[int, float] = field(default_factory=dict)
    duration: float | None = None


def process(talk: Talk, *, transcriber: Transcriber, analyst: Analyst, samples: Samples) -> Result:
    """The result of the interview. NotRecognised when answers have no text and no engine can give one."""
    turns = with_text(talk, transcriber=transcriber, samples=samples)
    segments = lay_out(turns, offsets=talk.offsets, duration=talk.duration)
    analysis = analyse(_brief(talk.script), segments, analyst=analyst)
    chapters = [
        Chapter(part.question, tuple(part.indices), part.start, part.end) for part in analysis.mapping
    ]  # fmt: skip
    return Result(
        text=freeze_text(as_text(segments)),
        details=freeze_details(segments, chapters, duration=talk.duration),
        summary=analysis.summary,
        scores=_scores(analysis),
        evidence=_evidence(analysis, turns, segments),
    )


def with_text(talk: Talk, *, transcriber: Transcriber, samples: Samples) -> tuple[TurnValue, ...]:
    """The turns, with the candidate's answers recognised that are not yet."""
    missing = [turn for turn in talk.turns if turn.role == "user" and turn.content is None and turn.start is not None]
    language = talk.script["language"]
    if missing and not transcriber.supports(language):
        raise NotRecognised
    heard = {turn.number: _recognised(turn, language, transcriber=transcriber, samples=samples) for turn in missing}
    return tuple(heard.get(turn.number, turn) for turn in talk.turns)


def _recognised(turn: TurnValue, language: str, *, transcriber: Transcriber, samples: Samples) -> TurnValue:
    start, end = turn.start or 0.0, turn.end or 0.0
    pcm = samples(turn.segment or 0, start, end)
    understood = transcriber.transcribe(pcm, rate=SPEECH_RATE, language=language)
    words = tuple((word.word, start + word.start, start + word.end) for word in understood.words)
    return replace(turn, content=understood.text, words=words or None, engine=understood.engine)
