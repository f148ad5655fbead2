"""Fluency from word times alone."""

import pytest

from app.gateways.speech.ports import Segment, Word
from app.interviews.analysis.fluency import measure


def answer(*, words, pace, every=10, pause=0.4, start=0.0, role="user"):
    """`words` words at `pace` words a minute of speaking, with a pause after every `every` words."""
    spoken, clock = [], start
    for number in range(words):
        spoken.append(Word("w", clock, clock + 60 / pace))
        clock += 60 / pace + (pause if number % every == every - 1 else 0)
    return Segment(role, "w " * words, tuple(spoken), start, clock, 0)


def test_a_flowing_answer_scores_high_and_a_halting_one_low():
    flowing = measure([answer(words=200, pace=160)], "en-US")
    halting = measure([answer(words=80, pace=120, every=2, pause=1.2)], "en-US")
    assert flowing.score >= 4.5
    assert halting.score <= 1.5
    assert halting.share < flowing.share
    assert halting.run == pytest.approx(2)


def test_the_measures_are_what_they_say():
    found = measure([answer(words=120, pace=100, every=10, pause=1.0)], "en-US")
    assert found.seconds == pytest.approx(120 * 0.6 + 11)
    assert found.pace == pytest.approx(60 * 120 / found.seconds)
    assert found.share == pytest.approx(72 / 83)
    assert found.run == pytest.approx(10)


def test_short_gaps_are_no_pauses():
    found = measure([answer(words=200, pace=160, every=1, pause=0.24)], "en-US")
    assert found.share == 1.0
    assert found.run == 200


def test_the_time_before_an_answer_and_between_answers_does_not_count():
    near = [answer(words=100, pace=150), answer(words=100, pace=150, start=60)]
    far = [answer(words=100, pace=150, start=30), answer(words=100, pace=150, start=900)]
    assert measure(near, "en-US").score == measure(far, "en-US").score


def test_the_agents_words_do_not_count():
    assert measure([answer(words=400, pace=160, role="agent")], "en-US") is None


@pytest.mark.parametrize(
    ("segments", "language"),
    [
        ([], "en-US"),
        ([answer(words=100, pace=150, pause=0)], "en-US"),  # 40 s
        ([Segment("user", "typed " * 400, (), 0, 300, 0)], "en-US"),
        ([answer(words=400, pace=160)], "ja-JP"),
        ([answer(words=400, pace=160)], "vi-VN"),
    ],
)
def test_too_little_or_unmeasured_speech_is_not_assessed(segments, language):
    assert measure(segments, language) is None


def test_pace_is_seen_in_relation_to_the_language():
    slow_for_english = [answer(words=100, pace=72, every=200)]
    assert measure(slow_for_english, "ar-AE").score > measure(slow_for_english, "en-US").score


def test_racing_is_not_better_than_speaking_quickly():
    quick, racing = answer(words=300, pace=180), answer(words=500, pace=320)
    assert measure([racing], "en-US").score < measure([quick], "en-US").score
