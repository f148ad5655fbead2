"""Servers that hear an answer while it is spoken, and what the talk gets when they do not."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines import live, live_answer
from app.gateways.speech.engines.elevenlabs import ElevenLabsTranscriber
from app.gateways.speech.engines.fallback import FallbackTranscriber
from app.gateways.speech.engines.live import HeardLive
from app.gateways.speech.engines.openai_realtime import Upsampler
from app.gateways.speech.engines.transcription_api import TranscriptionApiTranscriber
from app.gateways.speech.ports import Heard, Word

from .realtime_server import KEY, RealtimeServer, running, sound

KINDS = ("openai", "elevenlabs")
UNTIL = 600.0


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, what is heard live is used. Sound counts as speech where it is not silent."""
    monkeypatch.setattr(live, "LAST_WORDS", UNTIL)
    monkeypatch.setattr(live_answer, "CONNECT_SECONDS", UNTIL)
    monkeypatch.setattr(live, "has_speech", lambda pieces, least: any(any(piece) for piece in pieces))


@pytest.fixture
def far() -> Iterator[RealtimeServer]:
    with running() as server:
        yield server


@pytest.fixture
def hears(far: RealtimeServer) -> Iterator[Callable[..., HeardLive]]:
    made: list[HeardLive] = []

    def make(kind: str = "openai", *, model: str = "gpt-4o-transcribe", key: str = KEY) -> HeardLive:
        if kind == "openai":
            engine: HeardLive = TranscriptionApiTranscriber(
                f"{far.address}/v1/", api_key=key, timeout=20.0, realtime_model=model
            )
        else:
            engine = ElevenLabsTranscriber(far.address, api_key=key, timeout=20.0, realtime_model=model)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()


def until(is_so: Callable[[], Any]) -> None:
    """Wait for the other side."""
    end = time.monotonic() + UNTIL
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def feed(engine: HeardLive, pieces: list[bytes], *, start: int = 0, key: str = "a") -> None:
    for number, piece in enumerate(pieces, start):
        engine.feed(key, number, piece, language="de-DE")


def finish(engine: HeardLive, pieces: list[bytes], *, first: int = 0, key: str = "a") -> Heard:
    last = first + len(pieces) - 1
    return engine.finish(key, first=first, last=last, language="de-DE", pcm=lambda: b"".join(pieces))


def unwanted() -> bytes:
    raise AssertionError("the whole sound was asked for")


@pytest.mark.parametrize("kind", KINDS)
def test_all_sound_but_the_last_piece_is_there_before_an_answer_ends(far, hears, kind):
    engine, pieces = hears(kind), sound(*range(1, 41))
    for number, piece in enumerate(pieces[:-1]):
        engine.feed("a", number, piece, language="de-DE")
        until(lambda so_far=(number + 1) / 2: far.lines and far.lines[0].settings and far.seconds >= so_far)
    assert far.seconds == 19.5, "nothing of 19.5 s waits for the end"
    engine.feed("a", 39, pieces[39], language="de-DE")
    heard = engine.finish("a", first=0, last=39, language="de-DE", pcm=unwanted)
    assert heard == Heard(" ".join(f"word{n}" for n in range(1, 41)), (), kind)
    assert (far.seconds, far.whole, far.refused) == (20.0, [], [])
    until(lambda: far.lines[0].is_closed)
    assert len(far.lines) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_a_pause_are_known_in_it_and_an_answer_that_ends_there_needs_nothing_more(far, hears, kind):
    engine = hears(kind)
    feed(engine, sound(1, 2, 0))
    assert engine.peek("a", last=2, language="de-DE", seconds=UNTIL) == "word1 word2"
    assert engine.partial("a") == "word1 word2"
    assert engine.peek("a", last=2, language="de-DE", seconds=UNTIL) == "word1 word2"
    feed(engine, sound(3, 0, 0), start=3)
    assert engine.peek("a", last=4, language="de-DE", seconds=UNTIL) == "word1 word2 word3"
    assert far.lines[0].commits == 2
    heard = engine.finish("a", first=0, last=5, language="de-DE", pcm=unwanted)
    assert heard.text == "word1 word2 word3"
    assert far.lines[0].commits == 2, "silence is not recognized: engines write words for it"
    assert far.refused == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_configuration_says_model_and_language(far, hears, kind):
    engine = hears(kind, model="gpt-live-transcribe")
    feed(engine, sound(1))
    assert finish(engine, sound(1)).text == "word1"
    if kind == "openai":
        assert far.lines[0].settings == {"rate": 24_000, "model": "gpt-live-transcribe", "languages": ["de"]}
    else:
        assert far.lines[0].query["model_id"] == "gpt-live-transcribe"
        assert far.lines[0].query["language_code"] == "de"


def test_words_may_come_before_a_commit_and_the_final_ones_replace_them(far, hears):
    far.does.streams = True
    engine = hears()
    feed(engine, sound(1, 2))
    until(lambda: engine.partial("a") == "word1 word2")
    assert far.lines[0].commits == 0
    assert finish(engine, sound(1, 2)).text == "word1 word2"


def test_words_of_stretches_that_come_in_another_order_are_put_in_theirs(far, hears):
    far.does.held = 1
    engine = hears()
    feed(engine, sound(1, 0))
    asks = threading.Thread(target=lambda: engine.peek("a", last=1, language="de-DE", seconds=UNTIL))
    asks.start()
    until(lambda: far.lines and far.lines[0].commits == 1)
    feed(engine, sound(2, 3), start=2)
    assert finish(engine, sound(1, 0, 2, 3)).text == "word1 word2 word3"
    asks.join()
    assert far.lines[0].commits == 2


def test_pieces_that_come_twice_or_in_another_order_are_heard_once_and_in_theirs(far, hears, monkeypatch):
    engine, pieces = hears(), sound(1, 2, 3, 4)
    for number in (1, 0, 1, 3, 2, 3, 0):
        engine.feed("a", number, pieces[number], language="de-DE")
    assert finish(engine, pieces).text in {"word1 word2 word3 word4", "whole"}
    assert far.refused == []
    if not far.whole:
        assert far.seconds == 2.0


def test_two_answers_have_their_own_connections(far, hears):
    engine = hears()
    feed(engine, sound(1), key="a")
    feed(engine, sound(2), key="b", start=7)
    assert finish(engine, sound(2), key="b", first=7).text == "word2"
    assert finish(engine, sound(1), key="a").text == "word1"
    assert len(far.lines) == 2
    until(lambda: all(line.is_closed for line in far.lines))


BREAKS: dict[str, dict[str, Any]] = {
    "refuses": {"status": 503},
    "does not know the key": {"status": 401},
    "redirects": {"status": 302},
    "is lost at the first piece": {"drops_at": 0},
    "is lost at a later piece": {"drops_at": 2},
    "is lost at the end": {"drops_on_commit": True},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", BREAKS)
def test_a_connection_that_breaks_costs_nothing_but_the_whole_answer(far, hears, caplog, kind, how):
    for name, value in BREAKS[how].items():
        setattr(far.does, name, value)
    engine, pieces = hears(kind), sound(1, 2, 3, 4)
    with caplog.at_level(logging.DEBUG):
        feed(engine, pieces)
        heard = finish(engine, pieces)
    assert heard == Heard("whole", (Word("whole", 0.1, 0.4),), kind)
    assert len(far.whole) == 1
    assert b"".join(pieces) in far.whole[0], "all of the sound"
    assert far.redirected == 0
    assert KEY not in caplog.text
    assert "word1" not in caplog.text
    said = [one.getMessage() for one in caplog.records if one.name.endswith("live_answer")]
    assert len(said) == 1
    assert said[0].startswith("an answer is not recognized while it is spoken: the ")


NONSENSE: dict[str, Callable[[], str | bytes]] = {
    "no JSON": lambda: "<html>private</html>",
    "binary": lambda: b"{}",
    "a list": lambda: "[1]",
    "no type": lambda: "{}",
    "deep": lambda: "[" * 100_000,
    "no item": lambda: '{"type": "conversation.item.input_audio_transcription.completed", "transcript": "x"}',
    "item of another kind": lambda: (
        '{"type": "conversation.item.input_audio_transcription.completed", "item_id": ["i"], "transcript": "x"}'
    ),
    "no text": lambda: '{"type": "conversation.item.input_audio_transcription.completed", "item_id": "item_1"}',
    "a number for text": lambda: (
        '{"type": "conversation.item.input_audio_transcription.completed", "item_id": "item_1", "transcript": 5}'
    ),
    "too many items": lambda: '{"type": "input_audio_buffer.committed", "item_id": "item_9"}',
    "a failure": lambda: (
        '{"type": "conversation.item.input_audio_transcription.failed", "item_id": "item_1", "error": {"message": "p"}}'
    ),
    "too much text": lambda: (
        '{"type": "conversation.item.input_audio_transcription.completed", "item_id": "item_1", "transcript": "'
        + "x" * 100_001
        + '"}'
    ),
    "a message without end": lambda: '{"type": "' + "x" * 1_000_001 + '"}',
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_ends_live_hearing_and_nothing_else(far, hears, caplog, what):
    far.does.says = NONSENSE[what]
    engine, pieces = hears(), sound(1, 2)
    feed(engine, pieces)
    with caplog.at_level(logging.DEBUG, logger="app"):
        assert finish(engine, pieces).text == "whole"
    assert "private" not in caplog.text
    until(lambda: far.lines[0].is_closed)


@pytest.mark.parametrize("changes", [{"turn_detection": {"type": "server_vad"}}, {"format": {"rate": 16_000}}])
def test_a_server_that_ignores_its_settings_is_not_used(far, hears, changes):
    far.does.changes = changes
    engine, pieces = hears(), sound(1, 2)
    feed(engine, pieces)
    assert finish(engine, pieces).text == "whole"
    until(lambda: far.lines[0].is_closed)
    assert far.lines[0].samples == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_slow_is_not_waited_for(far, hears, monkeypatch, kind):
    monkeypatch.setattr(live, "LAST_WORDS", 0.05)
    far.does.is_deaf = True
    engine, pieces = hears(kind), sound(1, 2)
    feed(engine, pieces)
    assert finish(engine, pieces).text == "whole"


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_does_not_begin_to_listen_is_not_waited_for(far, hears, monkeypatch, kind):
    monkeypatch.setattr(live_answer, "CONNECT_SECONDS", 0.3)
    far.does.is_mute = True
    engine, pieces = hears(kind), sound(1, 2)
    feed(engine, pieces)
    assert finish(engine, pieces).text == "whole"


def test_a_server_that_heard_nothing_is_not_believed(far, hears):
    far.does.says = lambda: (
        '{"type": "conversation.item.input_audio_transcription.completed", "item_id": "item_1", "transcript": " "}'
    )
    engine, pieces = hears(), sound(1)
    feed(engine, pieces)
    assert finish(engine, pieces).text == "whole"


@pytest.mark.parametrize(
    ("fed", "first", "last"),
    [
        ((0, 1, 3), 0, 3),
        ((1, 2, 3), 0, 3),
        ((0, 1, 2), 0, 3),
        ((0, 1, 2, 3), 1, 3),
        ((0, 1, 2, 3, 4), 0, 3),
        ((), 0, 3),
    ],
)
def test_an_answer_whose_pieces_are_not_all_here_is_transcribed_whole(far, hears, fed, first, last):
    engine, pieces = hears(), sound(1, 2, 3, 4, 5)
    for number in fed:
        engine.feed("a", number, pieces[number], language="de-DE")
    assert finish(engine, pieces[first : last + 1], first=first).text == "whole"


def test_a_pause_whose_words_are_late_is_not_judged(far, hears):
    far.does.is_deaf = True
    engine = hears()
    feed(engine, sound(1))
    assert engine.peek("a", last=0, language="de-DE", seconds=0.01) is None


def test_a_pause_is_not_judged_by_less_than_all_of_it(far, hears):
    engine, pieces = hears(), sound(1, 2, 3)
    engine.feed("a", 0, pieces[0], language="de-DE")
    engine.feed("a", 2, pieces[2], language="de-DE")
    assert engine.peek("a", last=2, language="de-DE", seconds=UNTIL) is None
    assert engine.peek("unknown", last=2, language="de-DE", seconds=UNTIL) is None
    engine.feed("a", 1, pieces[1], language="de-DE")
    assert engine.peek("a", last=2, language="de-DE", seconds=UNTIL) == "word1 word2 word3"


def test_an_answer_that_is_given_up_ends_its_connection(far, hears):
    engine = hears()
    feed(engine, sound(1, 2))
    until(lambda: far.lines and far.lines[0].samples)
    engine.drop("a")
    until(lambda: far.lines[0].is_closed)
    assert engine.partial("a") is None


def test_a_page_that_was_left_ends_its_connection(far, hears, monkeypatch):
    monkeypatch.setattr(live_answer, "IDLE_SECONDS", 0.05)
    engine = hears()
    feed(engine, sound(1))
    until(lambda: far.lines and far.lines[0].is_closed)
    assert finish(engine, sound(1)).text == "whole"


def test_sound_that_a_server_does_not_take_is_not_kept(far, hears, monkeypatch):
    monkeypatch.setattr(live_answer, "MOST_UNSENT", 3 * 16_000)
    far.does.is_mute = True
    engine, pieces = hears(), sound(1, 2, 3, 4, 5)
    feed(engine, pieces)
    until(lambda: "a" in engine._live._answers and engine._live._answers["a"][0].failure)
    assert not engine._live._answers["a"][0]._ahead
    assert finish(engine, pieces).text == "whole"


def test_a_long_answer_without_a_pause_keeps_its_last_seconds_only_and_loses_no_word(far, hears, monkeypatch):
    monkeypatch.setattr(live_answer, "MOST_TAIL", 2 * 16_000)
    engine, pieces = hears(), sound(*[0] * 4, 1, 2, 3, 0)
    feed(engine, pieces)
    until(lambda: far.lines and far.lines[0].settings and far.seconds == 4.0)
    assert len(engine._live._answers["a"][0]._tail) <= 3 * 16_000
    assert finish(engine, pieces).text == "word1 word2 word3"


def test_there_are_only_so_many_connections(far, hears, monkeypatch):
    monkeypatch.setattr(live, "MOST_OPEN", 1)
    monkeypatch.setattr(live, "MOST_KNOWN", 2)
    engine = hears()
    for key in ("a", "b"):
        feed(engine, sound(1), key=key)
    assert finish(engine, sound(1), key="b").text == "whole"
    assert finish(engine, sound(1), key="a").text == "word1"
    for key in ("c", "d", "e"):
        feed(engine, sound(1), key=key)
    until(lambda: list(engine._live._answers) == ["d", "e"])
    until(lambda: far.lines[-1].is_closed)


def test_without_a_model_nothing_is_sent_before_the_end(far, hears):
    engine = hears(model="")
    feed(engine, sound(1))
    assert engine.peek("a", last=0, language="de-DE", seconds=1.0) is None
    assert engine.partial("a") is None
    assert not engine.improves("de-DE")
    assert finish(engine, sound(1)).text == "whole"
    assert far.lines == []
    with pytest.raises(GatewayError):
        engine.hear_live(sound(1)[0], language="de-DE", seconds=1.0)


def test_a_list_of_engines_feeds_its_first_and_has_the_record_made_by_it(far, hears):
    every = FallbackTranscriber((hears("elevenlabs"), hears("openai")))
    for number, piece in enumerate(sound(1, 2, 0)):
        every.feed("a", number, piece, language="de-DE")
    assert every.peek("a", last=2, language="de-DE", seconds=UNTIL) == every.partial("a") == "word1 word2"
    heard = every.finish("a", first=0, last=2, language="de-DE", pcm=unwanted)
    assert (heard.text, heard.engine, every.improves("de-DE")) == ("word1 word2", "elevenlabs", True)
    assert len(far.lines) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_is_made_of_the_whole_answer_with_word_times(hears, kind):
    engine = hears(kind)
    assert engine.improves("de-DE")
    assert not engine.improves("xx-XX")
    heard = engine.hear_again(sound(1)[0], rate=16_000, language="de-DE")
    assert heard.words == (Word("whole", 0.1, 0.4),)


def test_a_closed_recogniser_takes_nothing_more(far, hears):
    engine = hears()
    feed(engine, sound(1))
    engine.close()
    feed(engine, sound(2), start=1)
    engine.drop("a")
    assert engine.peek("a", last=1, language="de-DE", seconds=1.0) is None
    if far.lines:
        until(lambda: far.lines[0].is_closed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_of_the_environment_is_used(far, hears, monkeypatch, kind):
    with running() as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        engine = hears(kind)
        feed(engine, sound(1))
        until(lambda: proxy.lines)
        engine.drop("a")
        until(lambda: proxy.lines[0].is_closed)
    assert far.lines == []


def test_new_samples_fit_the_old_ones_without_a_seam():
    seconds = np.arange(16_000) / 16_000
    tone = (8_000 * np.sin(2 * np.pi * 1_000 * seconds)).astype("<i2").tobytes()
    upsampler, made = Upsampler(), b""
    for start in range(0, len(tone), 2 * 3_001):
        made += upsampler.take(tone[start : start + 2 * 3_001])
    samples = np.frombuffer(made + upsampler.end(), "<i2").astype(float)
    assert 24_000 <= len(samples) < 24_003
    expected = 8_000 * np.sin(2 * np.pi * 1_000 * np.arange(len(samples)) / 24_000)
    assert np.abs(samples - expected)[100:23_900].max() < 5
    assert upsampler.take(b"") == b""


def test_the_detector_finds_real_speech_and_commits_no_silence(far, hears, samples, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(live, "LAST_WORDS", UNTIL)
    monkeypatch.setattr(live_answer, "CONNECT_SECONDS", UNTIL)
    pcm = samples[0].pcm
    pieces = [pcm[start : start + 16_000] for start in range(0, len(pcm), 16_000)]
    engine = hears()
    feed(engine, pieces)
    engine.peek("a", last=len(pieces) - 1, language="de-DE", seconds=UNTIL)
    assert far.lines[0].commits == 1
    feed(engine, sound(0, 0), start=len(pieces))
    engine.peek("a", last=len(pieces) + 1, language="de-DE", seconds=UNTIL)
    assert far.lines[0].commits == 1
