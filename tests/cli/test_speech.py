"""``parley say`` and ``parley hear``: with the embedded engines, and with a host that runs."""

import json
import os
import subprocess
import sys
import wave
from pathlib import Path

import pytest

from app.gateways.speech.host.client import SpeechHost
from app.settings import Settings
from tests.speech.test_host import until

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = "We finished the project two weeks before the date that we had promised."


@pytest.fixture
def spoken(parley, home):
    told = parley("say", SENTENCE, home / "said.wav", "--voice", "vendora-Anthony", "--json")
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)


def test_say_writes_a_wav_and_tells_engine_and_seconds(spoken, home):
    assert spoken["engine"] == "espeak"
    assert spoken["seconds"] > 0
    with wave.open(str(home / "said.wav")) as sound:
        assert sound.getnframes() / sound.getframerate() == pytest.approx(spoken["audio_seconds"], abs=0.01)
        assert spoken["audio_seconds"] > 2


@pytest.mark.pocketsphinx
def test_hear_prints_words_with_times(spoken, parley, home):
    told = parley("hear", home / "said.wav", "--json")
    assert told.exit_code == 0, told.output
    heard = json.loads(told.stdout)
    assert (heard["engine"], heard["demonstration"]) == ("pocketsphinx", True)
    assert heard["audio_seconds"] == pytest.approx(spoken["audio_seconds"], abs=0.05)
    assert heard["words"]
    starts = [word["start"] for word in heard["words"]]
    assert starts == sorted(starts)
    assert heard["text"] == " ".join(word["word"] for word in heard["words"])
    lines = parley("hear", home / "said.wav").stdout.splitlines()
    assert "recognized by pocketsphinx in" in lines[-1]


def test_what_cannot_be_heard_or_said_is_a_sentence(parley, home):
    (home / "no.wav").write_text("this is no sound")
    (home / "some.wav").write_bytes(b"")
    refused = parley("hear", home / "no.wav")
    assert refused.exit_code == 1
    assert "cannot be decoded as sound or video" in refused.stderr
    assert parley("hear", home / "some.wav").exit_code == 1
    refused = parley("say", "Hello.", home / "a.wav", "--voice", "nobody")
    assert "There is no voice nobody. The voices are: " in refused.stderr
    refused = parley("say", "สวัสดี", home / "a.wav", "--language", "th-TH")
    assert refused.exit_code == 1
    assert "th-TH" in refused.stderr
    refused = parley("say", "Hello.", home / "missing" / "a.wav")
    assert "cannot be written: No such file or directory" in refused.stderr


def test_a_language_that_no_engine_hears_is_named(spoken, parley, home):
    refused = parley("hear", home / "said.wav", "--language", "de-DE")
    assert refused.exit_code == 1
    assert "No installed engine recognizes de-DE" in refused.stderr
    assert "parley check" in refused.stderr


def test_check_says_whether_the_host_answers(parley, home, free_port, monkeypatch):
    def part() -> dict:
        return json.loads(parley("check", "--json").stdout)["parts"]["speech host"]

    assert part()["words"].startswith("not running; parley up starts it")
    monkeypatch.setenv("SPEECH_HOST", f"127.0.0.1:{free_port}")
    assert (part()["ok"], "does not respond at 127.0.0.1" in part()["words"]) == (False, True)
    monkeypatch.setenv("STT_PROVIDER", "pocketsphinx")
    monkeypatch.setenv("TTS_PROVIDER", "espeak")
    assert part()["words"].startswith("not needed")


def test_the_command_serves_until_it_is_ended_and_a_second_one_waits(parley, home):
    command = [sys.executable, "-m", "app.operations.cli", "speech"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert first.stdout.readline().startswith("The speech host serves ")
        second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert second.stdout.readline().startswith("Another speech host serves ")
        parts = json.loads(parley("check", "--json").stdout)["parts"]
        assert parts["speech host"]["words"] == "responds; no model is installed (parley models list)"
        first.terminate()
        assert first.wait(20) == 0
        assert second.stdout.readline().startswith("The speech host serves ")
        client = SpeechHost(Settings.from_env(os.environ))
        until(lambda: client.state(wait=1.0) == {} and client.is_reached)
        client.close()
        second.terminate()
        assert second.wait(20) == 0
    finally:
        for process in (first, second):
            process.kill()
            process.wait()
            process.stdout.close()
