"""Which segments belong to which question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gateways.speech.ports import Segment
from app.interviews.analysis.mapping import QuestionPart, check, map_questions


def segment(role, question_index, start, end):
    return Segment(role, "text", (), start, end, question_index)


def test_the_question_its_answers_and_follow_ups_belong_together():
    segments = (
        segment("agent", None, 0, 2),
        segment("agent", 0, 2, 4),
        segment("user", 0, 5, 9),
        segment("agent", 0, 9.5, 11),
        segment("user", 0, 12, 15),
        segment("agent", 1, 16, 18),
        segment("agent", None, 19, 20),
    )
    first, second, third = map_questions(("One?", "Two?", "Three?"), segments)
    assert first == QuestionPart(0, "One?", (1, 2, 3, 4), 2, 15)
    assert second == QuestionPart(1, "Two?", (5,), 16, 18)
    assert third == QuestionPart(2, "Three?", (), 0.0, 0.0)


def test_parts_need_not_be_consecutive():
    segments = (segment("agent", 0, 0, 1), segment("agent", 1, 1, 2), segment("user", 0, 2, 3))
    assert map_questions(("One?", "Two?"), segments)[0].indices == (0, 2)


@pytest.mark.parametrize("index", [-1, 2])
def test_a_question_outside_the_script_is_an_error(index):
    with pytest.raises(ValueError, match=f"question {index} of 2"):
        map_questions(("One?", "Two?"), (segment("user", index, 0, 1),))


places = st.lists(
    st.tuples(st.sampled_from(["agent", "user"]), st.none() | st.integers(0, 3), st.floats(0, 9), st.floats(0, 9))
)


@given(places)
def test_every_segment_is_mapped_once_and_the_mapping_agrees_with_itself(made):
    segments = tuple(segment(role, number, start, start + length) for role, number, start, length in made)
    parts = map_questions(("A", "B", "C", "D"), segments)
    check(parts, segments)
    mapped = sorted(index for part in parts for index in part.indices)
    assert mapped == [index for index, one in enumerate(segments) if one.question_index is not None]


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (QuestionPart(0, "A", (1, 0), 0, 3), "not in order"),
        (QuestionPart(0, "A", (0, 0), 0, 3), "not in order"),
        (QuestionPart(1, "B", (0,), 0, 3), "another question"),
        (QuestionPart(0, "A", (0,), 0.5, 3), "outside its time"),
        (QuestionPart(0, "A", (0, 1), 0, 2), "outside its time"),
    ],
)
def test_a_mapping_that_disagrees_with_the_transcript_is_refused(part, problem):
    segments = (segment("agent", 0, 0, 1), segment("user", 0, 1, 3))
    with pytest.raises(ValueError, match=problem):
        check((part,), segments)
