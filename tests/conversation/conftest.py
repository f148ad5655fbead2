"""Fixtures of the talk: scripted engines, a booked interview, and a candidate with its link."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from flask import Flask

from app.conversation import hearing, speaking, thinking
from app.core.db import db
from app.gateways import Gateways
from app.gateways.speech.engines import pocketsphinx
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.sound import resample
from app.interviews import actions
from app.interviews.models import Interview
from app.operations.demo.candidate import Candidate
from tests.factories import Made
from tests.guards import Guarded
from tests.people import Person

from .direct import Direct
from .fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber

Candidates = Callable[..., Candidate]


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, a reply is one sound, and whole (tests of parts set this to 0), every answer is
    heard, and one that may be a command is looked at once more, for which a candidate waits a second at most."""
    monkeypatch.setattr(speaking, "SOON", 3600.0)
    monkeypatch.setattr(pocketsphinx, "LIVE_PATIENCE", 600.0)
    monkeypatch.setattr(thinking, "SOON", 600.0)
    monkeypatch.setattr(thinking, "BRIDGES_AFTER", 600.0)
    monkeypatch.setattr(hearing, "SOON", 300.0)
    monkeypatch.setattr(hearing, "WAITS", 600.0)
    monkeypatch.setattr(pocketsphinx, "CHOICE_PATIENCE", 600.0)


@pytest.fixture
def hears() -> ScriptedTranscriber:
    return ScriptedTranscriber()


@pytest.fixture
def speaks() -> ScriptedSpeaker:
    return ScriptedSpeaker()


@pytest.fixture
def asks() -> ScriptedInterviewer:
    return ScriptedInterviewer()


@pytest.fixture
def scripted(
    app: Flask, engines: Gateways, hears: ScriptedTranscriber, speaks: ScriptedSpeaker, asks: ScriptedInterviewer
) -> Iterator[Flask]:
    """The application with scripted engines and real storage."""
    with working_with(app, engines, transcriber=hears, speaker=speaks, interviewer=asks):
        yield app


@contextmanager
def working_with(app: Flask, engines: Gateways, **parts: Any) -> Iterator[None]:
    """The application with these engines in the place of its own."""
    kept = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(engines, **{name: Guarded(part) for name, part in parts.items()})
    try:
        yield
    finally:
        app.extensions["parley.gateways"] = kept


@pytest.fixture
def book(owner: Person, make_flow: Made) -> Made:
    """``book(email=…, **columns of the flow)``: a booked interview."""

    def made(*, email: str | None = "candidate@example.com", **columns: Any) -> Interview:
        flow = make_flow(**columns)
        interview = actions.book(owner.organization, flow.id, email=email)
        db.session.commit()
        return interview

    return made


def path_of(interview: Interview) -> str:
    return f"/interview/api/{interview.flow_id}/{interview.id}"


@pytest.fixture
def candidates(scripted: Flask) -> Candidates:
    """``candidates(interview)``: a new browser with the interview's link."""

    def made(interview: Interview) -> Candidate:
        return Candidate(f"http://localhost{path_of(interview)}", session=Direct(scripted.test_client()))  # type: ignore[arg-type]

    return made


@pytest.fixture
def candidate(candidates: Candidates, book: Made) -> Candidate:
    """Someone who has started an interview of two questions by voice."""
    return started(candidates(book()))


def started(candidate: Candidate) -> Candidate:
    """The same candidate, who has opened the link and started the interview."""
    candidate.open()
    candidate.start()
    return candidate


@cache
def _long_speech() -> np.ndarray[Any, np.dtype[np.int16]]:
    """Half a minute of the embedded voice without its pauses: s16le, 16 kHz."""
    speaker = EspeakSpeaker()
    try:
        text = "We were eight people in a small team and we rebuilt an old ferry over one long winter by the sea " * 5
        spoken = speaker.speak(text, voice_id="vendora-Anthony", language="en-US")
    finally:
        speaker.close()
    return np.frombuffer(resample(spoken.pcm, spoken.rate, 16_000), "<i2")


def sound(seconds: float = 1.0, seed: int = 0) -> bytes:
    """Something to send: speech, s16le, 16 kHz. Each ``seed`` is another place of it."""
    begin = 1_600 + 8_000 * (seed % 20)
    return _long_speech()[begin : begin + round(16_000 * seconds)].tobytes()


def hiss(seconds: float = 1.0, seed: int = 0) -> bytes:
    """A room in which nobody speaks: s16le, 16 kHz."""
    return bytes(np.random.default_rng(seed).normal(0, 500, round(16_000 * seconds)).astype("<i2").tobytes())


@pytest.fixture(scope="session")
def real_speech(engines: Gateways) -> bytes:
    """A sentence of the embedded voice with a little noise: s16le, 16 kHz."""
    spoken = engines.speaker.speak("I have worked in a small team.", voice_id="vendora-Anthony", language="en-US")
    clean = np.frombuffer(resample(spoken.pcm, spoken.rate, 16_000), "<i2")
    return bytes(np.clip(clean + np.random.default_rng(3).normal(0, 100, len(clean)), -32768, 32767).astype("<i2"))


def interview_of(candidate: Candidate) -> Interview:
    """The row behind a candidate's link."""
    db.session.expire_all()
    return db.session.get_one(Interview, candidate.link.rsplit("/", 1)[-1])
