"""Answers are heard again while the talk goes on, and the result is made of what was heard then."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.core import claims
from app.core.db import db, row_security
from app.core.errors import GatewayError
from app.core.queue import SilentWaker
from app.gateways import speech_check
from app.interviews import HEAR_AGAIN, actions, queries
from app.interviews.jobs import hearing, processing
from app.interviews.models import Hearing, Interview, Role, Stage, Utterance
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Track
from tests.factories import Made
from tests.people import Person

from .conftest import engines_of, later
from .fakes import ScriptedAnalyst, ScriptedTranscriber
from .test_recorded import keep

LIVE = "we finished the project to weeks before"
BETTER = "We finished the project two weeks before."
CHUNK = 16_000
FIRST = 4


@pytest.fixture(scope="module")
def sound() -> bytes:
    return speech_check.sample()


@pytest.fixture
def ears(app: Flask) -> Iterator[ScriptedTranscriber]:
    transcriber = ScriptedTranscriber(text=LIVE, better=BETTER)
    with engines_of(app, transcriber=transcriber, analyst=ScriptedAnalyst()):
        yield transcriber


@pytest.fixture
def answered(book: Made, sound: bytes) -> Made:
    """``answered(hearing=…, **values)``: a running interview with one spoken answer."""

    def make(content: str | None = LIVE, state: Hearing = Hearing.WAITING, **values: Any) -> Utterance:
        interview: Interview = book()
        actions.begin(interview)
        run = recordings.open_run(interview.id, mime_type="audio/webm;codecs=opus")
        number = run.number
        db.session.commit()
        pieces = [sound[at : at + CHUNK] for at in range(0, len(sound), CHUNK)]
        keep(interview.id, number, Track.VOICE, {FIRST + at: piece for at, piece in enumerate(pieces)})
        last = FIRST + len(pieces) - 1
        row = Utterance(
            interview_id=interview.id,
            number=1,
            role=Role.USER,
            content=content,
            question_index=0,
            segment=number,
            first_chunk=FIRST,
            last_chunk=last,
            start=FIRST * 0.5,
            end=(last + 1) * 0.5,
            engine="scripted",
            hearing=state,
            **values,
        )
        db.session.add(row)
        db.session.commit()
        return row

    return make


def now(row: Utterance) -> Utterance:
    return db.session.get_one(Utterance, row.id, populate_existing=True)


def test_the_better_text_replaces_the_first_with_times_and_confidence(
    answered: Made, ears: ScriptedTranscriber, sound: bytes
) -> None:
    row = answered()
    hearing.hear_again(row.id)
    row = now(row)
    assert (row.content, row.engine, row.confidence, row.hearing) == (BETTER, "better", 0.9, Hearing.HEARD)
    assert row.words[0] == ["We", 2.2, 2.4]
    assert (row.start, row.end) == (2.2, row.words[-1][2])
    assert row.lease_until is None
    assert ears.asked == [len(sound)]


def test_a_second_run_changes_nothing_and_an_absent_answer_is_fine(answered: Made, ears: ScriptedTranscriber) -> None:
    row = answered()
    hearing.hear_again(row.id)
    hearing.hear_again(row.id)
    assert len(ears.asked) == 1
    db.session.delete(now(row))
    db.session.commit()
    hearing.hear_again(row.id)


@pytest.mark.parametrize("better", ["", "one two three " * 40])
def test_what_the_live_talk_understood_is_not_taken_away(
    answered: Made, ears: ScriptedTranscriber, better: str
) -> None:
    row = answered()
    ears.better = better
    hearing.hear_again(row.id)
    assert (now(row).content, now(row).hearing) == (LIVE, Hearing.HEARD)


def test_an_answer_without_words_is_settled_as_one(answered: Made, ears: ScriptedTranscriber) -> None:
    row = answered(content=None)
    ears.better = ""
    hearing.hear_again(row.id)
    assert (now(row).content, now(row).hearing) == ("", Hearing.HEARD)


def test_where_no_engine_hears_better_the_first_text_stays(answered: Made, ears: ScriptedTranscriber) -> None:
    row = answered()
    ears.better = None
    hearing.hear_again(row.id)
    assert (now(row).content, now(row).hearing, ears.asked) == (LIVE, Hearing.NONE, [])


def test_an_engine_that_fails_is_tried_three_times(answered: Made, ears: ScriptedTranscriber) -> None:
    row = answered()
    ears.better = GatewayError("the speech host cannot be reached", retryable=True)
    states = []
    for minutes in (0, 2, 4, 6):
        with later(minutes=minutes):
            hearing.hear_again(row.id)
            states.append(str(now(row).hearing))
            db.session.rollback()
    assert states == ["waiting", "waiting", "failed", "failed"]
    assert (now(row).content, len(ears.asked)) == (LIVE, 3)


def test_the_sweep_rings_for_answers_that_wait_and_for_those_whose_worker_died(
    answered: Made, ears: ScriptedTranscriber, waker: SilentWaker
) -> None:
    waits, done, dead = answered(), answered(state=Hearing.HEARD), answered()
    claims.take(
        Utterance.hearing, dead.id, expects=[Hearing.WAITING], becomes=Hearing.HEARING, lease=timedelta(seconds=30)
    )
    db.session.commit()
    waker.enqueued.clear()
    processing.sweep()
    assert {ids for job, ids in waker.enqueued if job is HEAR_AGAIN} == {(waits.id,)}
    with later(seconds=31):
        processing.sweep()
    assert {ids for job, ids in waker.enqueued if job is HEAR_AGAIN} == {(waits.id,), (dead.id,)}
    assert done.id not in queries.unheard()


def test_the_result_is_made_of_what_was_heard_last(owner: Person, answered: Made, ears: ScriptedTranscriber) -> None:
    row = answered()
    interview = db.session.get_one(Interview, row.interview_id)
    interview.without_recording = True
    actions.submit(interview)
    db.session.commit()
    processing.process_interview(interview.id)
    assert interview_now(interview).stage is Stage.COMPLETED
    assert len(ears.asked) == 1
    assert BETTER in result_of(owner, interview)["transcript"]


@pytest.mark.parametrize("content", [LIVE, None])
def test_answers_that_no_one_could_hear_again_before_are_heard_by_the_processing(
    owner: Person, answered: Made, ears: ScriptedTranscriber, content: str | None
) -> None:
    row = answered(content=content, state=Hearing.NONE)
    interview = db.session.get_one(Interview, row.interview_id)
    interview.without_recording = True
    actions.submit(interview)
    db.session.commit()
    processing.process_interview(interview.id)
    assert BETTER in result_of(owner, interview)["transcript"]
    assert len(ears.asked) == 1


def test_the_result_does_not_wait_for_an_engine_that_fails(
    owner: Person, answered: Made, ears: ScriptedTranscriber
) -> None:
    row = answered()
    ears.better = GatewayError("the speech host cannot be reached", retryable=True)
    interview = db.session.get_one(Interview, row.interview_id)
    interview.without_recording = True
    actions.submit(interview)
    db.session.commit()
    processing.process_interview(interview.id)
    assert LIVE in result_of(owner, interview)["transcript"]


def test_the_processing_waits_for_an_answer_that_another_worker_hears(
    app: Flask, answered: Made, ears: ScriptedTranscriber
) -> None:
    row = answered()
    row_id, interview_id = row.id, row.interview_id
    token = claims.take(
        Utterance.hearing, row_id, expects=[Hearing.WAITING], becomes=Hearing.HEARING, lease=timedelta(minutes=5)
    )
    db.session.commit()
    waited = threading.Event()

    def wait() -> None:
        with app.app_context(), row_security.everyone():
            hearing.hear_answers(interview_id)
            waited.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not waited.wait(0.6)
    claims.finish(Utterance, row_id, token or 0, hearing=Hearing.HEARD, content="heard elsewhere")
    db.session.commit()
    assert waited.wait(30)
    waiting.join()
    assert (now(row).content, ears.asked) == ("heard elsewhere", [])


def test_what_was_withdrawn_or_revoked_is_not_heard(owner: Person, answered: Made, ears: ScriptedTranscriber) -> None:
    withdrawn, revoked = answered(), answered()
    actions.withdraw(db.session.get_one(Interview, withdrawn.interview_id))
    actions.revoke_recordings(db.session.get_one(Interview, revoked.interview_id))
    db.session.commit()
    for row in (withdrawn, revoked):
        hearing.hear_again(row.id)
    assert ears.asked == []


def test_test_interviews_are_not_heard_again(answered: Made, ears: ScriptedTranscriber) -> None:
    row = answered()
    db.session.get_one(Interview, row.interview_id).is_test = True
    db.session.commit()
    hearing.hear_answers(row.interview_id)
    assert ears.asked == []


def interview_now(interview: Interview) -> Interview:
    return db.session.get_one(Interview, interview.id, populate_existing=True)


def result_of(owner: Person, interview: Interview) -> dict[str, Any]:
    found: dict[str, Any] = owner.api("GET", f"/v1/interviews/{interview.id}").json["interview_data"]
    return found
