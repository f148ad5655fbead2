"""Piper's process and adapter, with voices that hum. Real voices: tests/speech/test_real_voices.py."""

import threading
from contextlib import closing
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines import voice_child
from app.gateways.speech.engines.children import ChildFailed, Children
from app.gateways.speech.engines.piper import PROGRAM, PiperSpeaker
from tests.speech.tiny_models import FRAMES, HOP, RATE, served, write_piper_voice

SENTENCE = "Could you tell me about a project from 2019?"


@pytest.fixture(scope="module")
def children():
    with closing(Children(PROGRAM)) as processes:
        yield processes


@pytest.fixture
def voice(tmp_path):
    return write_piper_voice(tmp_path / "piper-en_US-joe-medium")


def speaker_with(children, *directories: Path, language: str = "en-US"):
    return PiperSpeaker(children, lambda: {"piper": {language: served(directories)}})


def test_a_sentence_has_the_times_of_its_words_as_the_voice_gives_them(children, voice):
    spoken = speaker_with(children, voice).speak(SENTENCE, voice_id=None, language="en-US")
    assert (spoken.rate, spoken.engine) == (RATE, "piper")
    assert " ".join(word.word for word in spoken.words) == "Could you tell me about a project from 2019"
    assert all(word.start < word.end for word in spoken.words)
    assert all(one.end <= following.start for one, following in zip(spoken.words, spoken.words[1:], strict=False))
    assert spoken.words[0].start >= FRAMES * HOP / RATE  # the mark of the beginning is no sound
    assert spoken.words[-1].end <= spoken.duration
    year = spoken.words[-1]
    assert year.end - year.start > 3 * (spoken.words[0].end - spoken.words[0].start)  # nineteen more than its letters


def test_a_voice_that_does_not_tell_durations_gives_even_shares(children, tmp_path):
    silent = write_piper_voice(tmp_path / "piper-en_US-joe-medium", durations=False)
    spoken = speaker_with(children, silent).speak(SENTENCE, voice_id=None, language="en-US")
    assert len(spoken.words) == 9
    assert 0 < spoken.words[-1].start < spoken.words[-1].end <= spoken.duration


def test_sentences_follow_each_other_with_a_pause(children, voice):
    one = speaker_with(children, voice).speak("Thank you.", voice_id=None, language="en-US")
    two = speaker_with(children, voice).speak("Thank you. Thank you.", voice_id=None, language="en-US")
    assert two.duration == pytest.approx(2 * one.duration + 0.2, abs=0.001)
    assert two.words[2].start == pytest.approx(one.duration + 0.2 + one.words[0].start, abs=0.002)


def test_a_model_with_several_speakers_speaks_with_the_first_or_a_named_one(children, tmp_path):
    model = str(write_piper_voice(tmp_path / "piper-fr_FR-mls-medium", speakers=("1840", "2506")))
    assert all(children.call("speak", (model, name), "Hello.", "fr-FR", timeout=20)[0] for name in ("", "2506"))
    with pytest.raises(ChildFailed, match="has no speaker 99"):
        children.call("speak", (model, "99"), "Hello.", "fr-FR", timeout=20)


def test_a_talk_keeps_its_voice_when_another_model_becomes_the_preferred_one(children, voice, tmp_path):
    before = speaker_with(children, voice).identity("vendora-Kate", "en-US")
    woman = write_piper_voice(tmp_path / "piper-en_US-ljspeech-high")
    both = speaker_with(children, woman, voice)
    assert both.identity("vendora-Kate", "en-US") == "piper:piper-en_US-ljspeech-high:"
    said = []
    both._line = type(
        "Line", (), {"call": lambda _, *request, timeout: said.append(request[1][0]) or (b"", RATE, [])}
    )()
    both.speak("Hello.", voice_id="vendora-Kate", language="en-US", steady=before)
    both.speak("Hello.", voice_id="vendora-Kate", language="en-US", steady="piper:piper-removed:")
    assert said == [str(voice), str(woman)]


def test_a_truncated_model_is_a_sentence_and_the_next_request_is_served(children, voice, tmp_path):
    broken = write_piper_voice(tmp_path / "piper-en_US-broken")
    file = broken / "voice.onnx"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(GatewayError, match=r"piper-en_US-broken cannot be loaded; run parley models verify"):
        speaker_with(children, broken).speak("Hello.", voice_id=None, language="en-US")
    write_piper_voice(broken)
    assert speaker_with(children, broken).speak("Hello.", voice_id=None, language="en-US").duration > 0


def test_a_voice_without_its_settings_or_that_was_removed_is_a_sentence(children, voice):
    (voice / "voice.onnx.json").unlink()
    with pytest.raises(GatewayError, match="cannot be loaded"):
        speaker_with(children, voice).speak("Hello.", voice_id=None, language="en-US")
    (voice / "voice.onnx").unlink()
    with pytest.raises(GatewayError, match="no longer exists"):
        speaker_with(children, voice).speak("Hello.", voice_id=None, language="en-US")


def test_what_cannot_be_spoken_is_refused_with_the_reason(children, voice):
    speaker = speaker_with(children, voice)
    assert not speaker.supports("ja-JP")
    with pytest.raises(GatewayError, match="no voice for ja-JP"):
        speaker.speak("Hello.", voice_id=None, language="ja-JP")
    with pytest.raises(GatewayError, match="at most 20000 characters"):
        speaker.speak("a" * 20_001, voice_id=None, language="en-US")
    with pytest.raises(GatewayError, match="nothing that can be spoken"):
        speaker.speak(" \0 ", voice_id=None, language="en-US")
    assert speaker.speak("Hello\0there.", voice_id=None, language="en-US").duration > 0


def test_without_a_host_nothing_is_supported(children):
    speaker = PiperSpeaker(children, dict)
    assert not speaker.supports("en-US")
    assert speaker.identity(None, "en-US") == "piper:none"


def test_the_voice_of_a_talk_is_loaded_before_its_first_sentence(voice):
    posted = []
    line = SimpleNamespace(post=lambda *message: posted.append(message))
    speaker_with(line, voice).prepare(voice_id=None, language="en-US")
    speaker_with(line, voice).prepare(voice_id=None, language="th-TH")
    assert posted == [("prepare", str(voice))]


def test_a_voice_is_loaded_once_and_prepared_before_it_is_needed(children, voice):
    children.call("prepare", str(voice), timeout=20)
    (voice / "voice.onnx").unlink()
    assert speaker_with(children, voice).speak("Hello.", voice_id=None, language="en-US").duration > 0
    with pytest.raises(ChildFailed, match="no longer exists"):
        children.call("prepare", str(voice) + "-other", timeout=20)


def test_words_that_leave_no_sound_of_their_own_lie_between_their_neighbours():
    spoken = [("a", 1.0, 1.2), ("c", 2.0, 2.5)]
    assert voice_child.timed(["A", "B", "b", "C"], ["a", "b", "b", "c"], spoken) == [
        ("A", 1.0, 1.2),
        ("B", 1.2, 1.6),
        ("b", 1.6, 2.0),
        ("C", 2.0, 2.5),
    ]
    assert voice_child.timed(["A"], ["a"], []) == []
    assert voice_child.timed(["X", "Y"], ["x", "y"], spoken) == [("X", 1.0, 1.75), ("Y", 1.75, 2.5)]


def test_texts_are_cut_after_sentences_and_long_ones_at_a_space():
    assert voice_child.pieces("One. Two!  三。四。") == ["One.", "Two!", "三。", "四。"]
    long = " ".join(["word"] * 200)
    assert max(map(len, voice_child.pieces(long))) <= voice_child.LONGEST_PIECE
    assert " ".join(voice_child.pieces(long)) == long
    assert voice_child.pieces("a" * 1000) == ["a" * 400, "a" * 400, "a" * 200]
    assert voice_child.pieces("  ") == []


def test_models_idle_for_ten_minutes_are_given_back_only_where_memory_is_short(monkeypatch):
    moment = [0.0]
    monkeypatch.setattr(voice_child.time, "monotonic", lambda: moment[0])
    loads = []
    models = voice_child.Models(lambda path: loads.append(path.name) or path.name)
    models.get("/a")
    moment[0] = 500.0
    models.get("/b")
    moment[0] = 700.0
    models.rest(available=0.5)
    models.get("/b")
    models.rest(available=0.1)
    assert (models.get("/b"), models.get("/a"), loads) == ("b", "a", ["a", "b", "a"])


def test_the_model_used_longest_ago_makes_room():
    loads = []
    models = voice_child.Models(lambda path: loads.append(path.name) or path.name)
    for name in "abcada":
        models.get(f"/{name}")
    for name in "b":
        models.get(f"/{name}")
    assert loads == ["a", "b", "c", "d", "b"]


def test_memory_goes_back_to_the_system_after_each_sentence(monkeypatch):
    ours, theirs = Pipe()
    order: list[str] = []
    desk = SimpleNamespace(speak=lambda text: order.append(text) or (b"", RATE, []))
    process = SimpleNamespace(connected=lambda: theirs, trim_memory=lambda: order.append("trim"))
    monkeypatch.setattr(voice_child, "child_process", process)
    ours.send((1, "speak", "One."))
    ours.send((2, "speak", "Two."))
    serving = threading.Thread(target=voice_child.serve, args=(desk,))
    serving.start()
    assert [ours.recv()[0], ours.recv()[0]] == [1, 2]
    ours.close()
    serving.join()
    assert order == ["One.", "trim", "Two.", "trim"]
