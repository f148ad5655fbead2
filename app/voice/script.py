"""The interview as a state machine: intro, questions with their follow-ups, outro.

Pure: it knows neither transport nor engines nor rows. An engine may only supply the words of a follow-up; how many
there may be, what comes next and when it ends is decided here, so a turn-based and a streaming transport can share it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    """Where the talk stands."""

    INTRO = "intro"
    QUESTION = "question"
    OUTRO = "outro"
    FINISHED = "finished"


class Event(StrEnum):
    """What can happen in it.

    THINK: the candidate wants a moment. ASIDE: the agent says something else and comes back to the open question.
    LATE: something was said whose words are not known yet; the agent asks for a moment.
    STOP: the candidate said that they want to end; the agent asks whether it heard right. END: they confirmed it, or
    pressed the button.
    """

    BEGIN = "begin"
    ANSWER = "answer"
    SILENCE = "silence"
    REPEAT = "repeat"
    SKIP = "skip"
    THINK = "think"
    ASIDE = "aside"
    STOP = "stop"
    END = "end"
    PART = "part"
    LATE = "late"


class Kind(StrEnum):
    """What a line of the agent is for."""

    INTRO = "intro"
    QUESTION = "question"
    FOLLOW_UP = "follow_up"
    OUTRO = "outro"
    NOT_HEARD = "not_heard"
    WAIT = "wait"
    MOMENT = "moment"
    THINK = "think"
    REPLY = "reply"
    PASS_ON = "pass_on"
    SURE = "sure"


MOST_ASIDES = 3
"""How often an interviewer may turn away from one question before what is said counts as its answer."""


class WrongMoment(Exception):
    """The event cannot happen in this phase."""


@dataclass(frozen=True, slots=True)
class Script:
    """The flow as it was frozen when the interview began. ``seconds`` is the time limit of the talk."""

    questions: tuple[str, ...]
    seconds: float
    intro: str | None = None
    outro: str | None = None
    language: str = "en-US"
    voice_id: str | None = None
    follow_up_limit: int = 1
    title: str = ""
    org_name: str = ""
    additional_info: str | None = None
    additional_instructions: str | None = None

    @classmethod
    def of(cls, frozen: Mapping[str, Any], *, minutes: int) -> "Script":
        """From the snapshot of the flow; ``minutes`` is the limit where the flow sets none."""
        return cls(
            questions=tuple(frozen["questions"]), seconds=60.0 * (frozen.get("time_limit_minutes") or minutes),
            intro=frozen.get("intro"), outro=frozen.get("outro"), language=frozen.get("language") or "en-US",
            voice_id=frozen.get("voice_id"), follow_up_limit=frozen.get("follow_up_limit") or 0,
            title=frozen.get("title") or "", org_name=frozen.get("org_name") or "",
            additional_info=frozen.get("additional_info"),
            additional_instructions=frozen.get("additional_instructions"),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the script, complete: with it and the script alone the talk can go on anywhere.

    ``asked`` are the follow-ups put to the open question, ``said`` everything answered to it so far,
    ``silences`` how often in a row nothing was heard, ``asides`` how often the agent turned away from the question;
    ``stopping``: the candidate was asked whether the interview is to end. ``former`` is the place before the last
    answer, with that answer in ``said``: a candidate who only paused for breath may go on there. It is no part of
    where the talk stands now.
    """

    phase: Phase = Phase.INTRO
    question: int = 0
    asked: tuple[str, ...] = ()
    said: str = ""
    silences: int = 0
    asides: int = 0
    stopping: bool = False
    former: Mapping[str, Any] | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """As a row keeps it."""
        return {**asdict(self), "phase": self.phase.value, "asked": list(self.asked)}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Place":
        """Back from the row."""
        return cls(
            phase=Phase(kept["phase"]), question=kept["question"], asked=tuple(kept["asked"]), said=kept["said"],
            silences=kept["silences"], asides=kept.get("asides", 0), stopping=kept.get("stopping", False),
            former=kept.get("former"),
        )  # fmt: skip

    @property
    def question_index(self) -> int | None:
        """The open script question; None outside of the questions."""
        return self.question if self.phase is Phase.QUESTION else None


@dataclass(frozen=True, slots=True)
class Line:
    """One thing the agent says. ``text`` is None where the language's fixed phrase for ``kind`` is meant."""

    kind: Kind
    text: str | None = None
    question_index: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Where the talk stands after an event, and what the agent says."""

    place: Place
    lines: tuple[Line, ...]

    @property
    def expects(self) -> str:
        """What the candidate does next: ``answer``, or ``finish`` after the outro."""
        return "answer" if self.place.phase is Phase.QUESTION else "finish"


def may_follow_up(script: Script, place: Place) -> bool:
    """Whether another follow-up to the open question is allowed."""
    return place.phase is Phase.QUESTION and len(place.asked) < script.follow_up_limit


def may_turn_aside(place: Place) -> bool:
    """Whether the agent may say something else and come back: bounded, so that the script always goes on."""
    return place.phase is Phase.QUESTION and place.asides < MOST_ASIDES


def open_line(script: Script, place: Place) -> Line:
    """What the candidate is being asked at this place."""
    if place.phase is not Phase.QUESTION:
        raise WrongMoment(f"no question is open in the phase {place.phase.value}")
    if place.asked:
        return Line(Kind.FOLLOW_UP, place.asked[-1], place.question)
    return Line(Kind.QUESTION, script.questions[place.question], place.question)


def answered(place: Place, text: str) -> str:
    """Everything said to the open question when ``text`` is added."""
    return "\n".join(part for part in (place.said, text) if part)


def step(
    script: Script,
    place: Place,
    event: Event,
    *,
    text: str = "",
    follow_up: str | None = None,
    aside: Line | None = None,
) -> Step:
    """The one transition. ``text`` is what was answered; ``follow_up`` and ``aside`` (what is said before the open
    question is put again) are used only where one is allowed.

    Raises WrongMoment for an event that the phase does not know: nothing but BEGIN opens, nothing follows the outro
    (except that it is said again to somebody who began to speak at its first words and then had nothing to say).
    """
    if event is Event.REPEAT and place.phase is Phase.OUTRO and place.former:
        return _close(script, place)
    if (event is Event.BEGIN) != (place.phase is Phase.INTRO) or place.phase in {Phase.OUTRO, Phase.FINISHED}:
        raise WrongMoment(f"{event.value} cannot happen in the phase {place.phase.value}")
    if event is Event.BEGIN:
        return _begin(script)
    if event is Event.END or (event is Event.STOP and place.stopping):
        return _close(script, place)
    place = replace(place, stopping=event is Event.STOP or (event is Event.LATE and place.stopping))
    if event is Event.SKIP:
        return _next(script, place)
    if event is Event.ANSWER or (event is Event.ASIDE and not may_turn_aside(place)):
        return _answer(script, place, text, follow_up=follow_up)
    return _stay(script, place, event, text=text, aside=aside)


def _stay(script: Script, place: Place, event: Event, *, text: str, aside: Line | None) -> Step:
    """What leaves the question open: said again, waited for, turned away from and back."""
    at = place.question
    if event is Event.PART:  # a part of an answer: kept, and nothing is said
        return Step(replace(place, said=answered(place, text), silences=0, former=None), ())
    if event is Event.SILENCE:
        return _silence(script, place)
    if event is Event.THINK:  # the next silence is no surprise
        held = replace(place, silences=1, asides=place.asides + 1, former=None)
        return Step(held, (Line(Kind.THINK, question_index=at),))
    if event in {Event.STOP, Event.LATE}:
        kind = Kind.SURE if event is Event.STOP else Kind.MOMENT
        return Step(replace(place, silences=0, former=None), (Line(kind, question_index=at),))
    if event is Event.ASIDE:
        before = (aside,) if aside else ()
        back = replace(place, silences=0, asides=place.asides + 1, former=None)
        return Step(back, (*before, open_line(script, back)))
    return Step(replace(place, silences=0), (open_line(script, place),))


def finish(place: Place) -> Place:
    """The candidate has heard the outro and everything has arrived."""
    if place.phase not in {Phase.OUTRO, Phase.FINISHED}:
        raise WrongMoment(f"the interview cannot be finished in the phase {place.phase.value}")
    return Place(Phase.FINISHED, place.question)


def _begin(script: Script) -> Step:
    intro = (Line(Kind.INTRO, script.intro),) if script.intro else ()
    first = _ask(script, 0)
    return Step(first.place, intro + first.lines)


def _answer(script: Script, place: Place, text: str, *, follow_up: str | None) -> Step:
    said = answered(place, text)
    reply = _next(script, place)
    if follow_up and may_follow_up(script, place):
        asked = Place(Phase.QUESTION, place.question, (*place.asked, follow_up), said, asides=place.asides)
        reply = Step(asked, (open_line(script, asked),))
    former = replace(place, said=said, silences=0, former=None).to_json()
    return Step(replace(reply.place, former=former), reply.lines)


def taken_up(place: Place, event: Event) -> tuple[Place, Event]:
    """Where ``event`` belongs when the candidate went on speaking before the reply to the last answer was heard.

    More of the answer continues it at its own question, which is also the one to repeat or to think about. Anything
    else (a cough, too little to understand, "next question") was no continuation: the reply that nobody heard is
    given again.
    """
    if place.former is None or (event in {Event.END, Event.STOP} and place.phase is Phase.QUESTION):
        return place, event
    if event in {Event.ANSWER, Event.REPEAT, Event.THINK, Event.PART, Event.LATE}:
        return Place.from_json(place.former), event
    return place, Event.REPEAT


def _next(script: Script, place: Place) -> Step:
    return _ask(script, place.question + 1)


def _ask(script: Script, question: int) -> Step:
    if question >= len(script.questions):
        return _close(script, Place(question=len(script.questions)))
    asked = Place(Phase.QUESTION, question)
    return Step(asked, (open_line(script, asked),))


def _close(script: Script, place: Place) -> Step:
    return Step(Place(Phase.OUTRO, place.question), (Line(Kind.OUTRO, script.outro),))


def _silence(script: Script, place: Place) -> Step:
    # Silence asks once and then only waits: the candidate or the time limit ends an interview, nothing else does.
    waiting = replace(place, silences=place.silences + 1, former=None)
    if place.silences == 0:
        return Step(waiting, (Line(Kind.NOT_HEARD, question_index=place.question), open_line(script, place)))
    return Step(waiting, (Line(Kind.WAIT, question_index=place.question),))
