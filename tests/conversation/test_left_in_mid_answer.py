"""A page that is left in the middle of an answer: what was spoken there is the first part of the answer."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.conversation import actions, untaken_speech
from app.conversation.models import Sitting, Turn, TurnState
from app.conversation.queries import sitting_of
from app.core import claims
from app.core.db import db
from app.interviews.models import Role, Stage, Utterance
from app.interviews.queries import utterances_of
from app.operations.demo.candidate import Candidate
from tests.factories import Made

from .around import script_rows
from .conftest import Candidates, interview_of, path_of, sound
from .fakes import ScriptedTranscriber

NOTHING_HEARD = {"segment": None, "started": 0, "seconds": 0, "whole": False}


def said(candidate: Candidate) -> list[tuple[Role, int | None, str | None]]:
    rows = script_rows(utterances_of(interview_of(candidate).id))
    return [(row.role, row.question_index, row.content) for row in rows]


def state(candidate: Candidate) -> dict[str, Any]:
    return dict(candidate.call("GET", "/state"))


def speak(candidate: Candidate, segment: int, first: int, last: int, pcm: bytes | None = None) -> None:
    for number in range(first, last + 1):
        candidate.put_chunk(segment, number, pcm or sound(0.5, seed=number), track="voice")


def recover(candidate: Candidate, **more: Any) -> dict[str, Any]:
    """What the page does after a reload: posts what is open as a part of the answer."""
    now = state(candidate)
    return candidate.turn(now["turn"], "answer", unfinished=True, recovered=True, **now["open_speech"], **more)


@pytest.fixture
def left(candidate: Candidate, hears: ScriptedTranscriber) -> Candidate:
    """Somebody who has been asked the first question and was speaking when the page was loaded again."""
    hears.texts = ["i have been a nurse for", "eleven years in two hospitals"]
    segment = candidate.open_segment("audio/webm")
    candidate.turn(1, "begin", segment=segment)
    speak(candidate, segment, 6, 18)
    return candidate


def test_what_was_spoken_is_named_and_becomes_the_first_part_of_the_answer(left: Candidate) -> None:
    assert state(left)["open_speech"] == {"segment": 1, "first_chunk": 6, "last_chunk": 18}
    reply = recover(left)
    assert (reply["kind"], reply["expects"], reply["question"]) == ("kept", "answer", "Why do you want this job?")
    assert reply["audio_urls"] == []
    assert state(left)["open_speech"] is None
    segment = left.open_segment("audio/webm")
    speak(left, segment, 2, 5)
    left.turn(3, "answer", segment=segment, first_chunk=2, last_chunk=5)
    assert said(left) == [
        (Role.AGENT, 0, "Why do you want this job?"),
        (Role.USER, 0, "i have been a nurse for"),
        (Role.USER, 0, "eleven years in two hospitals"),
    ]
    assert state(left)["open_speech"] is None


def test_a_reload_with_nothing_spoken_changes_nothing(candidate: Candidate) -> None:
    first = candidate.turn(1, "begin", segment=candidate.open_segment("audio/webm"))
    now = state(candidate)
    assert (now["open_speech"], now["turn"], now["prompt"]) == (None, 2, first)


def test_speech_that_turns_have_taken_is_not_open(candidate: Candidate) -> None:
    segment = candidate.open_segment("audio/webm")
    candidate.turn(1, "begin", segment=segment)
    speak(candidate, segment, 2, 9)
    candidate.turn(2, "answer", segment=segment, first_chunk=2, last_chunk=9)
    assert state(candidate)["open_speech"] is None
    speak(candidate, segment, 14, 15)
    candidate.turn(3, "skip", segment=segment, last_chunk=15)
    assert state(candidate)["open_speech"] is None


def test_a_second_reload_finds_the_speech_of_the_second_run(left: Candidate) -> None:
    recover(left)
    segment = left.open_segment("audio/webm")
    speak(left, segment, 1, 8)
    assert state(left)["open_speech"] == {"segment": 2, "first_chunk": 1, "last_chunk": 8}
    assert recover(left)["kind"] == "kept"
    assert [content for role, _, content in said(left) if role is Role.USER] == [
        "i have been a nurse for",
        "eleven years in two hospitals",
    ]


def test_a_reload_before_the_part_was_posted_finds_both_runs_one_after_the_other(left: Candidate) -> None:
    segment = left.open_segment("audio/webm")
    speak(left, segment, 1, 8)
    recover(left)
    assert state(left)["open_speech"] == {"segment": 2, "first_chunk": 1, "last_chunk": 8}
    recover(left)
    assert state(left)["open_speech"] is None


def test_chunks_that_arrive_late_are_a_part_of_it(left: Candidate) -> None:
    speak(left, 1, 19, 24)
    assert state(left)["open_speech"] == {"segment": 1, "first_chunk": 6, "last_chunk": 24}


@pytest.mark.parametrize("heard", ["mm hm", "okay", ""])
def test_a_back_channel_is_no_answer_and_the_question_is_put_again(
    left: Candidate, hears: ScriptedTranscriber, heard: str
) -> None:
    hears.texts = [heard]
    reply = recover(left)
    assert (reply["kind"], reply["text"]) == ("repeat", "Why do you want this job?")
    assert said(left) == [(Role.AGENT, 0, "Why do you want this job?")]


def test_words_to_the_agent_are_no_part_of_the_answer(left: Candidate, hears: ScriptedTranscriber) -> None:
    hears.texts = ["next question please"]
    reply = recover(left)
    assert (reply["kind"], reply["question_index"]) == ("repeat", 0)


def test_a_call_that_did_not_count_and_the_answer_after_it(left: Candidate, hears: ScriptedTranscriber) -> None:
    hears.texts = ["mm hm", "i have been a nurse for"]
    speak(left, 1, 2, 3)
    assert state(left)["open_speech"] == {"segment": 1, "first_chunk": 2, "last_chunk": 3}
    assert recover(left, played=NOTHING_HEARD)["kind"] == "repeat"
    assert recover(left, played=NOTHING_HEARD)["kind"] == "kept"
    assert said(left) == [(Role.USER, 0, "i have been a nurse for")]


def test_more_of_an_answer_whose_reply_nobody_heard_goes_back_to_its_question(
    candidate: Candidate, hears: ScriptedTranscriber
) -> None:
    hears.texts = ["i have been a nurse for eleven years now", "and then in two hospitals"]
    segment = candidate.open_segment("audio/webm")
    candidate.turn(1, "begin", segment=segment)
    speak(candidate, segment, 2, 9)
    assert candidate.turn(2, "answer", segment=segment, first_chunk=2, last_chunk=9)["question_index"] == 1
    speak(candidate, segment, 10, 16)
    reply = recover(candidate, continues=True, played=NOTHING_HEARD)
    assert (reply["kind"], reply["question_index"]) == ("kept", 0)
    assert said(candidate)[-1] == (Role.USER, 0, "and then in two hospitals")
    assert len(said(candidate)) == 3


def test_while_a_reply_is_made_the_page_asks_again(left: Candidate) -> None:
    sitting = sitting_of(interview_of(left).id)
    assert sitting is not None
    left_alone = Turn(
        sitting_id=sitting.id,
        number=2,
        kind="answer",
        state=TurnState.WORKING,
        lease_until=db.session.scalar(db.select(claims.moment(timedelta(seconds=20)))),
    )
    db.session.add(left_alone)
    db.session.commit()
    assert left.call("GET", "/state") == {"retry_after_ms": 400}
    left_alone.lease_until = db.session.scalar(db.select(claims.moment(timedelta(seconds=-1))))
    db.session.commit()
    assert state(left)["open_speech"] is not None


def test_what_a_release_before_has_answered_is_not_taken_twice(left: Candidate) -> None:
    left.turn(2, "answer", segment=1, first_chunk=6, last_chunk=18)
    sitting = sitting_of(interview_of(left).id)
    assert sitting is not None
    db.session.execute(db.update(Turn).values(segment=None, first_chunk=None, last_chunk=None))
    db.session.commit()
    assert untaken_speech.stretches(sitting, most=600) == []


def test_a_long_stretch_comes_in_parts_of_the_longest_answer(left: Candidate) -> None:
    sitting = sitting_of(interview_of(left).id)
    assert sitting is not None
    parts = [(one.first_chunk, one.last_chunk) for one in untaken_speech.stretches(sitting, most=5)]
    assert parts == [(6, 10), (11, 15), (16, 18)]


def test_whoever_never_comes_back_has_said_it_all_the_same(left: Candidate) -> None:
    recover(left)
    segment = left.open_segment("audio/webm")
    speak(left, segment, 2, 3)
    speak(left, segment, 8, 20)
    interview = interview_of(left)
    db.session.execute(db.update(Sitting).values(heartbeat_at=claims.moment(timedelta(hours=-25))))
    assert actions.give_up(interview)
    db.session.commit()
    assert interview_of(left).stage is Stage.SUBMITTED
    last = list(utterances_of(interview.id))[-1]
    assert (last.role, last.question_index, last.content) == (Role.USER, 0, None)
    assert (last.segment, last.start, last.end) == (2, 4.0, 10.5)


@pytest.mark.parametrize("body", [{"kind": "skip"}, {"kind": "text", "text": "x", "unfinished": True}])
def test_only_a_part_that_was_spoken_can_be_recovered(left: Candidate, body: dict[str, Any]) -> None:
    answer = left.ask("POST", "/turns/2", json={**body, "recovered": True})
    assert (answer.status_code, answer.json()["field"]) == (422, "recovered")


def test_another_browser_that_takes_over_finds_it_too(
    scripted: Flask, candidates: Candidates, book: Made, hears: ScriptedTranscriber
) -> None:
    interview = book()
    one = candidates(interview)
    one.start()
    segment = one.open_segment("audio/webm")
    one.turn(1, "begin", segment=segment)
    speak(one, segment, 6, 18)
    db.session.execute(db.update(Sitting).values(heartbeat_at=claims.moment(timedelta(minutes=-3))))
    db.session.commit()
    other = candidates(interview)
    assert other.start()["open_speech"] == {"segment": 1, "first_chunk": 6, "last_chunk": 18}
    assert path_of(interview) in other.link
    assert recover(other)["kind"] == "kept"
    rows = list(db.session.scalars(db.select(Utterance).where(Utterance.interview_id == interview.id)))
    assert [row.content for row in script_rows(rows)] == ["Why do you want this job?", "i like this work very much"]
