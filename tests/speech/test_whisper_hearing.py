"""The recogniser in the speech host: fed while someone speaks, and what the talk gets when host or engine go away."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.core.errors import GatewayError
from app.gateways.speech.engines.exchange import TooLate
from app.gateways.speech.engines.fallback import FallbackTranscriber
from app.gateways.speech.engines.whisper import WhisperTranscriber, _in_order
from app.gateways.speech.engines.whole_answers import WholeAnswers
from app.gateways.speech.host import server
from app.gateways.speech.host.client import SpeechHost
from app.gateways.speech.host.offers import Served
from app.gateways.speech.host.server import Host, host_for
from app.gateways.speech.ports import Heard

from .test_host import Known, until

SCRIBE = """
import os, sys, time
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[1]))
fed, opened = {}, {}
def heard(pcm, how):
    text = f"{how} {len(pcm)} bytes"
    return {"text": text, "words": [(word, 0.1, 0.2, 0.9) for word in text.split()], "confidence": 0.9, "seconds": 1.0}
while True:
    try:
        number, kind, *rest = connection.recv()
    except EOFError:
        break
    result, problem = None, None
    if kind == "open":
        opened[rest[0]] = rest[1:]
    if kind == "feed":
        fed.setdefault(rest[0], {})[rest[1]] = rest[2]
        connection.send((None, None, ("partial", rest[0], f"{len(fed[rest[0]])} pieces")))
    if kind == "begin":
        fed.setdefault(rest[0], {})[rest[1]] = rest[2]
    if kind == "finish" and rest[0] == "slow":
        time.sleep(0.5)
    if kind == "finish":
        key, first, last, *model = rest
        pieces = fed.pop(key, {})
        if sorted(pieces) == list(range(first, last + 1)) and opened.get(key) == model:
            result = heard(b"".join(pieces[one] for one in sorted(pieces)), "fed " + model[0] + " " + model[1])
    if kind == "peek":
        result = f"{len(fed.get(rest[0], {}))} pieces"
    if kind == "drop":
        fed.pop(rest[0], None)
    if kind == "batch":
        if not os.path.exists(rest[1]):
            problem = "the model is not there any more"
        result = heard(rest[0], "final" if rest[3] else "live")
    if number is not None:
        connection.send((number, problem, result))
"""
PIECE = b"\1\0" * 8_000


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "whisper-base"
    path.mkdir()
    return path


@pytest.fixture
def start(tmp_path, model) -> Iterator[Callable[[], Host]]:
    program = tmp_path / "scribe.py"
    program.write_text(SCRIBE)
    offers = {
        "whisper": {
            "en-US": (Served("whisper-base", str(model)),),
            "de-DE": (Served("whisper-base", str(model), is_demonstration=True),),
        }
    }
    hosts = []

    def started() -> Host:
        hosts.append(host_for(Known(tmp_path), programs={"whisper": program}, look=lambda: offers))
        return hosts[-1]

    yield started
    for host in hosts:
        host.close()


@pytest.fixture
def whisper(tmp_path) -> Iterator[WhisperTranscriber]:
    host = SpeechHost(Known(tmp_path))
    yield WhisperTranscriber(host)
    host.close()


def unread() -> bytes:
    raise AssertionError("the whole sound is not needed")


def feed(whisper: Any, key: str, *numbers: int, language: str = "en-US") -> None:
    for number in numbers:
        whisper.feed(key, number, PIECE, language=language)


def test_without_a_host_it_supports_nothing(whisper):
    assert not whisper.supports("en-US")
    whisper.prepare("en-US")
    feed(whisper, "k", 0)
    assert whisper.partial("k") is None
    assert whisper.peek("k", last=0, language="en-US", seconds=1.0) is None
    whisper.drop("k")
    with pytest.raises(GatewayError) as failure:
        whisper.finish("k", first=0, last=0, language="en-US", pcm=lambda: PIECE)
    assert failure.value.retryable


def test_it_supports_what_the_host_has_models_for(start, whisper):
    start()
    until(lambda: whisper.supports("en-US"))
    assert [whisper.supports(language) for language in ("de-DE", "th-TH")] == [True, False]
    assert [whisper.is_demonstration(language) for language in ("en-US", "de-DE", "th-TH")] == [False, True, False]
    assert whisper.improves("en-US")
    assert not whisper.improves("th-TH")


def test_the_beginning_of_a_piece_is_sent_to_a_host_that_can_hear_it(start, whisper):
    start()
    until(lambda: whisper.supports("en-US"))
    assert whisper.peek("k", last=0, language="en-US", seconds=10.0, begun=PIECE[:200]) == "1 pieces"
    feed(whisper, "k", 0)
    assert whisper.peek("k", last=0, language="en-US", seconds=10.0) == "1 pieces"
    assert whisper.peek("k", last=1, language="en-US", seconds=10.0, begun=PIECE[:200]) == "2 pieces"


def test_a_host_of_an_earlier_release_is_not_sent_what_it_does_not_know(start, whisper, monkeypatch):
    monkeypatch.setattr(server, "ABILITIES", ())
    start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 0)
    assert whisper.peek("k", last=1, language="en-US", seconds=10.0, begun=PIECE[:200]) is None
    assert whisper.peek("k", last=0, language="en-US", seconds=10.0) == "1 pieces"


def test_an_answer_that_was_fed_is_not_sent_again(start, whisper, model):
    start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 3, 4)
    until(lambda: whisper.partial("k") == "2 pieces")
    assert whisper.peek("k", last=4, language="en-US", seconds=10.0) == "2 pieces"
    heard = whisper.finish("k", first=3, last=4, language="en-US", pcm=unread)
    assert heard.text == f"fed {model} en-US 32000 bytes"
    assert heard.engine == "whisper"
    assert heard.confidence == 0.9
    assert heard.words[0].start == 0.1
    assert whisper.partial("k") is None


def test_an_answer_with_missing_pieces_is_heard_as_a_whole(start, whisper):
    start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 0, 2)
    heard = whisper.finish("k", first=0, last=2, language="en-US", pcm=lambda: PIECE * 3)
    assert heard.text == "live 48000 bytes"


def test_an_answer_that_was_never_fed_is_heard_as_a_whole(start, whisper):
    start()
    until(lambda: whisper.supports("en-US"))
    assert whisper.finish("k", first=0, last=1, language="en-US", pcm=lambda: PIECE * 2).text == "live 32000 bytes"


def test_an_engine_killed_in_mid_answer_costs_the_answer_nothing(start, whisper):
    host = start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 0)
    until(lambda: whisper.partial("k"))
    os.kill(host.pids()["whisper"], signal.SIGKILL)
    feed(whisper, "k", 1)
    assert whisper.finish("k", first=0, last=1, language="en-US", pcm=lambda: PIECE * 2).text == "live 32000 bytes"


def test_a_host_restarted_in_mid_answer_costs_the_answer_nothing(start, whisper):
    host = start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 0)
    until(lambda: whisper.partial("k"))
    host.close()
    until(lambda: not whisper.supports("en-US"))
    feed(whisper, "k", 1)
    start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 2)
    assert whisper.finish("k", first=0, last=2, language="en-US", pcm=lambda: PIECE * 3).text == "live 48000 bytes"
    feed(whisper, "l", 0)
    assert whisper.finish("l", first=0, last=0, language="en-US", pcm=unread).text.startswith("fed ")


class Other(WholeAnswers):
    """What stands behind it in STT_PROVIDER."""

    name = "other"

    def supports(self, language: str) -> bool:
        return language == "en-US"

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        return Heard(f"other {len(pcm)}", (), self.name)

    def close(self) -> None: ...


def test_when_the_host_dies_in_mid_answer_the_next_engine_serves(start, whisper):
    host = start()
    both = FallbackTranscriber((whisper, Other()))
    until(lambda: both.improves("en-US"))
    feed(both, "k", 0)
    until(lambda: both.partial("k"))
    host.close()
    feed(both, "k", 1)
    heard = both.finish("k", first=0, last=1, language="en-US", pcm=lambda: PIECE * 2)
    assert (heard.text, heard.engine) == ("other 32000", "other")
    assert not both.improves("en-US")


def test_a_model_that_was_removed_is_a_sentence_and_may_be_tried_again(start, whisper, model):
    start()
    until(lambda: whisper.supports("en-US"))
    model.rmdir()
    with pytest.raises(GatewayError, match="Whisper failed: the model is not there any more") as failure:
        whisper.finish("k", first=0, last=0, language="en-US", pcm=lambda: PIECE)
    assert failure.value.retryable


def test_a_whole_answer_is_heard_with_care_and_silence_not_at_all(start, whisper, samples):
    start()
    until(lambda: whisper.supports("en-US"))
    pcm = samples[0].pcm
    assert whisper.transcribe(pcm, rate=16_000, language="en-US").text == f"final {len(pcm)} bytes"
    assert whisper.transcribe(np.zeros(48_000, "<i2").tobytes(), rate=16_000, language="en-US").text == ""


def test_word_times_never_run_backwards_where_two_windows_meet():
    heard = [("I", 21.9, 22.04, 0.9), ("also", 22.0, 22.4, None), ("like", 21.95, 22.5, 0.5), ("it.", 22.5, 22.6, 1.0)]
    words = _in_order(heard)
    assert [(word.word, word.start, word.end) for word in words] == [
        ("I", 21.9, 22.0),
        ("also", 22.0, 22.0),
        ("like", 22.0, 22.5),
        ("it.", 22.5, 22.6),
    ]
    times = [time for word in words for time in (word.start, word.end)]
    assert times == sorted(times)
    assert _in_order([]) == ()


def test_a_dropped_answer_is_forgotten_on_both_sides(start, whisper):
    start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 0)
    until(lambda: whisper.partial("k"))
    whisper.drop("k")
    assert whisper.partial("k") is None
    feed(whisper, "k", 0)
    until(lambda: whisper.partial("k") == "1 pieces")


def test_feeding_never_blocks_however_slow_the_host_is(start, whisper, tmp_path):
    host = start()
    until(lambda: whisper.supports("en-US"))
    feed(whisper, "k", 0)
    pid = until(lambda: host.pids().get("whisper"))
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        for number in range(1, 400):
            feed(whisper, "k", number)
        assert time.monotonic() - began < 20
    finally:
        os.kill(pid, signal.SIGCONT)


def test_words_that_are_late_are_asked_of_no_other_engine(start, whisper, monkeypatch) -> None:
    start()
    until(lambda: whisper.supports("en-US"))
    monkeypatch.setattr("app.gateways.speech.engines.whisper.LIVE_PATIENCE", 0.1)
    whisper.feed("slow", 0, PIECE, language="en-US")
    with pytest.raises(TooLate, match="within 0 s"):
        whisper.finish("slow", first=0, last=0, language="en-US", pcm=lambda: PIECE)
