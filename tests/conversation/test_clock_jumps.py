"""The machine's clock is set during an interview, and the interview is not lost to it."""

import time
from datetime import timedelta
from types import SimpleNamespace

import itsdangerous.timed
import pytest
from flask import Flask

from app.conversation import jobs
from app.conversation.jobs import sweep_sittings
from app.core import clock
from app.interviews.models import Stage
from app.operations.demo.candidate import Candidate

from .conftest import interview_of


def at(hours: float) -> SimpleNamespace:
    return SimpleNamespace(time=lambda: time.time() + 3600 * hours)


def test_whoever_is_here_is_not_handed_in_by_a_clock_that_was_set_ahead(candidate: Candidate) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="I like it.")
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(days=2)):
        assert sweep_sittings() == 0
        candidate.call("POST", "/heartbeat", json={})
        assert sweep_sittings() == 0
        assert candidate.turn(3, "text", text="There were eight of us.")["expects"] == "finish"
    assert interview_of(candidate).stage is Stage.RUNNING


def test_whoever_is_gone_is_handed_in_once_the_silence_was_watched(
    candidate: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="I like it.")
    now, seconds = clock.now(), time.monotonic()
    with clock.replaced(lambda: now + timedelta(days=2)):
        assert sweep_sittings() == 0
        monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: seconds + 60))
        assert sweep_sittings() == 0
        monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: seconds + 200))
        assert sweep_sittings() == 1
    assert interview_of(candidate).stage is Stage.SUBMITTED


def test_a_sign_of_life_begins_the_watch_anew(candidate: Candidate, monkeypatch: pytest.MonkeyPatch) -> None:
    candidate.turn(1, "begin")
    candidate.turn(2, "text", text="I like it.")
    now, seconds = clock.now(), time.monotonic()
    with clock.replaced(lambda: now + timedelta(days=2)):
        assert sweep_sittings() == 0
        candidate.call("POST", "/heartbeat", json={})
    with clock.replaced(lambda: now + timedelta(days=4)):
        monkeypatch.setattr(jobs, "time", SimpleNamespace(monotonic=lambda: seconds + 200))
        assert sweep_sittings() == 0


def test_a_clock_that_was_set_back_turns_nobody_away(
    candidate: Candidate, scripted: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    serializer = scripted.session_interface.get_signing_serializer(scripted)  # type: ignore[attr-defined]
    cookie = serializer.dumps({"csrf_token": "of this browser"})
    monkeypatch.setattr(itsdangerous.timed, "time", at(-3))
    assert serializer.loads(cookie, max_age=60) == {"csrf_token": "of this browser"}
    monkeypatch.setattr(itsdangerous.timed, "time", at(3))
    with pytest.raises(itsdangerous.SignatureExpired):
        serializer.loads(cookie, max_age=60)
    monkeypatch.setattr(itsdangerous.timed, "time", at(-3))
    with pytest.raises(itsdangerous.BadSignature):
        serializer.loads(cookie[:-2] + "xx", max_age=60)
    assert candidate.turn(1, "begin")["expects"] == "answer"
