"""From utterances to the published result: recognise missing text, place it in time, analyse, freeze.

Slow work on plain values, without database or Flask. Engines are arguments.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.flows.criteria import Criterion
from app.flows.flow_script import FlowScript
from app.gateways.language_model.usage import counted
from app.gateways.speech import believing
from app.gateways.speech.ports import SPEECH_RATE, Analyst, OwnCriterion, Segment, Transcriber
from app.interviews.analysis.answers import NO_ONE, Brief, Known, analyse
from app.interviews.published_result import Result, freeze_details, freeze_text
from app.interviews.transcript import TurnValue, as_text, lay_out

__all__ = ["NO_ONE", "Known", "NotRecognised", "Result", "Talk", "TurnValue", "process"]

Samples = Callable[[int, float, float], bytes]
"""Returns the candidate's voice of a recorder run between two times (seconds on its clock): s16le, 16 kHz, mono."""

SILENT = "The candidate did not say anything, so there is nothing to summarize or score."
"""Fixed text instead of a model's summary."""


class NotRecognised(Exception):
    """No configured engine recognises the language of an answer; processing waits for one."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One interview as plain values.

    ``offsets``: seconds to add to each turn's times, by its number; ``ends``: where its recorder run ends.
    ``script``: the snapshot of the flow; ``duration``: seconds of the recording, None without one;
    ``abandoned``: the candidate left before the end; ``documents``: the extracted text of the files they added;
    ``known``: names and email addresses of the candidate's record, which no language model sees;
    ``criteria``: the flow's own, in the version ``criteria_id``.
    """

    script: FlowScript
    turns: tuple[TurnValue, ...]
    offsets: Mapping[int, float] = field(default_factory=dict)
    ends: Mapping[int, float] = field(default_factory=dict)
    duration: float | None = None
    abandoned: bool = False
    documents: tuple[str, ...] = ()
    known: Known = NO_ONE
    criteria: tuple[Criterion, ...] = ()
    criteria_id: str | None = None


def process(talk: Talk, *, transcriber: Transcriber, analyst: Analyst, samples: Samples) -> Result:
    """The result of the interview. NotRecognised when answers have no text and no engine supports the language."""
    turns = with_text(talk, transcriber=transcriber, samples=samples)
    segments = lay_out(turns, offsets=talk.offsets, ends=talk.ends, duration=talk.duration)
    with counted() as used:
        analysis = analyse(brief_of(talk), segments, analyst=analyst)
    silent = not any(segment.is_answer for segment in segments)
    evidence = {**analysis.evidence_json(), "speech": _speech(turns, segments)}
    if used.calls:
        evidence["model"] = asdict(used)
    return Result(
        text=freeze_text(as_text(segments)),
        details=freeze_details(segments, analysis.mapping, duration=talk.duration),
        summary=SILENT if silent else analysis.summary,
        scores=analysis.values(),
        evidence={**evidence, "summary": {"source": None}} if silent else evidence,
        used=used,
        criteria_id=talk.criteria_id,
    )


def brief_of(talk: Talk) -> Brief:
    """The context that the analysis gets besides the transcript."""
    script = talk.script
    return Brief(
        questions=script.questions,
        language=script.language,
        title=script.title,
        org_name=script.org_name,
        additional_info=script.additional_info,
        assess_language=script.assess_language,
        abandoned=talk.abandoned,
        documents=talk.documents,
        known=talk.known,
        criteria=tuple(OwnCriterion(one.key, one.name, one.good, one.is_yes_no) for one in talk.criteria),
    )


def _speech(turns: Sequence[TurnValue], segments: Sequence[Segment]) -> dict[str, Any]:
    """How the candidate's answers were recognised, for readers of the result."""
    answers = [turn for turn in turns if turn.role == "user" and not turn.obeyed]
    return {
        "recognised_by": sorted({turn.engine for turn in answers if turn.engine and not turn.typed}),
        "typed": sum(turn.typed for turn in answers),
        "answers": len(answers),
        "without_word_times": sum(not s.words for s in segments if s.is_answer),
        "obeyed": [index for index, s in enumerate(segments) if s.obeyed],
        "retakes": {str(index): s.retake for index, s in enumerate(segments) if s.retake},
    }


def with_text(talk: Talk, *, transcriber: Transcriber, samples: Samples) -> tuple[TurnValue, ...]:
    """The turns, with the missing text of answers recognised."""
    missing = [turn for turn in talk.turns if turn.role == "user" and turn.content is None and turn.start is not None]
    language = talk.script.language
    if missing and not transcriber.supports(language):
        raise NotRecognised
    heard = {turn.number: _recognised(turn, language, transcriber=transcriber, samples=samples) for turn in missing}
    return tuple(heard.get(turn.number, turn) for turn in talk.turns)


def _recognised(turn: TurnValue, language: str, *, transcriber: Transcriber, samples: Samples) -> TurnValue:
    start, end = turn.start or 0.0, turn.end or 0.0
    pcm = samples(turn.segment or 0, start, end)
    understood = transcriber.transcribe(pcm, rate=SPEECH_RATE, language=language)
    if not believing.is_said(understood, pcm, language=language):
        return replace(turn, content="", engine=understood.engine)
    words = tuple((word.word, start + word.start, start + word.end) for word in understood.words)
    return replace(turn, content=understood.text, words=words or None, engine=understood.engine)
