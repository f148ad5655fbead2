"""The end: only when everything has arrived, once, and with the address to go on to."""

from datetime import timedelta
from typing import Any

import pytest

from app.conversation import actions
from app.conversation.jobs import sweep_sittings
from app.conversation.models import Sitting, Turn
from app.core import clock
from app.core.db import db
from app.core.queue import SilentWaker
from app.interviews import PROCESS_INTERVIEW
from app.interviews.models import Stage
from app.interviews.recordings.queries import runs_of
from app.operations.demo.candidate import Candidate, Refused, Talk
from app.operations.demo.tape import Tape
from tests.factories import Made

from .conftest import Candidates, interview_of, sound

RUN = {"segment": 1, "last_mix_chunk": 2, "last_voice_chunk": 4}


def at_the_outro(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="I like it.")
    candidate.turn(3, "end")


def test_the_interview_is_handed_in_and_the_way_on_is_told_then_only(
    candidates: Candidates, book: Made, waker: SilentWaker
) -> None:
    candidate = candidates(book(redirect_url="https://example.com/thanks"))
    candidate.start()
    at_the_outro(candidate)
    assert candidate.call("GET", "/state")["redirect_url"] is None
    candidate.finish([])
    interview = interview_of(candidate)
    assert (candidate.redirect_url, interview.stage) == ("https://example.com/thanks", Stage.SUBMITTED)
    assert (PROCESS_INTERVIEW, (interview.id,)) in waker.enqueued
    assert candidate.call("GET", "/state")["redirect_url"] == "https://example.com/thanks"
    assert "example.com" in candidate.open()


def test_finishing_again_gives_the_same_answer_and_hands_in_once(candidate: Candidate, waker: SilentWaker) -> None:
    at_the_outro(candidate)
    for _ in range(3):
        candidate.finish([])
    assert [job for job, _ids in waker.enqueued].count(PROCESS_INTERVIEW) == 1


def test_gaps_are_named_and_nothing_is_closed_before_they_are_filled(candidate: Candidate) -> None:
    first, second = candidate.open_segment("audio/webm"), candidate.open_segment("audio/webm")
    candidate.put_chunk(first, 1, b"one", track="mix")
    candidate.put_chunk(second, 0, b"zero", track="mix")
    at_the_outro(candidate)
    runs = [{**RUN, "segment": first}, {**RUN, "segment": second, "last_mix_chunk": 0}]
    with pytest.raises(Refused) as refused:
        candidate.finish(runs)
    assert (refused.value.status, refused.value.body["missing"]) == (409, {"1": [0, 2]})
    assert interview_of(candidate).stage is Stage.RUNNING
    for number in (0, 2):
        candidate.put_chunk(first, number, b"late", track="mix")
    candidate.finish(runs)
    assert interview_of(candidate).stage is Stage.SUBMITTED
    assert [run.last_mix_chunk for run in runs_of(interview_of(candidate).id)] == [2, 0]


def test_a_run_without_a_single_chunk_is_no_gap(candidate: Candidate) -> None:
    segment = candidate.open_segment("audio/webm")
    at_the_outro(candidate)
    candidate.finish([{"segment": segment, "last_mix_chunk": -1, "last_voice_chunk": -1}])
    assert interview_of(candidate).stage is Stage.SUBMITTED


def test_before_the_outro_nothing_is_finished(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    with pytest.raises(Refused) as refused:
        candidate.finish([])
    assert (refused.value.status, refused.value.body["reason"], refused.value.body["expected"]) == (409, "not over", 2)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"segments": [{**RUN, "segment": 7}]}, "segments"),
        ({"segments": [{"segment": 1}]}, "segments"),
        ({"segments": [{**RUN, "last_mix_chunk": -2}]}, "segments"),
        ({"segments": "all"}, "segments"),
        ({"segments": [RUN] * 51}, "segments"),
        ({"played": {"whole": 1}}, "played"),
    ],
)
def test_a_wrong_end_names_the_field(candidate: Candidate, body: dict[str, Any], field: str) -> None:
    at_the_outro(candidate)
    answer = candidate.ask("POST", "/finish", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_an_interview_without_questions_is_over_after_the_greeting(candidates: Candidates, book: Made) -> None:
    candidate = candidates(book(questions=[], intro="Hello there.", outro="Goodbye."))
    candidate.start()
    prompt = candidate.turn(1, "begin")
    assert (prompt["text"], prompt["expects"], prompt["question_index"]) == ("Hello there.\n\nGoodbye.", "finish", None)
    candidate.finish([])
    assert interview_of(candidate).stage is Stage.SUBMITTED


def test_a_text_interview_has_the_same_shape_and_no_recording(candidate: Candidate) -> None:
    candidate.write(["I like to help.", "We were eight."])
    interview = interview_of(candidate)
    assert (interview.stage, runs_of(interview.id)) == (Stage.SUBMITTED, [])


# --- those who leave -----------------------------------------------------------------------------------------------


def test_what_was_answered_before_somebody_left_for_good_is_handed_in(candidate: Candidate, waker: SilentWaker) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="I like it.")
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(hours=23)):
        assert sweep_sittings(watched_for=0) == 0
    with clock.replaced(lambda: now + timedelta(hours=25)):
        assert sweep_sittings(watched_for=0) == 1
        assert sweep_sittings(watched_for=0) == 0
    interview = interview_of(candidate)
    assert interview.stage is Stage.SUBMITTED
    assert (PROCESS_INTERVIEW, (interview.id,)) in waker.enqueued
    with pytest.raises(Refused) as refused:
        candidate.turn(3, "text", text="too late")
    assert refused.value.body["reason"] == "finished"
    assert "<h1" in candidate.open()


def test_without_an_answer_the_interview_counts_as_abandoned_and_may_still_be_taken(
    candidate: Candidate, candidates: Candidates
) -> None:
    candidate.turn(1, "begin")
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(hours=25)):
        assert (sweep_sittings(watched_for=0), interview_of(candidate).stage) == (1, Stage.ABANDONED)
        assert sweep_sittings(watched_for=0) == 0
        other = candidates(interview_of(candidate))
        assert other.start()["prompt"]["question"] == "Why do you want this job?"
        assert interview_of(candidate).stage is Stage.RUNNING
        other.turn(2, "text", text="Here I am.")


def test_whoever_comes_back_in_time_keeps_the_interview(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="I like it.")
    interview, now = interview_of(candidate), clock.now()
    with clock.replaced(lambda: now + timedelta(hours=25)):
        candidate.call("POST", "/heartbeat", json={})
        assert not actions.give_up(interview)
        db.session.commit()
    assert interview_of(candidate).stage is Stage.RUNNING
    assert db.session.query(Sitting).one().answers == 1


def test_how_long_each_turn_took_is_kept(candidate: Candidate) -> None:
    talk = Talk(candidate, Tape(video=False))
    candidate.turn(1, "begin")
    candidate.turn(2, "answer", **talk.answer(sound(1)))
    assert db.session.query(Turn).filter(Turn.answered_ms.is_not(None)).count() == 2
