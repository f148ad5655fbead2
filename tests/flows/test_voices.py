"""Voices can be heard before one is chosen."""

import io
import re
import wave
from dataclasses import replace

import pytest
from flask import Flask

from app.core.errors import GatewayError
from app.flows.forms import voice_name
from app.gateways.speech.catalogue import LANGUAGES, VOICES
from app.gateways.speech.phrases import SAMPLE
from tests.conversation.fakes import ScriptedSpeaker
from tests.guards import Guarded
from tests.people import Person


def test_every_language_has_a_sentence_of_its_own() -> None:
    assert set(SAMPLE) == set(LANGUAGES)
    assert len(set(SAMPLE.values())) == len(LANGUAGES)


def test_every_voice_has_a_name_of_its_own_and_no_id(colleague: Person) -> None:
    names = [voice_name(voice_id) for voice_id in VOICES]
    assert len(set(names)) == len(VOICES)
    assert all(name.isalpha() and name.istitle() and len(name) < 12 for name in names), names
    page = colleague.browser.get("/flows/new").text
    shown = set(re.findall(r"<option[^>]+value=\"[^\"]+\">([^<]+)</option>", page))
    assert set(names) <= shown | {"Kate"}
    assert not re.search(r">[^<]*(vendor|BGEU6wFi2uNm6Kje1Yhk)[^<]*<", page)


def test_a_voice_is_heard_and_made_once(colleague: Person, app: Flask, engines: object) -> None:
    speaks = ScriptedSpeaker()
    kept = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(kept, speaker=Guarded(speaks))
    try:
        heard = colleague.browser.get("/flows/voices/vendora-Anthony?language=de-DE")
    finally:
        app.extensions["parley.gateways"] = kept
    assert (heard.status_code, heard.mimetype) == (200, "audio/wav")
    with wave.open(io.BytesIO(heard.data)) as file:
        assert file.getnframes() > 0
    assert speaks.spoken == [(SAMPLE["de-DE"], True)]


def test_the_embedded_voices_differ(colleague: Person) -> None:
    browser = colleague.browser
    sounds = {browser.get(f"/flows/voices/{voice_id}").data for voice_id in VOICES}
    assert len(sounds) == len(VOICES)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("vendora-Nobody", 404, "no voice"),
        ("vendora-Kate?language=xx", 422, "language"),
        ("vendora-Kate?language=th-TH", 422, "Thai has no voice"),
    ],
)
def test_what_cannot_be_heard_says_why(colleague: Person, path: str, status: int, words: str) -> None:
    answer = colleague.browser.get(f"/flows/voices/{path}")
    assert answer.status_code == status
    assert words in answer.text


def test_a_silent_engine_is_a_clear_page(colleague: Person, app: Flask, engines: object) -> None:
    kept = app.extensions["parley.gateways"]
    broken = ScriptedSpeaker(error=GatewayError("the voice is away", retryable=True))
    app.extensions["parley.gateways"] = replace(kept, speaker=Guarded(broken))
    try:
        answer = colleague.browser.get("/flows/voices/vendora-Kate")
    finally:
        app.extensions["parley.gateways"] = kept
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


def test_only_those_who_edit_flows_hear_them(viewer: Person) -> None:
    assert viewer.browser.get("/flows/voices/vendora-Kate").status_code == 403


def test_the_editor_offers_every_voice_without_scripts_too(colleague: Person) -> None:
    seen = colleague.browser.get("/flows/new").text
    for voice_id in VOICES:
        assert f'href="/flows/voices/{voice_id}?language=en-US"' in seen
    assert "th-TH" not in seen.split('data-spoken="')[1].split('"')[0]
