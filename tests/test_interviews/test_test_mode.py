"""Test keys: what they book completes by itself, goes the ordinary way, and is counted nowhere."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import actions as accounts
from app.accounts import members
from app.accounts.actions import TEST_PREFIX
from app.accounts.models import ApiKey, AuditEntry
from app.candidates import actions as candidates
from app.candidates.models import Candidate
from app.candidates.queries import CandidateFilter, counts_seen_by, how_many_seen_by
from app.conversation import actions as voice
from app.conversation.actions import Agreed
from app.conversation.jobs import sweep_sittings
from app.conversation.models import Mode, Turn
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, GatewayError
from app.core.queue import SilentWaker
from app.gateways import Gateways
from app.interviews import PLAY_TEST, PROCESS_VIDEO, insights
from app.interviews import actions as interviews
from app.interviews.jobs import processing
from app.interviews.models import Interview, Role, Stage
from app.interviews.queries import utterances_of
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import urls_for
from app.operations.test_interviews.jobs.playing import play
from app.privacy import actions as compliance
from app.review.dashboard.queries import new_results, this_week
from app.webhooks.delivery import Message, headers
from app.webhooks.models import Delivery
from app.webhooks.secret_keys import Secrets
from tests.conversation.conftest import working_with
from tests.conversation.fakes import ScriptedSpeaker, ScriptedTranscriber
from tests.factories import Made
from tests.interviews.fakes import ScriptedAnalyst
from tests.people import Person

HOOK = "https://customer.example/hook"
EMAIL = "robin@example.com"


@pytest.fixture
def key(owner: Person) -> str:
    _row, secret = accounts.issue_api_key(owner.organization, name="Trial", by=owner.member, is_test=True)
    db.session.commit()
    return secret


@pytest.fixture
def speaks(app: Flask, engines: Gateways) -> Iterator[ScriptedSpeaker]:
    speaker = ScriptedSpeaker()
    with working_with(app, engines, speaker=speaker, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst()):
        yield speaker


def call(owner: Person, key: str, method: str, path: str, **more: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}", **more.pop("headers", {})}
    return owner.app.test_client().open(path, method=method, headers=headers, **more)


@pytest.fixture
def booked(owner: Person, key: str, make_flow: Made, speaks: ScriptedSpeaker) -> Callable[..., Interview]:
    """``booked(**columns of the flow)``: what ``POST /v1/interviews`` makes with the test key."""

    def made(**columns: Any) -> Interview:
        flow = make_flow(**{"webhook_url": HOOK, "intro": "Welcome.", "follow_up_limit": 0, **columns})
        body = {"interview_flow_id": flow.id, "interviewee_email_address": EMAIL}
        answer = call(owner, key, "POST", "/v1/interviews", json=body)
        assert answer.status_code == 200, answer.json
        assert "test interview" in answer.json["hint"]
        return db.session.get_one(Interview, answer.json["interview_id"])

    return made


def now(interview: Interview) -> Interview:
    return db.session.get_one(Interview, interview.id, populate_existing=True)


def completed(interview: Interview) -> Interview:
    play(interview.id)
    processing.process_interview(interview.id)
    return now(interview)


def test_a_test_key_is_known_by_its_beginning_and_stays_one(owner: Person, key: str) -> None:
    assert key.startswith(TEST_PREFIX)
    row = db.session.query(ApiKey).filter_by(name="Trial").one()
    new, secret = members.rotate_api_key(row, ends="24h", by=owner.member)
    assert (new.is_test, secret.startswith(TEST_PREFIX)) == (True, True)
    entries = db.session.query(AuditEntry).filter_by(action="api_key.issued", subject=row.id).all()
    assert [entry.details for entry in entries] == [{"test": True}]


def test_administrators_make_one_on_the_page(owner: Person) -> None:
    browser = owner.browser
    page = browser.post("/api-keys", data={"name": "Trial", "is_test": "y"}, follow_redirects=True).text
    assert f'value="{TEST_PREFIX}' in page
    assert ">Test</span>" in page
    browser.post("/api-keys", data={"name": "Real"})
    marks = {row.name: row.is_test for row in db.session.query(ApiKey)}
    assert (marks["Trial"], marks["Real"]) == (True, False)


def test_it_completes_by_itself_with_everything_that_a_real_one_has(
    owner: Person, key: str, booked: Callable[..., Interview], waker: SilentWaker
) -> None:
    interview = booked()
    assert (PLAY_TEST, (interview.id,)) in waker.enqueued
    done = completed(interview)
    assert done.stage is Stage.COMPLETED
    data = call(owner, key, "GET", f"/v1/interviews/{done.id}?transcript=full").json["interview_data"]
    assert data["summary"].startswith("TEST: ")
    assert data["transcript"].count("TEST answer") == 2
    answers = [one for one in data["transcript_with_timestamp"] if one["role"] == "user"]
    assert all(one["words"] for one in answers)
    assert [len(one["transcript_item_indices"]) for one in data["questions_to_transcript_mapping"]] == [2, 2]
    assert data["audio_url"]
    assert data["video_url"] is None
    sent = [json.loads(row.body)["event_type"] for row in db.session.query(Delivery).order_by(Delivery.created_at)]
    assert sorted(sent) == ["candidate_status_updated", "interview_processed"]


def test_its_sound_and_picture_play(booked: Callable[..., Interview]) -> None:
    done = completed(booked(is_video_enabled=True))
    processing.process_video(done.id)
    assert set(urls_for(done.id)) == {Media.AUDIO, Media.VIDEO}


def test_no_figure_counts_it_and_lists_show_it_when_asked(owner: Person, booked: Callable[..., Interview]) -> None:
    done, me = completed(booked()), owner.member
    today = clock.now().date()
    assert [bar.count for bar in insights.funnel(insights.tallies(me, insights.Span(today, today)))] == [0, 0, 0, 0]
    assert insights.usage(me, insights.Span(today, today)) == []
    assert [one.count for one in this_week(me)] == [0, 0, 0]
    assert new_results(me, limit=8) == []
    assert (how_many_seen_by(me, CandidateFilter()), counts_seen_by(me, CandidateFilter())) == (0, {})
    assert how_many_seen_by(me, CandidateFilter(tests=True)) == 1
    browser = owner.browser
    for page, mark in (("/interviews", EMAIL), ("/candidates", EMAIL)):
        assert mark not in browser.get(page).text
        shown = browser.get(f"{page}?tests=yes").text
        assert mark in shown
        assert ">Test</span>" in shown
    page = browser.get(f"/interviews/{done.id}").text
    assert "This is a test interview, created with a test key" in page
    assert ">Test</span>" in page
    assert EMAIL not in browser.get("/candidates/board").text


def test_people_and_tests_of_one_address_are_two_candidates(owner: Person, booked: Callable[..., Interview]) -> None:
    trial = booked()
    real = interviews.book(owner.organization, trial.flow_id, email=EMAIL)
    db.session.commit()
    assert {row.is_test: row.id for row in db.session.query(Candidate)} == {
        True: trial.candidate_id,
        False: real.candidate_id,
    }
    assert (real.is_test, real.due_at) == (False, None)


def test_calls_of_test_keys_are_repeated_apart_from_real_ones(
    owner: Person, key: str, make_flow: Made, speaks: ScriptedSpeaker
) -> None:
    same = {"json": {"interview_flow_id": make_flow().id}, "headers": {"Idempotency-Key": "order-1"}}
    first, again = (call(owner, key, "POST", "/v1/interviews", **same).json for _ in range(2))
    real = owner.api("POST", "/v1/interviews", **same).json
    assert first == again
    assert real["interview_id"] != first["interview_id"]


def test_played_twice_it_is_there_once(booked: Callable[..., Interview]) -> None:
    interview = booked()
    play(interview.id)
    said = [row.content for row in utterances_of(interview.id)]
    play(interview.id)
    assert [row.content for row in utterances_of(interview.id)] == said
    assert now(interview).stage is Stage.SUBMITTED


def test_after_a_crash_the_next_run_goes_on_where_the_last_one_stopped(
    booked: Callable[..., Interview], speaks: ScriptedSpeaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    interview = booked()

    def dies(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("app.operations.test_interviews.jobs.sound.Recorder.answer", dies)
        with pytest.raises(SystemExit):
            play(interview.id)
    db.session.rollback()
    play(interview.id)
    assert now(interview).stage is Stage.RUNNING, "the first run may still be alive"
    then = clock.now() + timedelta(minutes=3)
    with clock.replaced(lambda: then):
        processing.sweep()
        play(interview.id)
    assert now(interview).stage is Stage.SUBMITTED
    numbers = db.session.scalars(sa.select(Turn.number).order_by(Turn.number)).all()
    assert list(numbers) == [1, 2, 3]
    assert [row.role for row in utterances_of(interview.id)].count(Role.USER) == 2


def test_the_sweep_finds_what_nobody_was_woken_for(booked: Callable[..., Interview], waker: SilentWaker) -> None:
    interview = booked()
    waker.enqueued.clear()
    then = clock.now() + timedelta(seconds=1)
    with clock.replaced(lambda: then):
        processing.sweep()
    assert (PLAY_TEST, (interview.id,)) in waker.enqueued


def test_without_a_voice_it_is_typed_and_completes(booked: Callable[..., Interview], speaks: ScriptedSpeaker) -> None:
    speaks.error = GatewayError("no voice", retryable=True)
    done = completed(booked())
    assert done.stage is Stage.COMPLETED
    assert [row.typed for row in utterances_of(done.id) if row.role is Role.USER] == [True, True]


def test_what_breaks_is_tried_again_and_then_left(
    booked: Callable[..., Interview], monkeypatch: pytest.MonkeyPatch
) -> None:
    interview, at = booked(), clock.now()

    def breaks(*_: Any, **__: Any) -> None:
        raise OSError("full")

    monkeypatch.setattr("app.operations.test_interviews.jobs.sound.Recorder.answer", breaks)
    for tries in range(1, 4):
        then = at + timedelta(minutes=4 * tries)
        with clock.replaced(lambda then=then: then):
            play(interview.id)
        assert now(interview).failures == tries
    assert now(interview).due_at is None
    play(interview.id)
    assert now(interview).failures == 3


def test_somebody_who_opens_the_link_first_is_not_interrupted(booked: Callable[..., Interview]) -> None:
    interview = booked()
    assert voice.claim(interview, token_hash="0" * 64, agreed=Agreed("1", "en", Mode.TEXT))
    db.session.commit()
    play(interview.id)
    assert utterances_of(interview.id) == []


def test_it_is_erased_like_any_other(owner: Person, booked: Callable[..., Interview]) -> None:
    done = completed(booked())
    compliance.erase(done, by=owner.member)
    db.session.commit()
    assert utterances_of(done.id) == []
    play(done.id)
    assert utterances_of(done.id) == []


def test_one_whose_recordings_were_revoked_before_it_was_played_is_left(
    owner: Person, key: str, booked: Callable[..., Interview], waker: SilentWaker
) -> None:
    interview = booked()
    assert call(owner, key, "DELETE", f"/v1/interviews/{interview.id}").json == {"success": True}
    play(interview.id)
    left = now(interview)
    assert (left.stage, left.due_at, left.failures) == (Stage.CREATED, None, 0)
    waker.enqueued.clear()
    then = clock.now() + timedelta(days=1)
    with clock.replaced(lambda: then):
        processing.sweep()
    assert (PLAY_TEST, (interview.id,)) not in waker.enqueued


def test_one_whose_recordings_are_revoked_while_it_is_played_completes_without_them(
    owner: Person, key: str, booked: Callable[..., Interview], speaks: ScriptedSpeaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    interview = booked()
    speak = speaks.speak

    def revoked_meanwhile(*given: Any, **more: Any) -> Any:
        assert call(owner, key, "DELETE", f"/v1/interviews/{interview.id}").json == {"success": True}
        return speak(*given, **more)

    monkeypatch.setattr(speaks, "speak", revoked_meanwhile)
    done = completed(interview)
    assert done.stage is Stage.COMPLETED
    assert urls_for(done.id) == {}


def test_a_conflict_that_no_other_run_is_the_reason_of_is_a_failure(
    booked: Callable[..., Interview], monkeypatch: pytest.MonkeyPatch
) -> None:
    interview = booked()

    def refused(*_: Any, **__: Any) -> None:
        raise Conflict("parts of the recording have not arrived yet", details={"missing": [0]})

    monkeypatch.setattr("app.operations.test_interviews.jobs.sound.Recorder.answer", refused)
    play(interview.id)
    assert now(interview).failures == 1


def test_its_webhooks_say_that_it_is_a_test(owner: Person, booked: Callable[..., Interview]) -> None:
    trial = completed(booked())
    real = interviews.book(owner.organization, trial.flow_id, email="real@example.com")
    assert real.candidate is not None
    candidates.move(real.candidate, "rejected", by=None)
    db.session.commit()
    ids = {(row.subject, row.event_type.value): row.event_id for row in db.session.query(Delivery)}
    marked = {place for place, event_id in ids.items() if event_id.startswith("evt_test_")}
    assert marked == {(trial.id, "interview_processed"), (trial.candidate_id, "candidate_status_updated")}
    assert set(ids) - marked == {(real.candidate_id, "candidate_status_updated")}
    for event_id in ids.values():
        message = Message(HOOK, Secrets(None), event_id, b"{}", clock.now())
        assert headers(message, timestamp=1).get("X-Parley-Test") == ("1" if event_id.startswith("evt_test_") else None)


def ordered(owner: Person, key: str, flow: Any, scenario: str) -> Any:
    headers = {"X-Parley-Scenario": scenario}
    return call(owner, key, "POST", "/v1/interviews", json={"interview_flow_id": flow.id}, headers=headers)


def told(owner: Person, key: str, interview: Interview) -> Any:
    return call(owner, key, "GET", f"/v1/interviews/{interview.id}?transcript=none").json


def test_with_scores(owner: Person, key: str, make_flow: Made, speaks: ScriptedSpeaker) -> None:
    answer = ordered(owner, key, make_flow(webhook_url=HOOK), "scores")
    assert "made-up scores" in answer.json["hint"]
    done = completed(db.session.get_one(Interview, answer.json["interview_id"]))
    scores = told(owner, key, done)["interview_data"]["scores"]
    assert len(scores) == 7
    assert {type(value) for value in scores.values()} == {float, type(None)}


def test_abandoned(owner: Person, key: str, make_flow: Made, speaks: ScriptedSpeaker) -> None:
    answer = ordered(owner, key, make_flow(webhook_url=HOOK), "abandoned")
    left = completed(db.session.get_one(Interview, answer.json["interview_id"]))
    assert left.stage is Stage.ABANDONED
    then = clock.now() + timedelta(days=2)
    with clock.replaced(lambda: then):
        sweep_sittings()
        processing.sweep()
    play(left.id)
    assert now(left).stage is Stage.ABANDONED
    assert told(owner, key, left)["status"] == "incomplete"
    assert db.session.query(Delivery).count() == 0


def test_failed_until_somebody_tries_again(owner: Person, key: str, make_flow: Made, speaks: ScriptedSpeaker) -> None:
    answer = ordered(owner, key, make_flow(webhook_url=HOOK), "failed")
    broken = completed(db.session.get_one(Interview, answer.json["interview_id"]))
    assert broken.stage is Stage.PROCESSING_FAILED
    assert (told(owner, key, broken)["status"], db.session.query(Delivery).count()) == ("incomplete", 0)
    assert "the test key requested a failure" in owner.browser.get(f"/interviews/{broken.id}").text
    owner.browser.post(f"/interviews/{broken.id}/retry")
    processing.process_interview(broken.id)
    assert told(owner, key, broken)["status"] == "completed"


def test_video_late(owner: Person, key: str, make_flow: Made, speaks: ScriptedSpeaker, waker: SilentWaker) -> None:
    answer = ordered(owner, key, make_flow(webhook_url=HOOK, is_video_enabled=True), "late-video")
    done = completed(db.session.get_one(Interview, answer.json["interview_id"]))
    assert told(owner, key, done)["interview_data"]["video_url"] is None
    at, job = clock.now(), (PROCESS_VIDEO, (done.id,))
    for minutes, rings in ((4, False), (6, True)):
        with clock.replaced(lambda minutes=minutes: at + timedelta(minutes=minutes)):
            processing.sweep()
        assert (job in waker.enqueued) is rings
    processing.process_video(done.id)
    assert told(owner, key, done)["interview_data"]["video_url"]


@pytest.mark.parametrize(
    ("scenario", "is_live", "words"),
    [
        ("scored", False, "scores, abandoned, failed, late-video"),
        ("", False, "late-video"),
        ("Scores", False, "abandoned"),
        ("scores", True, "Scenarios need a test key"),
        ("late-video", False, "is_video_enabled"),
    ],
)
def test_a_scenario_that_cannot_be_played_is_refused(
    owner: Person, key: str, make_flow: Made, scenario: str, is_live: bool, words: str
) -> None:
    answer = ordered(owner, owner.key if is_live else key, make_flow(), scenario)
    assert answer.status_code == 422
    assert words in answer.json["message"]
    assert db.session.query(Interview).count() == 0
