"""One turn of the agent: recognise the answer, let the script decide, speak. Slow; does not use the database.

A failing engine never loses an answer: without recognition the sound is stored and processed later, without a language
model there is no follow-up, without a voice the reply is text.
"""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from app.conversation import hearing, thinking
from app.conversation.hearing import Late
from app.conversation.script.command_recheck import second_look
from app.conversation.script.commands import confirmed, spoken_command
from app.conversation.script.machine import Event, Kind, Script, Step, noticed, step, taken_up
from app.conversation.script.manners import polite
from app.conversation.script.next_step import Decided, Statement
from app.conversation.script.patience import is_backchannel
from app.conversation.script.place import Phase, Place
from app.conversation.speaking import Part, speak
from app.core.errors import GatewayError
from app.gateways.language_model.scripted import ScriptInterviewer
from app.gateways.speech import believing, silence
from app.gateways.speech.ports import Heard, Interviewer, Speaker, Transcriber, Word

log = logging.getLogger(__name__)

LONGEST_COMMAND = 14
"""Voice chunks (7 s): a command of 4 s, and the silence around it."""
CHUNK_SECONDS = 0.5
SHORTEST_ANSWER = 1.0
"""Seconds of speech. Less of it, with words that cannot have been said in it, was a cough or a click."""


@dataclass(frozen=True, slots=True)
class Audio:
    """The sound of an answer, chunks ``first`` to ``last``, read from storage only as far as someone asks for it."""

    key: str
    first: int
    last: int
    pieces: Callable[[], Iterator[bytes]]

    def pcm(self) -> bytes:
        """All of it: 16 kHz, s16le, mono."""
        return b"".join(self.pieces())

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return CHUNK_SECONDS * (self.last + 1 - self.first)


def utterance_key(interview_id: str, *, turn: int, segment: int) -> str:
    """The recogniser's name for an answer while it is being spoken."""
    return f"{interview_id}/{turn}/{segment}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the candidate did: ``audio`` for a spoken answer, ``text`` for a typed one; ``time_over`` ends the talk.

    ``continues``: more of the answer before, begun before the reply to it was heard. ``unfinished``: a part of an
    answer that goes on in another way (typed after spoken, after a pause): kept, and nothing is said to it.
    ``recovered``: such a part from a page that was left; where it is no answer, the question is put again. ``cut`` is
    what was heard of the agent's last words where the candidate interrupted them (empty: all); ``heard`` the share of
    the script's question in them that was heard (None: they held none); ``documents`` text of the candidate's files.
    ``again``: of a "repeat", that the last answer is going to be said again.
    ``interrupts``: the agent's last words were cut off. ``awaited``: the previous turn's answer, posted again because
    its words or those of the reply were late; the agent does not ask for another moment. ``known`` are its words where
    the previous turn knew them.
    """

    kind: Literal["begin", "answer", "text", "repeat", "skip", "end"]
    audio: Audio | None = None
    text: str = ""
    time_over: bool = False
    continues: bool = False
    unfinished: bool = False
    recovered: bool = False
    again: bool = False
    awaited: bool = False
    known: str | None = None
    interrupts: bool = False
    cut: str = ""
    heard: float | None = None
    documents: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What was understood. ``content`` is None if the sound is stored but not recognised yet."""

    event: Event
    content: str | None = None
    words: tuple[Word, ...] = ()
    engine: str | None = None
    confidence: float | None = None


@dataclass(slots=True)
class Timing:
    """Milliseconds spent on reading the sound, recognising, deciding, speaking."""

    collected: int = 0
    recognised: int = 0
    decided: int = 0
    spoken: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the agent says, where the talk stands then, and what it understood.

    ``wav`` is None for a silent reply; where the sound comes in pieces it is the first of them. ``obeyed``: what was
    said were words to the agent, which it follows or answers: no answer to any question. ``retakes``: where an answer
    that is given again was first begun, once it is whole; ``is_retake``: also while it is not.
    """

    step: Step
    kind: Kind | Literal["repeat", "kept"]
    parts: tuple[Part, ...]
    said: Said
    wav: bytes | None
    seconds: float
    engine: str | None
    is_answer: bool = False
    obeyed: bool = False
    is_retake: bool = False
    retakes: Place | None = None
    timing: Timing = field(default_factory=Timing)


@dataclass(frozen=True, slots=True)
class Engines:
    """What a turn works with. Without any of them the talk goes on still: for a turn that keeps crashing a process."""

    transcriber: Transcriber | None = None
    interviewer: Interviewer | None = None
    speaker: Speaker | None = None


def respond(script: Script, place: Place, answer: Answer, *, engines: Engines) -> Reply:
    """The agent's whole turn. Raises WrongMoment (see ``script.step``) and nothing else of its own."""
    timing = Timing()
    # Someone who writes an answer over the agent's words has read the question on the page.
    place = noticed(place, 1.0 if answer.kind == "text" and answer.heard is not None else answer.heard)
    said = _meant(script, place, _hear(script, place, answer, engines=engines, timing=timing))
    if answer.unfinished:
        said = _part(script, said, recovered=answer.recovered)
    meant = said.event
    if answer.continues:
        place, meant = taken_up(place, meant)
        said = said if said.event is Event.SILENCE else replace(said, event=meant)
    with _clocked(timing, "decided"):
        decided = _decided(script, place, answer, said=replace(said, event=meant), engines=engines)
    event = decided.event
    obeyed = event not in {Event.ANSWER, Event.PART, Event.LATE}
    is_answer = not obeyed and not answer.awaited
    if answer.unfinished and event is Event.SILENCE:
        event = Event.REPEAT if answer.recovered else Event.PART
    if answer.time_over and place.phase is Phase.QUESTION and event is not Event.PART:
        event = Event.END
    next_step = step(script, place, event, text=said.content or "", follow_up=decided.follow_up, aside=decided.aside)
    with _clocked(timing, "spoken"):
        lines = polite(script, place, event, decided=next_step).lines
        speech = speak(script, lines, engines.speaker, is_more=answer.awaited)
    again = event is Event.ASIDE and decided.aside is None
    kind = "repeat" if again else _kind(event, next_step)
    return Reply(
        next_step,
        kind,
        speech.parts,
        said,
        speech.wav,
        speech.seconds,
        speech.engine,
        is_answer,
        obeyed,
        is_retake=place.is_retake and not obeyed,
        retakes=place if place.is_retake and decided.event is Event.ANSWER else None,
        timing=timing,
    )


def _decided(script: Script, place: Place, answer: Answer, *, said: Said, engines: Engines) -> Decided:
    """What follows what was said: whatever it was, when the time is over the end does."""
    if said.event is not Event.ANSWER or not said.content or engines.interviewer is None or answer.time_over:
        return Decided(said.event)
    return thinking.decide(
        script,
        place,
        Statement(said.content, cut=answer.cut, documents=answer.documents),
        interviewer=engines.interviewer,
        key=_spoken_key(script, answer, engines.speaker),
        is_more=answer.awaited,
    )


def _kind(event: Event, reply: Step) -> Kind | Literal["repeat", "kept"]:
    if event is Event.LATE:
        return Kind.MOMENT
    if event in {Event.REPEAT, Event.AGAIN}:
        return "repeat"
    return reply.lines[0].kind if reply.lines else "kept"


def _spoken_key(script: Script, answer: Answer, speaker: Speaker | None) -> str | None:
    """The name of an answer whose reply can be heard in parts; one that is read is shown whole."""
    can_be_heard = answer.audio is not None and speaker is not None and speaker.supports(script.language)
    return answer.audio.key if answer.audio is not None and can_be_heard else None


# --- hearing ------------------------------------------------------------------------------------------------------


def _hear(script: Script, place: Place, answer: Answer, *, engines: Engines, timing: Timing) -> Said:
    transcriber = engines.transcriber
    if answer.kind == "text":
        return Said(spoken_command(answer.text, script.language) or Event.ANSWER, answer.text)
    if answer.kind != "answer" or answer.audio is None:
        return Said(Event.AGAIN if answer.again else Event(answer.kind))
    if transcriber is None or answer.known is not None:
        return Said(Event.ANSWER, answer.known)
    with _clocked(timing, "recognised"):
        heard = _recognise(script, answer, transcriber, may_go_on=_may_go_on(place, answer, engines.interviewer))
    with _clocked(timing, "collected"):
        recognised = heard if isinstance(heard, Heard) else None
        believed, is_silent = _believed(answer.audio, recognised, language=script.language)
    if is_silent:
        return Said(Event.SILENCE)
    if believed is None:
        return Said(Event.LATE if heard is Late.LATE else Event.ANSWER)
    heard = believed
    if not answer.unfinished and answer.audio.last - answer.audio.first < LONGEST_COMMAND:
        with _clocked(timing, "recognised"):
            heard = second_look(heard, answer.audio.pcm, place, language=script.language, transcriber=transcriber)
    command = spoken_command(heard.text, script.language)
    return Said(command or Event.ANSWER, heard.text, heard.words, heard.engine, heard.confidence)


def _meant(script: Script, place: Place, said: Said) -> Said:
    """What was said, where the agent has just asked whether the interview is to end."""
    is_open = place.stopping and said.event is Event.ANSWER and said.content
    answer = confirmed(said.content or "", script.language) if is_open else None
    return said if answer is None else replace(said, event=Event.END if answer else Event.REPEAT)


def _part(script: Script, said: Said, *, recovered: bool) -> Said:
    """A part of an answer. What an earlier page has left may be no answer at all: "mm-hm", or words to the agent."""
    if said.event is Event.SILENCE:
        return said
    if recovered and said.content is not None and is_backchannel(said.content, script.language):
        return Said(Event.SILENCE)
    is_command = said.event is not Event.ANSWER
    return replace(said, event=Event.REPEAT if recovered and is_command else Event.PART)


def _believed(audio: Audio, heard: Heard | None, *, language: str) -> tuple[Heard | None, bool]:
    """What was heard, unless it cannot have been said in this sound; and whether nothing was said at all.

    Engines write whole sentences for silence, coughs and clicks, so the voice detector is asked for each of them. If
    the engine has asked it, asking again would only delay the reply, by a fifth of a second.
    """
    if heard is not None and believing.was_measured(heard, language=language):
        return heard, False
    try:
        if not silence.has_speech(audio.pieces()):
            return None, True
        if heard is None or believing.can_be(heard.text, audio.pieces, seconds=audio.seconds, language=language):
            return heard, False
        spoken = silence.seconds_up_to(audio.pieces(), most=SHORTEST_ANSWER)
    except GatewayError as error:
        log.warning("sound of an answer could not be read now: %s", type(error).__name__)
        return heard, False
    log.warning("%s returned more words than fit into %.1f s of sound", heard.engine, audio.seconds)
    return None, spoken < SHORTEST_ANSWER


def _may_go_on(place: Place, answer: Answer, interviewer: Interviewer | None) -> bool:
    """Whether a long answer decides by its length alone what comes next: no model, no yes or no, nothing cut off."""
    has_model = interviewer is not None and interviewer.name != ScriptInterviewer.name
    return not (has_model or place.stopping or answer.interrupts)


def _recognise(script: Script, answer: Answer, transcriber: Transcriber, *, may_go_on: bool) -> Heard | Late | None:
    """The words; LATE where another moment may bring them; None where they are left to the processing."""
    audio = answer.audio
    if audio is None or not transcriber.supports(script.language):
        return None

    def recognise() -> Heard:
        return transcriber.finish(
            audio.key, first=audio.first, last=audio.last, language=script.language, pcm=audio.pcm
        )

    hearing.begin(audio.key, recognise)
    try:
        heard = hearing.words(audio.key, seconds=hearing.WAITS_MORE if answer.awaited else hearing.SOON)
        if heard is not Late.LATE:
            return heard
        if answer.awaited or (may_go_on and silence.has_speech(audio.pieces(), least=hearing.ENOUGH_SPEECH)):
            return None
        heard = hearing.words(audio.key, seconds=hearing.WAITS - hearing.SOON)
    except GatewayError as error:
        log.warning("answer could not be recognized now, will be recognized later: %s", type(error).__name__)
        return None
    is_left = heard is Late.LATE and (answer.unfinished or answer.time_over)
    return None if is_left else heard


class _clocked:  # noqa: N801 - used like a function
    """Adds the milliseconds of a block to one share of ``Timing``."""

    def __init__(self, timing: Timing, share: str) -> None:
        self._timing, self._share = timing, share

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        spent = round((time.perf_counter() - self._began) * 1000)
        setattr(self._timing, self._share, getattr(self._timing, self._share) + spent)
