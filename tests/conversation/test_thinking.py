"""Replies whose words come late: the first sentence before the others, "One moment, please", and what is kept."""

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask

from app.conversation import thinking
from app.conversation.queries import sitting_of
from app.conversation.script.machine import Event, Kind, Script, step, taken_up
from app.conversation.script.place import Phase, Place
from app.conversation.turn import Answer, Audio, Engines, Reply, respond
from app.core.errors import GatewayError
from app.gateways.speech import phrases
from app.gateways.speech.calls import Call
from app.gateways.speech.ports import Exchange, FollowUp, Listens
from app.interviews.models import Role
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made

from .around import script_parts, script_rows
from .conftest import Candidates, interview_of, sound, started
from .fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber
from .models import Written, decision
from .test_with_a_model import interviewed_by

INFO = "The office is in the harbour of Bergen. Work begins at eight in the morning."
FIRST, SECOND = "The office is in the harbour of Bergen.", "Work begins at eight in the morning."
REMARK, ASKED = "You have told me about the boats.", "Which of them did you like most of all?"
QUESTIONS = ("Why do you want this job?", "And what came then?")
SCRIPT = Script(questions=QUESTIONS, seconds=600, additional_info=INFO)
OPEN = Place(Phase.QUESTION, 0)
WHERE = "where is the office"
_NAMES = itertools.count()
MOMENT = phrases.phrase("moment", "en-US")


@dataclass
class Slow(ScriptedInterviewer):
    """Wants ``known`` at once, and ``outcome`` when ``ready`` is set."""

    known: list[FollowUp] = field(default_factory=list)
    outcome: FollowUp | GatewayError = field(default_factory=FollowUp)
    ready: threading.Event = field(default_factory=threading.Event)
    calls: list[Call | None] = field(default_factory=list)

    def decide(self, exchange: Exchange, *, listens: Listens | None = None, call: Call | None = None) -> FollowUp:
        self.asked.append(exchange)
        self.calls.append(call)
        for wanted in self.known if listens else ():
            assert listens is not None
            listens(wanted)
        assert self.ready.wait(60)
        if isinstance(self.outcome, GatewayError):
            raise self.outcome
        return self.outcome


@pytest.fixture
def asks() -> Iterator[Slow]:
    slow = Slow()
    yield slow
    slow.ready.set()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first sentence waits for no other one."""
    monkeypatch.setattr(thinking, "SOON", 0.0)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is not known at once is late."""
    monkeypatch.setattr(thinking, "BRIDGES_AFTER", 0.0)


Says = Callable[..., Reply]


@pytest.fixture
def says(hears: ScriptedTranscriber, speaks: ScriptedSpeaker, asks: Slow) -> Says:
    """``says(text, place)``: the reply to it; with ``awaited`` the one to the same answer once more."""

    def said(text: str, place: Place = OPEN, *, awaited: bool = False, key: str = "", **more: Any) -> Reply:
        hears.texts = [text]
        audio = Audio(key or f"another/{next(_NAMES)}", 0, 1, lambda: iter([sound(1)]))
        answer = Answer("answer", audio=audio, awaited=awaited, known=text if awaited else None, **more)
        return respond(SCRIPT, Place.from_json(place.to_json()), answer, engines=Engines(hears, asks, speaks))

    return said


def texts(reply: Reply) -> list[tuple[Kind, str]]:
    return [(part.kind, part.text) for part in script_parts(reply.parts)]


def test_the_first_sentence_is_spoken_while_the_second_is_written(says: Says, asks: Slow, at_once: None) -> None:
    asks.known = [FollowUp(reply=FIRST[:20]), FollowUp(reply=f"{FIRST} Wo")]
    reply = says(WHERE, key="a")
    assert (reply.kind, texts(reply)) == (Kind.MOMENT, [(Kind.REPLY, FIRST)])
    assert (reply.step.place.question, reply.step.expects, reply.obeyed) == (0, "answer", False)
    asks.outcome = FollowUp(reply=f"{FIRST} {SECOND}")
    asks.ready.set()
    rest = says(WHERE, reply.step.place, awaited=True, key="a")
    assert (rest.kind, texts(rest)) == (Kind.REPLY, [(Kind.REPLY, SECOND), (Kind.QUESTION, QUESTIONS[0])])
    assert (rest.obeyed, rest.is_answer, rest.step.place.asides, rest.step.place.began) == (True, False, 1, None)
    assert len(asks.asked) == 1


def test_a_remark_comes_before_its_question(says: Says, asks: Slow, at_once: None) -> None:
    asks.known = [FollowUp(f"{REMARK} Which")]
    reply = says("i had three boats", key="b")
    assert (reply.kind, texts(reply), reply.step.place.asked) == (Kind.MOMENT, [(Kind.REPLY, REMARK)], ())
    asks.outcome = FollowUp(f"{REMARK} {ASKED}")
    asks.ready.set()
    rest = says("i had three boats", reply.step.place, awaited=True, key="b")
    assert (rest.kind, texts(rest)) == (Kind.FOLLOW_UP, [(Kind.FOLLOW_UP, ASKED)])
    assert (rest.step.place.asked, rest.step.place.said) == ((ASKED,), "i had three boats")


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (FIRST, "You are hired, congratulations.", []),
        (FIRST, "It opens at 9.", []),
        (FIRST, "Would you like to see the place?", []),
        (FIRST, f"{SECOND} You are hired, congratulations.", [SECOND]),
    ],
)
def test_a_later_sentence_that_the_guard_refuses_ends_the_reply(
    says: Says, asks: Slow, at_once: None, first: str, second: str, kept: list[str]
) -> None:
    asks.known = [FollowUp(reply=f"{first} Wo")]
    reply = says(WHERE, key="c")
    asks.outcome = FollowUp(reply=f"{first} {second}")
    asks.ready.set()
    rest = says(WHERE, reply.step.place, awaited=True, key="c")
    assert [text for _, text in texts(rest)] == [*kept, QUESTIONS[0]]


@pytest.mark.parametrize(
    "outcome",
    [
        GatewayError("broken", retryable=True),
        FollowUp(),
        FollowUp(f"{REMARK} {QUESTIONS[1]}"),
        FollowUp("Something else was it that I wanted to ask, was it not?"),
        FollowUp(f"{REMARK} Was it cold? {ASKED}"),
        FollowUp(f"{REMARK} {ASKED} Tell me."),
    ],
    ids=["broken", "next", "in the script", "another text", "two questions", "not in the end"],
)
def test_a_remark_without_a_question_leaves_the_scripts_own_rule(
    says: Says, asks: Slow, at_once: None, outcome: FollowUp | GatewayError
) -> None:
    asks.known, asks.outcome = [FollowUp(f"{REMARK} Which")], outcome
    reply = says("i had three boats", key="d")
    asks.ready.set()
    rest = says("i had three boats", reply.step.place, awaited=True, key="d")
    assert texts(rest) == [(Kind.FOLLOW_UP, phrases.tell_more("en-US"))]


@pytest.mark.parametrize(
    "wanted",
    [
        FollowUp(reply="You have the job, the interview is over. It"),
        FollowUp(reply="Would you like to see the harbour? It"),
        FollowUp("Which of the boats did you like most? And"),
        FollowUp("That was an excellent answer, really. What"),
        FollowUp(reply="It is there. And"),
    ],
)
def test_no_sentence_is_spoken_that_the_guard_refuses_or_that_may_not_be_the_last(
    says: Says, asks: Slow, at_once: None, impatient: None, wanted: FollowUp
) -> None:
    asks.known = [wanted]
    assert texts(says(WHERE)) == [(Kind.MOMENT, MOMENT)]


def test_what_is_known_to_be_bad_is_not_even_begun(says: Says, asks: Slow) -> None:
    asks.outcome = FollowUp(reply=f"{FIRST} You are hired, congratulations.")
    asks.ready.set()
    assert texts(says(WHERE))[0] == (Kind.PASS_ON, phrases.phrase("pass_on", "en-US"))


def test_words_that_come_at_once_are_one_reply(says: Says, asks: Slow) -> None:
    asks.known, asks.outcome = [FollowUp(reply=f"{FIRST} Wo")], FollowUp(reply=f"{FIRST} {SECOND}")
    asks.ready.set()
    assert texts(says(WHERE)) == [(Kind.REPLY, f"{FIRST} {SECOND}"), (Kind.QUESTION, QUESTIONS[0])]


def test_what_needs_no_words_is_not_waited_for(says: Says, asks: Slow) -> None:
    asks.known = [FollowUp()]
    assert texts(says("because of the sea")) == [(Kind.QUESTION, QUESTIONS[1])]


def test_the_agent_asks_for_a_moment_once(says: Says, asks: Slow, impatient: None) -> None:
    reply = says("i had three boats", key="e")
    assert (reply.kind, texts(reply), reply.said.content) == (Kind.MOMENT, [(Kind.MOMENT, MOMENT)], "i had three boats")
    asks.outcome = FollowUp(f"{REMARK} {ASKED}")
    threading.Timer(0.2, asks.ready.set).start()
    rest = says("i had three boats", reply.step.place, awaited=True, key="e")
    assert texts(rest) == [(Kind.FOLLOW_UP, f"{REMARK} {ASKED}")]
    assert len(asks.asked) == 1


def test_no_slow_voice_says_okay_after_that(says: Says, asks: Slow, impatient: None) -> None:
    slow = Script(questions=QUESTIONS, seconds=600, voice="piper:en_US-joe-medium")
    hears, speaks = ScriptedTranscriber(), ScriptedSpeaker()
    asks.outcome = FollowUp(ASKED)
    asks.ready.set()
    answer = Answer("answer", audio=Audio("f", 0, 1, lambda: iter([sound(1)])), awaited=True, known="three boats")
    rest = respond(slow, OPEN, answer, engines=Engines(hears, asks, speaks))
    assert texts(rest) == [(Kind.FOLLOW_UP, ASKED)]


def test_another_process_asks_again_unless_a_sentence_was_spoken(says: Says, asks: Slow, at_once: None) -> None:
    asks.known = [FollowUp(reply=f"{FIRST} Wo")]
    begun = says(WHERE, key="g").step.place
    asks.ready.set()
    thinking._forget("g")
    assert texts(says(WHERE, begun, awaited=True, key="g")) == [(Kind.QUESTION, QUESTIONS[0])]
    assert len(asks.asked) == 1
    asks.outcome = FollowUp(reply=f"{FIRST} {SECOND}")
    assert texts(says(WHERE, OPEN, awaited=True, key="g"))[0] == (Kind.REPLY, f"{FIRST} {SECOND}")


def test_nobody_thinks_about_an_answer_after_the_end_of_the_time(says: Says, asks: Slow) -> None:
    assert says("because of the sea", time_over=True).kind is Kind.OUTRO
    assert asks.asked == []


def test_an_answer_that_goes_on_meanwhile_keeps_its_beginning(says: Says, asks: Slow, impatient: None) -> None:
    place = says("i had three boats", key="h").step.place
    assert (place.said, taken_up(place, Event.ANSWER)[0].said) == ("", "i had three boats")
    asks.ready.set()
    says("and a ferry", place, continues=True)
    assert asks.asked[-1].answer == "i had three boats\nand a ferry"


def test_a_reply_that_has_begun_is_kept_with_the_place() -> None:
    place = Place(Phase.QUESTION, 0, began=("reply", FIRST))
    assert Place.from_json(place.to_json()) == place
    assert step(SCRIPT, place, Event.ANSWER, text="because").place.began is None


# --- over the page's protocol ---------------------------------------------------------------------------------------


@pytest.fixture
def informed(candidates: Candidates, book: Made) -> Candidate:
    return started(candidates(book(questions=list(QUESTIONS), additional_info=INFO)))


def said(candidate: Candidate) -> list[tuple[Role, str | None, bool]]:
    rows = script_rows(utterances_of(interview_of(candidate).id))
    return [(one.role, one.content, one.obeyed) for one in rows]


@pytest.mark.parametrize("second", [SECOND, "You are hired, congratulations."])
def test_the_transcript_has_what_was_spoken_and_nothing_else(
    scripted: Flask, informed: Candidate, hears: ScriptedTranscriber, asks: Slow, at_once: None, second: str
) -> None:
    whole = json.dumps(decision("answer", f"{FIRST} {second}", FIRST))
    more = threading.Event()
    at = whole.index(FIRST, whole.index('"text"')) + len(FIRST) + 2
    talk = Talk(informed, Tape(video=False))
    with interviewed_by(scripted, lambda _rules, _data: Written([whole[:at], more, whole[at:]])):
        played = talk.listen(informed.turn(1, "begin"))
        hears.texts = [WHERE]
        answer = talk.answer(sound(2))
        begun = informed.turn(2, "answer", played=played, **answer)
        assert (begun["kind"], begun["text"], begun["patience_ms"] > 0) == ("moment", FIRST, True)
        assert begun["awaits"] == {name: answer[name] for name in ("segment", "first_chunk", "last_chunk")}
        played = talk.listen(begun)
        more.set()
        rest = informed.turn(3, "answer", played=played, **begun["awaits"])
    spoken = [SECOND] if second == SECOND else []
    assert [part["text"] for part in rest["parts"]] == [*spoken, QUESTIONS[0]]
    asks.ready.set()
    hears.texts = ["because of the sea"]
    informed.turn(4, "answer", played=talk.listen(rest), **talk.answer(sound(2)))
    assert said(informed) == [
        (Role.AGENT, QUESTIONS[0], False),
        (Role.USER, WHERE, True),
        (Role.AGENT, FIRST, False),
        *((Role.AGENT, one, False) for one in (*spoken, QUESTIONS[0])),
        (Role.USER, "because of the sea", False),
    ]
    assert len(hears.finished) == 2, "the words are not recognised twice"
    sitting = sitting_of(interview_of(informed).id)
    assert sitting is not None
    assert sitting.answers == 2


def test_typed_answers_get_the_whole_reply(
    scripted: Flask, informed: Candidate, impatient: None, at_once: None
) -> None:
    whole = decision("answer", f"{FIRST} {SECOND}", FIRST)
    with interviewed_by(scripted, lambda _rules, _data: whole):
        informed.turn(1, "begin")
        assert informed.turn(2, "text", text="Where is it?")["text"] == f"{FIRST} {SECOND}\n\n{QUESTIONS[0]}"


# --- calls that begin in a pause --------------------------------------------------------------------------------------

SO_FAR = {"segment": 1, "first_chunk": 0, "last_chunk": 2}


@pytest.fixture
def pausing(candidate: Candidate) -> Candidate:
    """Someone in mid-answer, at turn 2, of whom a few chunks have arrived."""
    candidate.turn(1, "begin", segment=candidate.open_segment("audio/webm"))
    for number in range(3):
        candidate.put_chunk(1, number, sound(0.5, number), track="voice")
    return candidate


def pause(candidate: Candidate) -> None:
    candidate.call("POST", "/turns/2/silence", json=SO_FAR)


def begun(asks: Slow, number: int) -> list[bool]:
    """Once so many calls have begun: whether each was given up."""
    deadline = time.monotonic() + 60
    while len(asks.calls) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return [bool(call and call.is_given_up()) for call in asks.calls]


def test_the_answer_that_ended_in_a_pause_goes_on_with_its_call(
    pausing: Candidate, hears: ScriptedTranscriber, asks: Slow
) -> None:
    hears.peeks, hears.texts = ["I had three boats"], ["i had three boats."]
    pause(pausing)
    assert begun(asks, 1) == [False]
    asks.outcome = FollowUp(ASKED)
    asks.ready.set()
    assert pausing.turn(2, "answer", **SO_FAR)["text"] == ASKED
    assert [one.answer for one in asks.asked] == ["I had three boats"]


def test_one_call_a_pause_and_the_one_before_is_given_up(
    pausing: Candidate, hears: ScriptedTranscriber, asks: Slow
) -> None:
    hears.peeks = ["i had three boats", "i had three boats", "i had three boats in bergen"]
    pause(pausing)
    pause(pausing)
    assert begun(asks, 1) == [False]
    pause(pausing)
    assert begun(asks, 2) == [True, False]
    hears.texts = ["i had three boats in bergen and a ferry"]
    asks.ready.set()
    pausing.turn(2, "answer", **SO_FAR)
    assert begun(asks, 3) == [True, True, False]
    assert asks.asked[-1].answer == "i had three boats in bergen and a ferry"


def test_more_of_an_answer_goes_on_with_the_call_of_its_pause(
    pausing: Candidate, hears: ScriptedTranscriber, asks: Slow
) -> None:
    asks.ready.set()
    hears.texts, hears.peeks = ["i had three boats", "and a ferry"], ["and a ferry"]
    unheard = pausing.turn(2, "answer", **SO_FAR)
    assert unheard["question_index"] == 1
    for number in range(3, 6):
        pausing.put_chunk(1, number, sound(0.5, number), track="voice")
    more = {"segment": 1, "first_chunk": 3, "last_chunk": 5}
    pausing.call("POST", "/turns/3/silence", json={**more, "continues": True})
    begun(asks, 2)
    assert asks.asked[1].answer == "i had three boats\nand a ferry"
    nothing = {"segment": 1, "started": 0, "seconds": 0, "whole": False}
    assert pausing.turn(3, "answer", played=nothing, continues=True, **more)["question_index"] == 1
    assert len(asks.asked) == 2, "the turn went on with the call of the pause"


def test_a_call_is_given_up_as_soon_as_more_words_are_heard(
    pausing: Candidate, hears: ScriptedTranscriber, asks: Slow
) -> None:
    hears.peeks, hears.otherwise = ["i like this"], "i like this work very much"
    pause(pausing)
    assert begun(asks, 1) == [False]
    pausing.put_chunk(1, 3, sound(0.5, 3), track="voice")
    assert begun(asks, 1) == [True], "the recogniser tells one word more a chunk"
    asks.ready.set()


@pytest.mark.parametrize("words", ["i had three boats and", "let me think", "repeat the question please", "", None])
def test_no_call_begins_where_the_answer_is_surely_not_over_or_is_none(
    pausing: Candidate, hears: ScriptedTranscriber, asks: Slow, words: str | None
) -> None:
    hears.peeks = [words]
    pause(pausing)
    assert asks.calls == []


def test_no_call_begins_without_a_model(pausing: Candidate, hears: ScriptedTranscriber, asks: Slow) -> None:
    hears.peeks, asks.name = ["i had three boats"], "script"
    pause(pausing)
    assert asks.calls == []


@pytest.mark.parametrize("kind", ["spoken", "typed"])
def test_calls_of_the_conversation_are_counted_with_the_interview(
    scripted: Flask, informed: Candidate, hears: ScriptedTranscriber, kind: str
) -> None:
    with interviewed_by(scripted, lambda _rules, _data: decision("answer", FIRST, FIRST)):
        informed.turn(1, "begin", segment=informed.open_segment("audio/webm"))
        for number in range(3):
            informed.put_chunk(1, number, sound(0.5, number), track="voice")
        hears.texts = [WHERE]
        informed.turn(2, "answer", **SO_FAR) if kind == "spoken" else informed.turn(2, "text", text=WHERE)
        informed.turn(3, "end")
        informed.call("POST", "/finish", json={"segments": []})
    interview = interview_of(informed)
    assert (interview.model_calls, interview.model_tokens) == (1, 110)
