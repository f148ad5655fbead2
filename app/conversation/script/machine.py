"""The interview as a state machine: intro, questions with their follow-ups, outro.

Pure: it knows neither transport nor engines nor rows. An engine may only supply the words of a follow-up; how many
there may be, what comes next and when it ends is decided here, so a turn-based and a streaming transport can share it.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from app.conversation.script.place import Phase, Place
from app.flows.flow_script import FlowScript
from app.flows.length import minutes_left


class Event(StrEnum):
    """What can happen in it.

    THINK: the candidate wants a moment. ASIDE: the agent says something else and comes back to the open question.
    LATE: something was said to which there is no whole reply yet, as its words or those of the reply are not known; the
    agent asks for a moment, or begins with what it has.
    HELLO: they ask whether they are heard, THERE: whether anyone is there, WHO: who is speaking, LONG: how long it
    takes; the agent says so and puts the question again.
    AGAIN: they want to say their last answer again.
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
    HELLO = "hello"
    THERE = "there"
    WHO = "who"
    LONG = "long"
    STOP = "stop"
    END = "end"
    PART = "part"
    LATE = "late"
    AGAIN = "again"


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
    HERE = "here"
    THERE = "there"
    WHO = "who"
    LONG = "long"
    WHOLE = "whole"
    ACKNOWLEDGE = "acknowledge"
    GREETING = "greeting"
    NAME = "name"
    BRIDGE = "bridge"


ENOUGH = 0.6
"""The share of a question's sound that has to be heard; below it, the question counts as not asked."""
BEGUN = 0.1
"""The share from which on a question that was put again was begun, and not just announced."""
_REPLIES = {Event.HELLO: Kind.HERE, Event.THERE: Kind.THERE, Event.WHO: Kind.WHO, Event.LONG: Kind.LONG}
_TO_THE_AGENT = frozenset((Event.END, Event.STOP, *_REPLIES))
MOST_ASIDES = 3
"""How often an interviewer may turn away from one question before what is said counts as its answer."""


class WrongMoment(Exception):
    """The event cannot happen in this phase."""


@dataclass(frozen=True, slots=True)
class Script:
    """The flow as it was frozen when the interview began. ``seconds`` is the talk's time limit, ``voice`` its voice.

    ``name`` is how the candidate is addressed (None: not by name); ``seed`` chooses among sentences that mean the same.
    """

    questions: tuple[str, ...]
    seconds: float
    intro: str | None = None
    outro: str | None = None
    language: str = "en-US"
    voice_id: str | None = None
    voice: str | None = None
    follow_up_limit: int = 1
    may_say_again: bool = False
    title: str = ""
    org_name: str = ""
    additional_info: str | None = None
    is_background_private: bool = False
    additional_instructions: str | None = None
    name: str | None = None
    seed: str = ""

    @classmethod
    def of(cls, flow: FlowScript, *, minutes: int, name: str | None = None, seed: str = "") -> "Script":
        """``minutes`` is the limit where the flow sets none."""
        return cls(
            questions=flow.questions,
            seconds=60.0 * (flow.time_limit_minutes or minutes),
            intro=flow.intro,
            outro=flow.outro,
            language=flow.language,
            voice_id=flow.voice_id,
            voice=flow.voice,
            follow_up_limit=flow.follow_up_limit or 0,
            may_say_again=flow.may_say_again,
            title=flow.title,
            org_name=flow.org_name,
            additional_info=flow.additional_info,
            is_background_private=flow.is_background_private,
            additional_instructions=flow.additional_instructions,
            name=name,
            seed=seed,
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One thing the agent says. ``text`` is None where the language's fixed phrase for ``kind`` is meant.

    ``minutes`` is what that phrase may have to know: how many are left.
    """

    kind: Kind
    text: str | None = None
    question_index: int | None = None
    minutes: int = 0


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
    """Whether another follow-up to the open question is allowed: not before the question itself was heard."""
    return place.phase is Phase.QUESTION and is_asked(place) and len(place.asked) < script.follow_up_limit


def noticed(place: Place, share: float | None) -> Place:
    """The place when ``share`` (0..1) of the open question's sound was heard this time; None: it was not said.

    A question that was put again counts as such only if its beginning was heard, not just the words that announce it.
    """
    if share is None or place.phase is not Phase.QUESTION:
        return place
    again = place.again and (share >= BEGUN or not may_turn_aside(place))
    return replace(place, heard=max(share, place.heard or 0.0), again=again)


def is_asked(place: Place) -> bool:
    """Whether the open question was heard far enough to be answered, or was put again since it was not."""
    return place.again or _is_heard(place)


def _is_heard(place: Place) -> bool:
    return place.heard is None or place.heard >= ENOUGH


def may_turn_aside(place: Place) -> bool:
    """Whether the agent may say something else and come back: bounded, so that the script always goes on."""
    return place.phase is Phase.QUESTION and place.asides < MOST_ASIDES


def last_answer(script: Script, place: Place) -> str | None:
    """The last answer where it may be said again, empty if its words are not known; else None.

    Until something else is said, and once for each question.
    """
    former = Place.from_json(place.former) if script.may_say_again and place.former else None
    return None if former is None or former.retake is not None else so_far(place)


def so_far(place: Place) -> str:
    """The words of the last answer, with all of its parts; empty where they are not known."""
    former = Place.from_json(place.former) if place.former else Place()
    return former.said.removeprefix(former.earlier).strip()


def open_line(script: Script, place: Place) -> Line:
    """What the candidate is being asked at this place."""
    if place.phase is not Phase.QUESTION:
        raise WrongMoment(f"no question is open in the phase {place.phase.value}")
    if place.asked:
        return Line(Kind.FOLLOW_UP, place.asked[-1], place.question)
    return Line(Kind.QUESTION, script.questions[place.question], place.question)


def _once_more(script: Script, place: Place) -> tuple[Line, ...]:
    """What is said when the open question is put again: the script's question, and the follow-up that is open."""
    question = Line(Kind.QUESTION, script.questions[place.question], place.question)
    return (question, open_line(script, place)) if place.asked else (question,)


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
    (except that it is said again to a candidate who began to speak at its first words and then had nothing to say).
    """
    back = _back(script, place, event)
    if back is not None:
        return back
    if event is Event.AGAIN:
        event = Event.REPEAT  # something else was said since, or it was said again already
    if (event is Event.BEGIN) != (place.phase is Phase.INTRO) or place.phase in {Phase.OUTRO, Phase.FINISHED}:
        raise WrongMoment(f"{event.value} cannot happen in the phase {place.phase.value}")
    if event is Event.BEGIN:
        return _begin(script)
    if event is Event.END or (event is Event.STOP and place.stopping):
        return _close(script, place)
    place = replace(place, began=None, stopping=event is Event.STOP or (event is Event.LATE and place.stopping))
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
        waiting = replace(place, silences=1, asides=place.asides + 1, former=None)
        return Step(waiting, (Line(Kind.THINK, question_index=at),))
    if event in {Event.STOP, Event.LATE}:
        waiting = replace(place, silences=0, former=None)
        sure = Step(waiting, (Line(Kind.SURE, question_index=at),))
        return sure if event is Event.STOP else _begin_reply(waiting, text, beginning=aside)
    if event is Event.ASIDE and aside:
        back = replace(place, silences=0, asides=place.asides + 1, former=None)
        return Step(back, (aside, open_line(script, back)))
    asides = place.asides + int(event is Event.ASIDE)
    back = replace(place, silences=0, asides=asides, former=place.former if event is Event.REPEAT else None)
    minutes = minutes_left(len(script.questions) - at, most=script.seconds / 60) if event is Event.LONG else 0
    reply = (Line(_REPLIES[event], question_index=at, minutes=minutes),) if event in _REPLIES else ()
    return Step(back, (*reply, *_once_more(script, back)))


def _begin_reply(place: Place, text: str, *, beginning: Line | None) -> Step:
    """The first words of a reply whose rest is to come. A candidate who goes on speaking continues ``text``."""
    waiting = replace(place, former=replace(place, said=answered(place, text)).to_json() if text else None)
    if beginning is None:
        return Step(waiting, (Line(Kind.MOMENT, question_index=place.question),))
    began = (beginning.kind.value, beginning.text or "")
    return Step(replace(waiting, began=began), (replace(beginning, kind=Kind.REPLY),))  # not yet a follow-up either


def _back(script: Script, place: Place, event: Event) -> Step | None:
    """Back to the last answer's question, without that answer; it counts until another one is given.

    Or back to the goodbye, for a candidate who wants to hear it. None: neither.
    """
    if event is Event.AGAIN and last_answer(script, place) is not None:
        former = Place.from_json(place.former or {})
        open_again = replace(former, said=former.earlier, retake=len(former.asked), silences=0, former=None)
        return Step(open_again, _once_more(script, open_again))
    if event in {Event.REPEAT, Event.AGAIN} and place.phase is Phase.OUTRO and place.former:
        again = _close(script, place)
        return Step(replace(again.place, former=place.former), again.lines)  # what is said now may still belong to it
    return None


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
    if not is_asked(place):
        # A question of which nothing was heard is not put again: this is its first time, unless it goes on forever.
        begun = (place.heard or 0.0) >= BEGUN or place.asides + 1 >= MOST_ASIDES
        once_more = replace(place, said=said, asides=place.asides + 1, heard=None, again=begun, silences=0)
        whole = replace(once_more, stopping=False, former=None)
        reply = Step(whole, (Line(Kind.WHOLE, question_index=place.question), *_once_more(script, whole)))
    elif follow_up and may_follow_up(script, place):
        asked = (*place.asked, follow_up)
        with_follow_up = replace(place, asked=asked, said=said, earlier=said, opened=None, silences=0, former=None)
        reply = Step(with_follow_up, (open_line(script, with_follow_up),))
    former = replace(place, said=said, silences=0, former=None).to_json()
    return Step(replace(reply.place, former=former), reply.lines)


def taken_up(place: Place, event: Event) -> tuple[Place, Event]:
    """Where ``event`` belongs when the candidate went on speaking before the reply to the last answer was heard.

    More of the answer continues it at its own question, which is also the one to repeat or to think about. Anything
    else (a cough, too little to understand, "next question") was no continuation: the unheard reply is given again, to
    "hello?" with an answer.
    """
    if place.former is None or (event in _TO_THE_AGENT and place.phase is Phase.QUESTION):
        return place, event
    if event in {Event.ANSWER, Event.REPEAT, Event.THINK, Event.PART, Event.LATE}:
        return Place.from_json(place.former), event
    return place, Event.REPEAT


def _next(script: Script, place: Place) -> Step:
    return _ask(script, place.question + 1)


def _ask(script: Script, question: int) -> Step:
    if question >= len(script.questions):
        return _close(script, Place(question=len(script.questions)))
    place = Place(Phase.QUESTION, question)
    return Step(place, (open_line(script, place),))


def _close(script: Script, place: Place) -> Step:
    return Step(Place(Phase.OUTRO, place.question), (Line(Kind.OUTRO, script.outro),))


def _silence(script: Script, place: Place) -> Step:
    # Silence asks once and then only waits: the candidate or the time limit ends an interview, nothing else does. Noise
    # that cut the question off is answered by the question, because it was not heard yet.
    is_cut = not _is_heard(place) and may_turn_aside(place)
    waiting = replace(place, silences=place.silences + 1, asides=place.asides + int(is_cut), former=None)
    if place.silences == 0 or is_cut:
        return Step(waiting, (Line(Kind.NOT_HEARD, question_index=place.question), *_once_more(script, place)))
    return Step(waiting, (Line(Kind.WAIT, question_index=place.question),))
