"""The state machine: every path ends, keeps its bounds, and can be put down and taken up anywhere."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation.script.machine import (
    BEGUN,
    ENOUGH,
    MOST_ASIDES,
    Event,
    Kind,
    Line,
    Script,
    Step,
    WrongMoment,
    finish,
    is_asked,
    may_follow_up,
    may_turn_aside,
    noticed,
    open_line,
    step,
    taken_up,
)
from app.conversation.script.place import Phase, Place
from app.flows.flow_script import FlowScript

TWO = Script(questions=("Why?", "How?"), seconds=600, intro="Hello.", outro="Goodbye.")
AFTER_BEGIN = [
    Event.ANSWER,
    Event.SILENCE,
    Event.REPEAT,
    Event.SKIP,
    Event.THINK,
    Event.ASIDE,
    Event.HELLO,
    Event.THERE,
    Event.WHO,
    Event.LONG,
    Event.STOP,
    Event.END,
]


def begun(script: Script = TWO) -> Step:
    return step(script, Place(), Event.BEGIN)


def test_it_begins_with_the_intro_and_the_first_question() -> None:
    first = begun()
    assert first.lines == (Line(Kind.INTRO, "Hello."), Line(Kind.QUESTION, "Why?", 0))
    assert (first.place.question_index, first.expects) == (0, "answer")


def test_without_an_intro_it_begins_with_the_question() -> None:
    assert begun(Script(questions=("Why?",), seconds=600)).lines == (Line(Kind.QUESTION, "Why?", 0),)


def test_without_questions_it_says_hello_and_goodbye() -> None:
    first = begun(Script(questions=(), seconds=600, intro="Hello.", outro="Goodbye."))
    assert [line.kind for line in first.lines] == [Kind.INTRO, Kind.OUTRO]
    assert (first.place.phase, first.expects) == (Phase.OUTRO, "finish")


def test_answers_lead_from_question_to_question_and_to_the_outro() -> None:
    second = step(TWO, begun().place, Event.ANSWER, text="because")
    assert second.lines == (Line(Kind.QUESTION, "How?", 1),)
    last = step(TWO, second.place, Event.ANSWER, text="so")
    assert last.lines == (Line(Kind.OUTRO, "Goodbye."),)
    assert last.expects == "finish"


def test_a_follow_up_stays_with_its_question_and_there_are_no_more_than_allowed() -> None:
    asked = step(TWO, begun().place, Event.ANSWER, text="because", follow_up="Why exactly?")
    assert asked.lines == (Line(Kind.FOLLOW_UP, "Why exactly?", 0),)
    assert (asked.place.asked, asked.place.said) == (("Why exactly?",), "because")
    assert not may_follow_up(TWO, asked.place)
    assert step(TWO, asked.place, Event.ANSWER, text="so", follow_up="And?").place.question_index == 1


def test_repeat_says_the_open_line_again_and_costs_no_position() -> None:
    place = begun().place
    again = step(TWO, place, Event.REPEAT)
    assert (again.place, again.lines) == (place, (Line(Kind.QUESTION, "Why?", 0),))
    asked = step(TWO, place, Event.ANSWER, text="x", follow_up="Why exactly?").place
    both = (Line(Kind.QUESTION, "Why?", 0), Line(Kind.FOLLOW_UP, "Why exactly?", 0))
    assert step(TWO, asked, Event.REPEAT).lines == both, "who lost the thread has lost the question too"


def test_silence_asks_once_and_then_only_waits() -> None:
    first = step(TWO, begun().place, Event.SILENCE)
    assert [line.kind for line in first.lines] == [Kind.NOT_HEARD, Kind.QUESTION]
    second = step(TWO, first.place, Event.SILENCE)
    third = step(TWO, second.place, Event.SILENCE)
    assert [line.kind for line in second.lines + third.lines] == [Kind.WAIT, Kind.WAIT]
    assert third.place.question_index == 0
    assert step(TWO, third.place, Event.ANSWER, text="x").place.silences == 0


def test_skip_leaves_follow_ups_behind() -> None:
    asked = step(TWO, begun().place, Event.ANSWER, text="x", follow_up="Why exactly?").place
    assert step(TWO, asked, Event.SKIP).place == Place(Phase.QUESTION, 1)


def test_the_end_can_be_asked_for_at_any_question() -> None:
    ended = step(TWO, begun().place, Event.END)
    assert (ended.place.phase, [line.kind for line in ended.lines]) == (Phase.OUTRO, [Kind.OUTRO])


@pytest.mark.parametrize("event", AFTER_BEGIN)
def test_nothing_happens_before_the_beginning_or_after_the_outro(event: Event) -> None:
    for place in (Place(), step(TWO, begun().place, Event.END).place, Place(Phase.FINISHED, 1)):
        with pytest.raises(WrongMoment):
            step(TWO, place, event)
    with pytest.raises(WrongMoment):
        step(TWO, begun().place, Event.BEGIN)


def test_only_the_outro_can_be_finished() -> None:
    assert finish(step(TWO, begun().place, Event.END).place).phase is Phase.FINISHED
    with pytest.raises(WrongMoment):
        finish(begun().place)
    with pytest.raises(WrongMoment):
        open_line(TWO, Place())


def test_the_script_is_read_from_the_frozen_flow() -> None:
    flow = FlowScript(questions=("A?",), language="de-DE", follow_up_limit=2)
    assert Script.of(flow, minutes=30) == Script(("A?",), 1800, language="de-DE", follow_up_limit=2)
    assert Script.of(replace(flow, time_limit_minutes=5), minutes=30).seconds == 300


def test_thinking_leaves_everything_as_it_was_and_the_next_silence_is_no_surprise() -> None:
    place = step(TWO, begun().place, Event.ANSWER, text="because", follow_up="Why exactly?").place
    held = step(TWO, place, Event.THINK)
    assert held.lines == (Line(Kind.THINK, question_index=0),)
    assert (held.place.question, held.place.asked, held.place.said) == (0, ("Why exactly?",), "because")
    assert [line.kind for line in step(TWO, held.place, Event.SILENCE).lines] == [Kind.WAIT]


def test_who_says_stop_is_asked_once_and_ends_only_by_saying_so_again() -> None:
    sure = step(TWO, begun().place, Event.STOP)
    assert (sure.lines, sure.expects) == ((Line(Kind.SURE, question_index=0),), "answer")
    assert step(TWO, sure.place, Event.STOP).place.phase is Phase.OUTRO
    for event in (Event.SILENCE, Event.REPEAT, Event.THINK, Event.ASIDE):
        after = step(TWO, sure.place, event).place
        assert step(TWO, after, Event.STOP).lines[0].kind is Kind.SURE, event
    assert step(TWO, sure.place, Event.ANSWER, text="well").place.question_index == 1


def test_the_agent_turns_aside_only_so_often_and_always_comes_back() -> None:
    now, reply = begun(), Line(Kind.REPLY, "We are in Oslo.", 0)
    for _ in range(MOST_ASIDES):
        now = step(TWO, now.place, Event.ASIDE, text="where are you", aside=reply)
        assert now.lines == (reply, Line(Kind.QUESTION, "Why?", 0))
        assert now.place.said == "", "a question to the agent is no answer"
    assert not may_turn_aside(now.place)
    onward = step(TWO, now.place, Event.ASIDE, text="where are you", aside=reply)
    assert onward.lines == (Line(Kind.QUESTION, "How?", 1),)
    assert may_turn_aside(onward.place)


def test_a_row_from_before_knows_no_asides() -> None:
    kept = Place(Phase.QUESTION, 1).to_json()
    del kept["asides"], kept["stopping"]
    assert Place.from_json(kept) == Place(Phase.QUESTION, 1)


@pytest.mark.parametrize("event", [Event.ANSWER, Event.REPEAT, Event.THINK])
def test_more_of_an_answer_is_thought_about_at_its_own_question(event: Event) -> None:
    last = step(TWO, begun().place, Event.ANSWER, text="because").place
    assert taken_up(last, event)[0].question_index == 0
    assert taken_up(last, Event.STOP) == (last, Event.STOP)


@pytest.mark.parametrize(
    ("event", "kind"), [(Event.HELLO, Kind.HERE), (Event.THERE, Kind.THERE), (Event.WHO, Kind.WHO)]
)
def test_who_asks_whether_anybody_hears_is_answered_and_asked_again(event: Event, kind: Kind) -> None:
    place = begun().place
    for _ in range(5):
        reply = step(TWO, place, event, text="hello?")
        assert reply.lines == (Line(kind, question_index=0), Line(Kind.QUESTION, "Why?", 0))
        assert reply.place == place, "it costs nothing, however often"
    asked = step(TWO, place, Event.ANSWER, text="x", follow_up="Why exactly?").place
    assert [line.kind for line in step(TWO, asked, event).lines] == [kind, Kind.QUESTION, Kind.FOLLOW_UP]


@pytest.mark.parametrize(("questions", "seconds", "minutes"), [(1, 600, 0), (2, 600, 5), (9, 6000, 20), (9, 300, 5)])
def test_how_long_it_takes_is_said_by_what_is_left(questions: int, seconds: float, minutes: int) -> None:
    script = Script(questions=("Why?",) * questions, seconds=seconds)
    reply = step(script, begun(script).place, Event.LONG, text="how long does this take")
    assert reply.lines == (Line(Kind.LONG, question_index=0, minutes=minutes), Line(Kind.QUESTION, "Why?", 0))
    assert reply.place == begun(script).place
    last = step(script, Place(Phase.QUESTION, questions - 1), Event.LONG)
    assert last.lines[0].minutes == 0, "the last question takes a few minutes more"


@pytest.mark.parametrize("share", [BEGUN, 0.3, ENOUGH - 0.01])
def test_a_question_that_was_hardly_heard_is_put_again_after_an_answer_and_only_once(share: float) -> None:
    place = noticed(begun().place, share)
    assert not may_follow_up(TWO, place)
    again = step(TWO, place, Event.ANSWER, text="hm", follow_up="Why exactly?")
    assert again.lines == (Line(Kind.WHOLE, question_index=0), Line(Kind.QUESTION, "Why?", 0))
    assert (again.place.said, again.place.asked, again.expects) == ("hm", (), "answer")
    onward = step(TWO, noticed(Place.from_json(again.place.to_json()), share), Event.ANSWER, text="because")
    assert onward.place == Place(Phase.QUESTION, 1), "a candidate who interrupts it again does not want to hear it"


def test_a_question_of_which_nothing_was_heard_is_put_for_the_first_time_afterwards() -> None:
    first = step(TWO, noticed(begun().place, 0.0), Event.ANSWER, text="over the greeting")
    second = step(TWO, noticed(first.place, 0.4), Event.ANSWER, text="over the question")
    assert [second.lines[0].kind, second.place.question] == [Kind.WHOLE, 0]
    third = step(TWO, noticed(second.place, 0.4), Event.ANSWER, text="because")
    assert third.place == Place(Phase.QUESTION, 1)


def test_an_interrupted_announcement_puts_the_question_again_but_not_for_ever() -> None:
    place, announced = noticed(begun().place, 0.4), 0
    while (reply := step(TWO, place, Event.ANSWER, text="hm")).lines[0].kind is Kind.WHOLE:
        announced += 1
        place = noticed(reply.place, 0.0)
    assert announced == MOST_ASIDES
    assert (reply.place.question_index, reply.lines[0].kind) == (1, Kind.QUESTION)
    heard = noticed(noticed(step(TWO, noticed(begun().place, 0.4), Event.ANSWER, text="hm").place, 0.0), 0.7)
    assert is_asked(heard), "heard at last"


def test_a_question_is_heard_as_far_as_the_best_of_its_hearings() -> None:
    place = noticed(noticed(begun().place, 0.7), 0.1)
    assert step(TWO, place, Event.ANSWER, text="because").place.question_index == 1
    assert noticed(place, None) == place
    unknown = begun().place
    assert step(TWO, unknown, Event.ANSWER, text="because").place.question_index == 1, "without a report all counts"


def test_more_of_an_answer_to_a_question_that_was_hardly_heard_keeps_it_open() -> None:
    whole = step(TWO, noticed(begun().place, 0.2), Event.ANSWER, text="hello there").place
    again, event = taken_up(whole, Event.ANSWER)
    assert (again.said, is_asked(again)) == ("hello there", False)
    assert step(TWO, again, event, text="is this on").lines[0].kind is Kind.WHOLE
    assert taken_up(whole, Event.HELLO) == (whole, Event.HELLO)


def test_noise_over_a_question_brings_it_again_as_often_as_the_agent_turns_aside() -> None:
    place = noticed(begun().place, 0.1)
    kinds = []
    for _ in range(MOST_ASIDES + 2):
        reply = step(TWO, place, Event.SILENCE)
        kinds.append(reply.lines[-1].kind)
        place = noticed(reply.place, 0.1)
    assert kinds == [*[Kind.QUESTION] * MOST_ASIDES, Kind.WAIT, Kind.WAIT]


scripts = st.builds(
    Script,
    questions=st.lists(st.text(min_size=1, max_size=20), max_size=20).map(tuple),
    seconds=st.just(600.0),
    intro=st.none() | st.just("Hello."),
    outro=st.none() | st.just("Bye."),
    follow_up_limit=st.integers(0, 3),
)
moves = st.lists(st.tuples(st.sampled_from(AFTER_BEGIN), st.none() | st.text(min_size=1, max_size=20)), max_size=120)


@given(scripts, moves)
def test_every_path_keeps_its_bounds_and_survives_being_put_down(
    script: Script, events: list[tuple[Event, str | None]]
) -> None:
    now = begun(script)
    asked: list[Line] = list(now.lines)
    for event, follow_up in events:
        if now.expects == "finish":
            break
        place = Place.from_json(json.loads(json.dumps(now.place.to_json())))
        assert place == now.place
        now = step(script, place, event, text="words", follow_up=follow_up)
        assert 0 <= now.place.question - place.question <= 1
        assert len(now.place.asked) <= script.follow_up_limit
        moved = (now.place.phase, now.place.question, now.place.asked) != (place.phase, place.question, place.asked)
        asked += now.lines if moved else ()
    questions = [line.question_index for line in asked if line.kind is Kind.QUESTION]
    assert questions == list(range(len(questions)))
    assert sum(line.kind is Kind.FOLLOW_UP for line in asked) <= script.follow_up_limit * len(script.questions)
    assert sum(line.kind is Kind.OUTRO for line in asked) == (now.expects == "finish")


@given(scripts, st.lists(st.tuples(st.sampled_from(AFTER_BEGIN), st.floats(0, 1)), max_size=120), st.randoms())
def test_every_question_that_was_asked_is_heard_or_put_again_before_the_next(
    script: Script, events: list[tuple[Event, float]], chance: random.Random
) -> None:
    now = begun(script)
    best, times = {0: 0.0}, {0: 1}
    for given_event, share in events:
        event = given_event
        if now.expects == "finish":
            break
        at = now.place.question
        if any(line.kind is Kind.QUESTION for line in now.lines):
            best[at] = max(best.get(at, 0.0), share)
        place = noticed(now.place, share if any(line.kind is Kind.QUESTION for line in now.lines) else None)
        if chance.random() < 0.2:
            place, event = taken_up(place, event)
        now = step(script, place, event, text="words")
        for line in now.lines:
            if line.kind is Kind.QUESTION and line.question_index is not None:
                times[line.question_index] = times.get(line.question_index, 0) + 1
        left = now.place.question != place.question or now.expects == "finish"
        if left and event is Event.ANSWER:
            assert best[place.question] >= ENOUGH or times[place.question] > 1


@given(scripts, st.lists(st.none() | st.text(min_size=1, max_size=20), min_size=80, max_size=80))
def test_answering_always_comes_to_an_end(script: Script, follow_ups: list[str | None]) -> None:
    now = begun(script)
    for follow_up in follow_ups:
        if now.expects == "finish":
            break
        now = step(script, now.place, Event.ANSWER, text="words", follow_up=follow_up)
    assert now.expects == "finish"


def test_more_of_an_answer_goes_on_at_its_own_question() -> None:
    place = step(TWO, step(TWO, Place(), Event.BEGIN).place, Event.ANSWER, text="we were eight").place
    assert place.question == 1
    again, event = taken_up(Place.from_json(place.to_json()), Event.ANSWER)
    assert (again, event) == (Place(Phase.QUESTION, 0, said="we were eight"), Event.ANSWER)
    assert step(TWO, again, event, text="people").place == place
    assert again.former is None, "places do not pile up"


def test_what_was_no_continuation_brings_the_unheard_reply_again() -> None:
    place = step(TWO, Place(Phase.QUESTION, 0), Event.ANSWER, text="we were eight").place
    assert taken_up(place, Event.SILENCE) == (place, Event.REPEAT)
    assert taken_up(place, Event.SKIP) == (place, Event.REPEAT)
    assert taken_up(place, Event.REPEAT) == (Place(Phase.QUESTION, 0, said="we were eight"), Event.REPEAT)
    assert taken_up(place, Event.END) == (place, Event.END)
    assert taken_up(Place(Phase.QUESTION, 0), Event.ANSWER) == (Place(Phase.QUESTION, 0), Event.ANSWER)


def test_the_goodbye_is_said_again_to_somebody_who_only_coughed_into_it() -> None:
    last = Place(Phase.QUESTION, len(TWO.questions) - 1)
    over = step(TWO, last, Event.ANSWER, text="that is all").place
    assert taken_up(over, Event.END) == (over, Event.REPEAT)
    assert [line.kind for line in step(TWO, over, Event.REPEAT).lines] == [Kind.OUTRO]
    with pytest.raises(WrongMoment):
        step(TWO, Place(Phase.OUTRO, 1), Event.REPEAT)
