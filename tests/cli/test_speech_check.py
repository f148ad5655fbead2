"""``parley check`` says which models are missing, and per language what hears and what speaks."""

import re
from dataclasses import replace
from importlib.util import find_spec

import pytest

from app.gateways.speech.engines import pocketsphinx
from app.gateways.speech.engines.whisper_choice import Machine
from app.gateways.speech.host import installed
from app.gateways.speech.host.client import SpeechHost
from app.gateways.speech.host.offers import Served
from app.gateways.speech.model_files import ModelStore, manifest
from app.operations.cli import speech_check
from app.operations.processes import model_fetch, speech
from app.settings import Settings


@pytest.fixture
def known(tmp_path, monkeypatch) -> Settings:
    """A machine with two cores and an empty MODELS_DIR."""
    monkeypatch.setattr(speech_check, "this_machine", lambda: Machine(2, 16_000))
    return Settings.from_env({"DATA_DIR": str(tmp_path)})


@pytest.fixture(params=[True, False], ids=["with pocketsphinx", "without pocketsphinx"])
def english(request, monkeypatch) -> str:
    """What hears English without a model, where pocketsphinx is installed and where it has no wheel."""
    monkeypatch.setattr(pocketsphinx, "is_installed", lambda: request.param)
    monkeypatch.setattr(speech_check, "is_installed", lambda: request.param)
    without = "nothing (parley models install default --language en-US)"
    return "with pocketsphinx (a demonstration)" if request.param else without


def put(known: Settings, name: str) -> None:
    """Files of the right size with the marker: what the store would leave, without the bytes."""
    store, model = ModelStore(known.models_dir), manifest.MODELS[name]
    place = store.folder / name
    place.mkdir(parents=True)
    for file in model.files:
        with (place / file.name).open("wb") as sparse:
            sparse.truncate(file.bytes)
    store.seal(model)


def languages(known: Settings) -> dict[str, str]:
    good, words = speech_check.look_at_languages(known)
    assert good
    return dict(line.split(": ", 1) for line in words.split("; "))


def test_without_models_what_is_missing_and_what_serves_meanwhile(known, english):
    good, words = speech_check.look_at_models(known)
    assert good
    assert words.startswith(f"none in {known.models_dir}; missing: whisper-base, piper-en_US-kristin-medium")
    assert "parley up fetches them, or run parley models install default" in words
    said = languages(known)
    assert len(said) == 13
    assert said["en-US"] == f"hears {english}, speaks with espeak"
    assert said["de-DE"] == "hears nothing (parley models install default --language de-DE), speaks with espeak"
    assert said["th-TH"].endswith("speaks nothing: questions are shown")


def test_with_models_they_serve(known):
    put(known, "whisper-base")
    put(known, "piper-en_US-kristin-medium")
    _good, words = speech_check.look_at_models(known)
    assert "missing: piper-en_US-norman-medium" in words
    said = languages(known)
    assert said["en-US"] == "hears with whisper-base, speaks with piper-en_US-kristin-medium"
    assert said["de-DE"] == "hears with whisper-base (a demonstration), speaks with espeak"
    assert said["hi-IN"].startswith("hears nothing")


def test_off_promises_no_download(known):
    _good, words = speech_check.look_at_models(replace(known, models="off"))
    assert "fetches" not in words
    assert "missing: whisper-base" in words


def test_remote_engines_need_no_models(known):
    remote = replace(known, stt_provider=("openai",), tts_provider=("elevenlabs",))
    assert speech_check.look_at_models(remote)[1].startswith("not needed")
    assert languages(remote)["ko-KR"] == "hears with openai, speaks with elevenlabs"


def test_a_host_on_another_machine_counts_its_own_models(known, monkeypatch, english):
    elsewhere = replace(known, speech_host="127.0.0.1:9")
    put(known, "whisper-base")
    assert "the speech host at 127.0.0.1:9 uses those of its machine" in speech_check.look_at_models(elsewhere)[1]
    monkeypatch.setattr(speech_check, "HOST_SECONDS", 0.1)
    assert languages(elsewhere)["en-US"] == f"hears {english}, speaks with espeak"
    theirs = {"whisper": {"en-US": (Served("whisper-small", "/there"),)}}
    monkeypatch.setattr(SpeechHost, "state", lambda _self, *, wait: theirs)
    assert languages(elsewhere)["en-US"] == "hears with whisper-small, speaks with espeak"


def test_the_command_has_both_parts(parley, english):
    said = parley("check").output
    assert "ok   speech models: none in " in said
    assert f"ok   languages: en-US: hears {english}" in said
    is_there = "pocketsphinx (" in english
    missing = re.search(r"; not installed, or without a package for Python 3[^;:]*: pocketsphinx", said)
    assert bool(missing) is not is_there
    assert ("candidates have to type their answers" in said) is not is_there
    assert ("the embedded engine gives word times" in said) is is_there


def test_an_engine_that_is_not_named_is_not_missed(known, english):
    assert speech_check.left_out(replace(known, stt_provider=("openai",))) == ""


@pytest.fixture
def without_engines(monkeypatch):
    """The packages of the image for web and worker processes."""
    needed = {package for packages in installed.PACKAGES.values() for package in packages}
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name in needed else find_spec(name))


@pytest.mark.usefixtures("without_engines")
def test_without_the_packages_models_serve_nothing_and_it_says_which(known, monkeypatch):
    monkeypatch.setattr(speech_check, "is_installed", lambda: True)
    for model in ("whisper-base", "piper-en_US-kristin-medium"):
        put(known, model)
    assert languages(known)["en-US"] == "hears with pocketsphinx (a demonstration), speaks with espeak"
    assert speech_check.left_out(known).endswith(": whisper, piper, kokoro")
    assert speech_check.look_at_models(known)[1].startswith("not needed: no installed engine")
    assert speech_check.left_out(replace(known, speech_host="speech:8700")) == "", "that host has its own"


@pytest.mark.usefixtures("without_engines")
def test_without_the_packages_up_needs_no_models_and_a_host_says_why_it_ends(known):
    assert not speech.has_host_engines(known)
    assert speech.has_host_engines(replace(known, speech_host="speech:8700"))
    assert model_fetch.missing(known) == ()
    with pytest.raises(speech.CannotServe, match="use the image parley-speech"):
        speech.run_speech(known)
