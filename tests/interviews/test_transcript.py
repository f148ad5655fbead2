"""Turns become segments on the recording's clock."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gateways.speech.ports import Role
from app.interviews.transcript import TurnValue, as_text, cut_to_played, lay_out, offsets_of

AGENT = TurnValue(
    1, "agent", 0, "Why this job?", (("Why", 1.0, 1.2), ("this", 1.2, 1.4), ("job?", 1.4, 1.8)), 1, 1.0, 1.9
)
ANSWER = TurnValue(2, "user", None, "to help", (("to", 3.0, 3.2), ("help", 3.3, 3.6)), 1, 2.5, 4.0)


def test_words_move_with_their_run() -> None:
    agent, answer = lay_out([AGENT, ANSWER], offsets={1: 10.0, 2: 10.1}, duration=60.0)
    assert [(word.word, word.start, word.end) for word in answer.words] == [("to", 13.1, 13.3), ("help", 13.4, 13.7)]
    assert (agent.start, agent.end) == (11.0, 11.9)
    assert as_text([agent, answer]) == "agent: Why this job?\nuser: to help"


def test_an_answer_belongs_to_the_question_asked_last() -> None:
    follow_up = TurnValue(3, "agent", 0, "Really?", None, 1, 4.0, 4.5)
    outro = TurnValue(5, "agent", None, "Goodbye.", None, 1, 6.0, 6.5)
    late = TurnValue(6, "user", None, "bye", None, 1, 7.0, 7.5)
    second = TurnValue(4, "user", None, "yes", None, 1, 5.0, 5.5)
    turns = [AGENT, ANSWER, follow_up, second, outro, late]
    found = [segment.question_index for segment in lay_out(turns, offsets={}, duration=None)]
    assert found == [0, 0, 0, 0, None, None]


def test_of_the_agent_only_what_was_played_remains() -> None:
    cut = cut_to_played(TurnValue(**{**_values(AGENT), "played": 0.3}))
    assert (cut.content, cut.words, cut.end) == ("Why this", AGENT.words[:2], 1.3)  # type: ignore[index]
    assert lay_out([TurnValue(**{**_values(AGENT), "played": 0.0})], offsets={1: 0.0}, duration=9.0) == ()


def test_a_line_that_was_cut_off_keeps_the_punctuation_of_its_text() -> None:
    words = (("twenty", 0.0, 0.3), ("five", 0.3, 0.6), ("years", 0.6, 0.9), ("bank", 0.9, 1.6))
    told = TurnValue(1, "agent", 0, "25 years, bank?", words, 1, 0.0, 1.6, played=0.7)
    assert cut_to_played(told).content == "25 years,"


def test_words_stay_within_the_recording_and_in_order() -> None:
    words = (("late", 8.0, 12.0), ("early", 7.9, 8.1), ("after", 11.0, 13.0))
    (segment,) = lay_out(
        [TurnValue(1, "user", 0, "late early after", words, 1, 7.0, 13.0)], offsets={1: 0.0}, duration=10.0
    )
    assert [(word.start, word.end) for word in segment.words] == [(8.0, 10.0), (8.001, 8.1), (10.0, 10.0)]
    assert segment.end == 10.0


def test_a_candidate_who_interrupts_follows_the_words_that_were_cut_off() -> None:
    early = TurnValue(2, "user", None, "well yes", (("well", 1.3, 1.5), ("yes", 1.6, 1.8)), 1, 1.2, 2.0)
    agent, answer = lay_out([AGENT, early], offsets={1: 0.0, 2: 0.0}, duration=9.0)
    assert [word.start for word in answer.words] == [pytest.approx(agent.words[-1].start + 0.001), 1.6]
    assert answer.start >= agent.start


def test_words_that_the_recording_lost_lie_at_the_end_of_their_run() -> None:
    cut = TurnValue(
        2, "user", 0, "we were eight", (("we", 9.0, 9.2), ("were", 10.5, 10.7), ("eight", 11.0, 11.4)), 1, 9.0, 11.5
    )
    again = TurnValue(3, "agent", 0, "Why?", (("Why?", 0.4, 0.8),), 2, 0.4, 0.9)
    first, second = lay_out([cut, again], offsets={2: 0.0, 3: 10.0}, ends={2: 10.0, 3: 30.0}, duration=30.0)
    assert [(word.start, word.end) for word in first.words] == [(9.0, 9.2), (9.999, 10.0), (10.0, 10.0)]
    assert (first.end, second.words[0].start) == (10.0, 10.4)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("agent", "user")),
            st.sampled_from((1, 2, 3)),
            st.floats(0, 40),
            st.lists(st.tuples(st.floats(0, 60), st.floats(0, 60)), max_size=6),
        ),
        max_size=8,
    )
)
def test_times_never_run_backwards_whatever_was_measured(
    spoken: list[tuple[Role, int, float, list[tuple[float, float]]]],
) -> None:
    turns = [
        TurnValue(number, role, 0, "words", tuple(("w", *times) for times in words), run, start, start + 1)
        for number, (role, run, start, words) in enumerate(spoken, 1)
    ]
    offsets, ends = {t.number: 10.0 * (t.segment or 0) for t in turns}, {t.number: 30.0 for t in turns}
    found = lay_out(turns, offsets=offsets, ends=ends, duration=60.0)
    starts = [word.start for segment in found for word in segment.words]
    assert all(second > first or second >= 30.0 for first, second in pairwise(starts))
    assert all(0 <= word.start <= word.end <= 60.0 for segment in found for word in segment.words)
    assert all(0 <= segment.start <= segment.end <= 60.0 for segment in found)
    assert [segment.start for segment in found] == sorted(segment.start for segment in found)


def test_typed_answers_and_silent_ones_have_no_times() -> None:
    typed = TurnValue(2, "user", None, "typed", None, typed=True)
    silent = TurnValue(3, "user", None, "  ", None, 1, 4.0, 5.0)
    agent, answer = lay_out([AGENT, typed, silent], offsets={1: 0.0}, duration=9.0)
    assert (answer.words, answer.start, answer.end) == ((), agent.end, agent.end)


def test_without_a_recording_all_times_are_zero() -> None:
    segments = lay_out([AGENT, ANSWER], offsets={}, duration=None)
    assert [(s.start, s.end, s.words) for s in segments] == [(0.0, 0.0, ()), (0.0, 0.0, ())]


def test_a_turn_without_a_place_takes_its_neighbours_shift() -> None:
    turns = [AGENT, ANSWER, TurnValue(3, "user", None, "x", None, 2, 1.0, 2.0)]
    assert offsets_of(turns, runs={1: 5.0, 2: 20.0}, shifts={2: 0.12, 3: None}) == {1: 5.12, 2: 5.12, 3: 20.0}


def test_a_place_far_from_all_others_is_not_believed() -> None:
    turns = [TurnValue(n, "user", None, "x", None, 1, float(n), n + 0.5) for n in range(1, 5)]
    found = offsets_of(turns, runs={1: 0.0}, shifts={1: 0.1, 2: 0.11, 3: 1.4, 4: 0.12})
    assert found[3] == pytest.approx(0.11, abs=0.02)


def _values(turn: TurnValue) -> dict[str, object]:
    return {name: getattr(turn, name) for name in turn.__dataclass_fields__}
