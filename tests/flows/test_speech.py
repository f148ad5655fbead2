"""The job that speaks a flow's script before anyone needs it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from app.core import claims, clock
from app.core.db import db
from app.core.errors import GatewayError
from app.flows import actions, jobs
from app.flows.media import StoredMedia
from app.flows.models import FlowStatus, InterviewFlow, SpeechState
from app.flows.queries import unspoken
from app.gateways import Gateways
from app.gateways.speech.manners import coming
from app.gateways.speech.phrases import all_of
from app.gateways.speech.ports import Spoken
from tests.factories import Made


class ScriptedSpeaker:
    """Speaks silence, remembers what was asked of it, and fails as told."""

    name = "scripted"

    def __init__(self, *failures: GatewayError, silent: bool = False) -> None:
        self.spoken: list[tuple[str, str | None, str, bool]] = []
        self.failures = list(failures)
        self.silent = silent
        self.meanwhile: Any = None

    def supports(self, language: str) -> bool:
        return not self.silent

    def identity(self, voice_id: str | None, language: str) -> str:
        return f"scripted:{voice_id}"

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """Nothing is loaded."""

    def speak(
        self, text: str, *, voice_id: str | None, language: str, remember: bool = False, steady: str | None = None
    ) -> Spoken:
        if self.failures:
            raise self.failures.pop(0)
        self.spoken.append((text, voice_id, language, remember))
        if self.meanwhile:
            self.meanwhile()
        return Spoken(pcm=b"\0\0", rate=16_000, words=(), engine="scripted")

    def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
def speak(app: Flask, engines: Gateways) -> Iterator[Any]:
    """``speak(flow, speaker)`` runs the job with this speaker."""

    def run(flow: InterviewFlow, speaker: ScriptedSpeaker) -> InterviewFlow:
        app.extensions["parley.gateways"] = replace(engines, speaker=speaker)
        flow_id = flow.id
        db.session.commit()
        jobs.prepare_speech(flow_id)
        return db.session.get_one(InterviewFlow, flow_id)

    yield run
    app.extensions["parley.gateways"] = engines


def test_everything_fixed_is_spoken_and_remembered(make_flow: Made, speak: Any) -> None:
    flow = make_flow(intro="Hello.", outro="Goodbye.", questions=["One?", "Two?"], voice_id="vendora-Amy")
    speaker = ScriptedSpeaker()
    assert speak(flow, speaker).speech_state is SpeechState.READY
    texts = ("Hello.", "One?", "Two?", "Goodbye.", *all_of("en-US"))
    assert speaker.spoken == [(text, "vendora-Amy", "en-US", True) for text in texts]


def test_a_flow_without_words_of_its_own_still_has_the_fixed_phrases(make_flow: Made, speak: Any) -> None:
    speaker = ScriptedSpeaker()
    assert speak(make_flow(questions=[], intro=" ", language=None), speaker).speech_state is SpeechState.READY
    assert [spoken[0] for spoken in speaker.spoken] == list(all_of("en-US"))


def test_what_comes_is_spoken_beforehand_where_the_flow_has_no_intro(make_flow: Made, speak: Any) -> None:
    speaker = ScriptedSpeaker()
    flow = make_flow(intro=None, outro=None, questions=["One?", "Two?", "Three?"], time_limit_minutes=5)
    assert speak(flow, speaker).speech_state is SpeechState.READY
    texts = (coming("en-US", questions=3, minutes=5), "One?", "Two?", "Three?", *all_of("en-US"))
    assert [spoken[0] for spoken in speaker.spoken] == list(texts)


def test_a_language_without_a_voice_is_ready_with_nothing_spoken(make_flow: Made, speak: Any) -> None:
    speaker = ScriptedSpeaker(silent=True)
    assert speak(make_flow(language="th-TH"), speaker).speech_state is SpeechState.READY
    assert speaker.spoken == []


def test_the_job_may_run_twice_and_speaks_once(make_flow: Made, speak: Any) -> None:
    flow, speaker = make_flow(), ScriptedSpeaker()
    speak(flow, speaker)
    spoken = len(speaker.spoken)
    speak(flow, speaker)
    assert len(speaker.spoken) == spoken


def test_an_unknown_flow_is_nobodys_work(app: Flask) -> None:
    jobs.prepare_speech("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
    assert not db.session().in_transaction()


def test_a_passing_failure_is_tried_again_later(make_flow: Made, speak: Any) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with clock.replaced(lambda: start):
        flow = speak(make_flow(), ScriptedSpeaker(GatewayError("away", retryable=True)))
        assert (flow.speech_state, flow.recoveries) == (SpeechState.PENDING, 1)
        assert unspoken(10) == []
    with clock.replaced(lambda: start + claims.LATER + timedelta(seconds=1)):
        assert unspoken(10) == [flow.id]
        assert speak(flow, ScriptedSpeaker()).speech_state is SpeechState.READY


def test_three_failures_park_the_flow(make_flow: Made, speak: Any) -> None:
    flow, moment = make_flow(), datetime(2026, 1, 1, tzinfo=UTC)
    for _ in range(claims.PARKED_AFTER):
        moment += claims.LATER + timedelta(seconds=1)
        with clock.replaced(lambda now=moment: now):
            flow = speak(flow, ScriptedSpeaker(GatewayError("away", retryable=True)))
    assert flow.speech_state is SpeechState.FAILED
    actions.prepare_anew(flow)
    db.session.commit()
    assert speak(flow, ScriptedSpeaker()).speech_state is SpeechState.READY


def test_a_failure_that_will_not_pass_parks_it_at_once(make_flow: Made, speak: Any) -> None:
    flow = speak(make_flow(), ScriptedSpeaker(GatewayError("no such voice", retryable=False)))
    assert flow.speech_state is SpeechState.FAILED


def test_work_that_died_three_times_is_parked(make_flow: Made, speak: Any) -> None:
    past = datetime(2026, 1, 1, tzinfo=UTC)
    flow = make_flow(speech_state=SpeechState.PREPARING, lease_until=past, recoveries=2, fence=3)
    assert unspoken(10) == [flow.id]
    speaker = ScriptedSpeaker()
    assert speak(flow, speaker).speech_state is SpeechState.FAILED
    assert speaker.spoken == []


def test_an_edit_in_the_middle_stops_the_old_script(make_flow: Made, speak: Any) -> None:
    flow, speaker = make_flow(questions=["Old?"]), ScriptedSpeaker()
    flow_id = flow.id

    def edit() -> None:
        speaker.meanwhile = None
        actions.edit(db.session.get_one(InterviewFlow, flow_id), {"questions": ["New?"]}, files=StoredMedia())
        db.session.commit()

    speaker.meanwhile = edit
    assert speak(flow, speaker).speech_state is SpeechState.PENDING
    assert len(speaker.spoken) == 1
    assert speak(db.session.get_one(InterviewFlow, flow_id), speaker).speech_state is SpeechState.READY
    texts = {spoken[0] for spoken in speaker.spoken}
    assert ("New?" in texts, "Old?" in texts) == (True, False)


class Preferred(ScriptedSpeaker):
    """Speaks with the voice that is there now, of two engines."""

    name = "piper,espeak"
    voice = "espeak:en+f2"

    def identity(self, voice_id: str | None, language: str) -> str:
        return self.voice


def test_a_script_is_spoken_again_when_a_better_voice_has_come(app: Flask, make_flow: Made, speak: Any) -> None:
    speaker = Preferred()
    flow = speak(make_flow(), speaker)
    assert (flow.spoken_with, jobs.sweep_voices()) == ("espeak:en+f2", 0)
    speaker.voice = "piper:piper-en_US-joe-medium:"
    assert jobs.sweep_voices() == 1
    assert unspoken(10) == [flow.id]
    assert speak(flow, speaker).spoken_with == "piper:piper-en_US-joe-medium:"
    speaker.voice = "espeak:en+f2"  # the better one is away for a while
    assert jobs.sweep_voices() == 0
    speaker.voice = "piper:piper-en_US-kristin-medium:"
    flow.status = FlowStatus.CLOSED
    db.session.commit()
    assert jobs.sweep_voices() == 0


def test_scripts_are_spoken_again_a_few_at_a_time(
    app: Flask, make_flow: Made, speak: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaker = Preferred()
    first, second = (speak(make_flow(voice_id=voice), speaker) for voice in ("vendora-Amy", "vendora-Kate"))
    monkeypatch.setattr(jobs, "MOST_AGAIN", 1)
    speaker.voice = "piper:other:"
    assert jobs.sweep_voices() == 1
    assert len(unspoken(10)) == 1
    assert jobs.sweep_voices() == 1
    assert set(unspoken(10)) == {first.id, second.id}


def test_the_embedded_voice_speaks_a_flow(make_flow: Made) -> None:
    flow_id = make_flow(language="de-DE", intro="Guten Tag.", questions=["Warum?"]).id
    db.session.commit()
    jobs.prepare_speech(flow_id)
    assert db.session.get_one(InterviewFlow, flow_id).speech_state is SpeechState.READY
