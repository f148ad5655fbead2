"""The recognition process with a Whisper that always says the same: messages, order, bad luck."""

import os
import platform
import threading
import time

import numpy as np
import pytest

from app.gateways.speech.engines.children import ChildFailed, Children
from app.gateways.speech.engines.whisper_process.machine import TOO_SLOW, X86
from app.gateways.speech.engines.whisper_process.model import IDLE_SECONDS, Model, Models
from app.gateways.speech.engines.whisper_process.serving import FORGET_SECONDS, Desk
from app.gateways.speech.ports import SPEECH_RATE

from . import tiny_whisper

PROGRAM = tiny_whisper.PROGRAM
PIECE = SPEECH_RATE  # half a second of 16-bit samples
SAID = "I worked as a nurse, in Bergen."
SILENCE = bytes(2 * SPEECH_RATE)
NOISE = np.random.default_rng(1).normal(0, 300, 80_000).astype("<i2").tobytes()
TIMEOUT = 60

pytestmark = pytest.mark.xdist_group("whisper")


def pieces_of(pcm: bytes) -> list[bytes]:
    return [pcm[start : start + PIECE] for start in range(0, len(pcm), PIECE)]


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> str:
    return str(tiny_whisper.write(tmp_path_factory.mktemp("models") / "whisper-tiny", SAID))


@pytest.fixture(scope="module")
def news() -> list[tuple[str, ...]]:
    return []


@pytest.fixture(scope="module")
def child(news):
    children = Children(PROGRAM, on_news=lambda *one: news.append(one))
    yield children.pick()
    children.close()


def feed(child, key: str, pcm: bytes, *, model: str, first: int = 0) -> int:
    child.post("open", key, model, "en-US")
    pieces = pieces_of(pcm)
    for number, piece in enumerate(pieces, first):
        child.post("feed", key, number, piece, size=len(piece))
    return first + len(pieces) - 1


def finish(child, key: str, first: int, last: int, *, model: str, language: str = "en-US"):
    return child.call("finish", key, first, last, model, language, timeout=TIMEOUT)


@pytest.mark.parametrize("final", [True, False])
def test_a_whole_answer_has_words_with_times_and_confidence(child, samples, model, final):
    sample = samples[0]
    heard = child.call("batch", sample.pcm, model, "en-US", final, timeout=TIMEOUT)
    assert heard["text"] == SAID
    assert [word for word, *_ in heard["words"]] == SAID.split()
    assert 0 < heard["confidence"] <= 1
    assert 1 < heard["seconds"] <= sample.spoken.duration + 0.001
    times = [time for _, start, end, _ in heard["words"] for time in (start, end)]
    assert all(0 <= time <= sample.spoken.duration for time in times)
    starts = times[::2]
    assert starts == sorted(starts)


def test_what_is_fed_is_there_when_it_ends(child, samples, model, news):
    last = feed(child, "fed", samples[1].pcm, model=model, first=7)
    assert finish(child, "fed", 7, last, model=model)["text"].startswith(SAID)
    assert finish(child, "fed", 7, last, model=model) is None


def test_words_are_told_while_it_goes_on(child, samples, model, news):
    """A pause closes what was said before it, so it is recognised without being asked for."""
    feed(child, "told", samples[0].pcm + SILENCE, model=model)
    until = time.monotonic() + TIMEOUT
    while ("partial", "told", SAID) not in news and time.monotonic() < until:
        time.sleep(0.02)
    assert ("partial", "told", SAID) in news
    child.post("drop", "told")


def test_a_look_at_the_words_does_not_end_them(child, samples, model):
    last = feed(child, "peeked", samples[0].pcm, model=model)
    assert child.call("peek", "peeked", last, model, "en-US", timeout=TIMEOUT) == SAID
    assert child.call("peek", "peeked", last + 1, model, "en-US", timeout=TIMEOUT) is None
    assert finish(child, "peeked", 0, last, model=model)["text"] == SAID


def test_pieces_may_come_twice_and_in_another_order(child, samples, model):
    child.post("open", "order", model, "en-US")
    pieces = pieces_of(samples[0].pcm)
    for number in [0, 2, 1, 1, *range(3, len(pieces)), 2]:
        child.post("feed", "order", number, pieces[number])
    assert finish(child, "order", 0, len(pieces) - 1, model=model)["text"] == SAID


def test_a_missing_piece_is_said(child, samples, model):
    pieces = pieces_of(samples[0].pcm)
    for number in (0, 2, 3):
        child.post("feed", "hole", number, pieces[number])
    assert finish(child, "hole", 0, 3, model=model) is None
    assert finish(child, "never", 0, 3, model=model) is None


@pytest.mark.parametrize("pcm", [b"", b"\0", SILENCE, NOISE])
def test_no_words_without_speech(child, model, pcm):
    heard = child.call("batch", pcm, model, "en-US", True, timeout=TIMEOUT)
    assert heard == {"text": "", "words": [], "confidence": None, "seconds": 0.0}


def test_text_in_a_foreign_script_is_no_answer(child, samples, model):
    heard = child.call("batch", samples[0].pcm, model, "hi-IN", True, timeout=TIMEOUT)
    assert (heard["text"], heard["words"]) == ("", [])


def test_a_loop_is_said_once(child, samples, tmp_path):
    model = str(tiny_whisper.write(tmp_path / "loop", "and so we went " * 6 + "home."))
    heard = child.call("batch", samples[0].pcm, model, "en-US", True, timeout=TIMEOUT)
    assert heard["text"] == "and so we went home."


def test_an_end_comes_before_what_can_wait(child, samples, model):
    """Four long answers lie there to be recognised again when someone finishes speaking."""
    order: list[str] = []
    long = b"".join(sample.pcm + SILENCE for sample in samples) * 4

    def again(number: int) -> None:
        child.call("batch", long, model, "en-US", True, timeout=TIMEOUT)
        order.append(f"final {number}")

    threads = [threading.Thread(target=again, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while child.load < len(threads):
        time.sleep(0.001)
    last = feed(child, "urgent", samples[0].pcm, model=model)
    assert finish(child, "urgent", 0, last, model=model)["text"] == SAID
    order.append("urgent")
    for thread in threads:
        thread.join()
    assert order.index("urgent") < len(threads) - 1


def test_a_model_that_is_not_complete_is_named_and_tried_again(child, samples, tmp_path):
    folder = tiny_whisper.write(tmp_path / "whisper-half", SAID)
    whole = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ChildFailed, match="whisper-half cannot be loaded; run `parley models verify`"):
        child.call("batch", samples[0].pcm, str(folder), "en-US", True, timeout=TIMEOUT)
    (folder / "model.bin").unlink()
    with pytest.raises(ChildFailed, match="whisper-half is not complete; run `parley models install whisper-half`"):
        child.call("batch", samples[0].pcm, str(folder), "en-US", True, timeout=TIMEOUT)
    (folder / "model.bin").write_bytes(whole)
    assert child.call("batch", samples[0].pcm, str(folder), "en-US", True, timeout=TIMEOUT)["text"] == SAID
    (folder / "tokenizer.json").unlink()
    last = feed(child, "gone", samples[0].pcm, model=str(folder))
    with pytest.raises(ChildFailed, match="not complete"):
        finish(child, "gone", 0, last, model=str(folder))


def test_a_processor_that_is_too_slow_is_told_at_once_and_with_every_request():
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="flags\t\t: fpu sse2 avx fma")
    assert sent == ([(None, None, ("unfit", TOO_SLOW))] if platform.machine() in X86 else [])
    if sent:
        desk.take(None, "prepare", "nowhere", "en-US")
        desk.take(3, "batch", b"", "nowhere", "en-US", True)
        assert sent[1:] == [(3, TOO_SLOW, None)]
        assert not desk.step()


def test_a_model_without_use_is_given_back_where_memory_is_short(model):
    models = Models(threads=1)
    models.get(model)
    now = time.monotonic()
    models.give_back(now=now + IDLE_SECONDS + 1, available=0.5)
    models.give_back(now=now + IDLE_SECONDS / 2, available=0.1)
    assert models.loaded == ("whisper-tiny",)
    models.give_back(now=now + IDLE_SECONDS + 1, available=0.1)
    assert models.loaded == ()
    models.get(model)
    assert models.loaded == ("whisper-tiny",)


@pytest.mark.parametrize(("times", "text", "windows"), [(1, SAID, 1), (4, f"{SAID} {SAID}", 2)], ids=["short", "long"])
@pytest.mark.parametrize("quiet", [1, 8], ids=["at once", "after a long pause"])
def test_what_was_recognised_for_a_look_is_not_recognised_again(
    samples, model, monkeypatch, quiet, times, text, windows
):
    """The end comes some time after the look; nothing but quiet has been said since."""
    reads = []
    read = Model.read
    monkeypatch.setattr(Model, "read", lambda self, *args, **options: reads.append(1) or read(self, *args, **options))
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    desk.take(None, "open", "looked", model, "en-US")
    desk.take(None, "feed", "looked", 0, samples[0].pcm * times)
    desk.take(1, "peek", "looked", 0, model, "en-US")
    while desk.step():
        pass
    assert ([one for one in sent if one[0]], len(reads)) == ([(1, None, text)], windows)
    for number in range(1, quiet + 1):
        desk.take(None, "feed", "looked", number, bytes(PIECE))
        while quiet > 1 and desk.step():
            pass
    desk.take(2, "finish", "looked", 0, quiet, model, "en-US")
    while desk.step():
        pass
    assert sent[-1][2]["text"] == text
    assert len(reads) == windows


def _after_more_pieces(model, pcm, *, later):
    """What an answer of one piece was, asked for when others have followed it."""
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    desk.take(None, "open", "late", model, "en-US")
    for number, piece in enumerate([pcm, *later]):
        desk.take(None, "feed", "late", number, piece)
        while desk.step():
            pass
    desk.take(1, "finish", "late", 0, 0, model, "en-US")
    while desk.step():
        pass
    return sent[-1]


def test_silence_that_follows_an_answer_does_not_make_it_recognised_again(samples, model):
    number, problem, heard = _after_more_pieces(model, samples[0].pcm, later=[bytes(PIECE)] * 5)
    assert (number, problem, heard["text"]) == (1, None, SAID)
    assert heard["seconds"] == pytest.approx(len(samples[0].pcm) / 2 / SPEECH_RATE, abs=0.1)


def test_a_look_gets_the_words_before_they_have_places(samples, model):
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    desk.take(None, "open", "looked", model, "en-US")
    desk.take(None, "feed", "looked", 0, samples[0].pcm)
    desk.take(1, "peek", "looked", 0, model, "en-US")
    while not sent:
        assert desk.step()
    assert sent == [(1, None, SAID)]
    (utterance,) = desk._streams.values()
    assert utterance.text == "", "its words have no places yet"
    desk.take(2, "finish", "looked", 0, 0, model, "en-US")
    while desk.step():
        pass
    number, _problem, heard = sent[-1]
    assert (number, heard["text"], [word for word, *_ in heard["words"]]) == (2, SAID, SAID.split())


@pytest.mark.parametrize("begun", [[2_000], [2_000, 6_000]], ids=["once", "twice"])
def test_the_beginning_of_a_piece_is_heard_before_it_is_whole(samples, model, monkeypatch, begun):
    """The end of the answer lies in it, and the whole piece adds only quiet."""
    reads = []
    read = Model.read
    monkeypatch.setattr(Model, "read", lambda self, *args, **options: reads.append(1) or read(self, *args, **options))
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    rest = len(samples[0].pcm) % PIECE
    *whole, last = pieces_of(samples[0].pcm + bytes(PIECE - rest + 2_000))[:-1]
    desk.take(None, "open", "early", model, "en-US")
    for number, piece in enumerate(whole):
        desk.take(None, "feed", "early", number, piece)
    end = len(whole)
    for more in begun:
        desk.take(None, "begin", "early", end, last[: min(PIECE, rest + more)])
        desk.take(1, "peek", "early", end, model, "en-US")
        sent.clear()
        while desk.step():
            pass
        assert [one for one in sent if one[0]] == [(1, None, SAID)]
    desk.take(None, "feed", "early", end, last)
    desk.take(2, "finish", "early", 0, end, model, "en-US")
    while desk.step():
        pass
    number, problem, heard = sent[-1]
    assert (number, problem, heard["text"]) == (2, None, SAID)
    assert heard["seconds"] == pytest.approx(len(samples[0].pcm) / 2 / SPEECH_RATE, abs=0.1)
    assert len(reads) == 1


def test_a_look_ends_the_one_before_it(samples, model, monkeypatch):
    """The first was about a pause after which the candidate went on; it is being worked on."""
    reads, read = [], Model.read
    monkeypatch.setattr(Model, "read", lambda self, *args, **options: reads.append(1) or read(self, *args, **options))
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    desk.take(None, "open", "twice", model, "en-US")
    desk.take(None, "feed", "twice", 0, samples[0].pcm[:PIECE])
    desk.take(1, "peek", "twice", 0, model, "en-US")
    while not reads:
        assert desk.step()
    desk.take(None, "feed", "twice", 1, samples[0].pcm[PIECE:])
    desk.take(2, "peek", "twice", 1, model, "en-US")
    while desk.step():
        pass
    assert [one for one in sent if one[0]] == [(1, None, None), (2, None, SAID)]


def test_a_beginning_that_is_not_the_next_piece_is_not_heard(samples, model):
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    desk.take(None, "open", "ahead", model, "en-US")
    desk.take(None, "feed", "ahead", 0, samples[0].pcm[:PIECE])
    desk.take(None, "begin", "ahead", 2, samples[0].pcm[:PIECE])
    desk.take(1, "peek", "ahead", 2, model, "en-US")
    assert sent[-1] == (1, None, None)


def test_words_that_begin_after_an_answer_are_not_part_of_it(samples, model):
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    desk.take(None, "open", "resumed", model, "en-US")
    desk.take(None, "feed", "resumed", 0, samples[0].pcm)
    desk.take(None, "begin", "resumed", 1, samples[0].pcm[: PIECE // 2])
    desk.take(1, "finish", "resumed", 0, 0, model, "en-US")
    assert sent[-1] == (1, None, None)


def test_words_that_follow_an_answer_are_not_part_of_it(samples, model):
    assert _after_more_pieces(model, samples[0].pcm, later=[bytes(PIECE), samples[0].pcm]) == (1, None, None)


def test_what_no_one_asks_for_is_forgotten(samples, model):
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="")
    desk.take(None, "open", "left", model, "en-US")
    desk.take(None, "feed", "left", 0, samples[0].pcm[:PIECE])
    while desk.step():
        pass
    desk.tidy(time.monotonic() + FORGET_SECONDS / 2)
    desk.take(1, "peek", "left", 0, model, "en-US")
    while desk.step():
        pass
    desk.tidy(time.monotonic() + FORGET_SECONDS + 1)
    desk.take(2, "peek", "left", 0, model, "en-US")
    assert [number for number, *_ in sent if number is not None] == [1, 2]
    assert sent[-1] == (2, None, None)


def test_memory_goes_back_to_the_system_once_an_answer_is_recognised(samples, model):
    trims: list[int] = []
    sent: list[tuple] = []
    desk = Desk(sent.append, flags="", trim=lambda: trims.append(len(sent)))
    desk.take(1, "batch", samples[0].pcm, model, "en-US", False)
    assert not trims
    while desk.step():
        pass
    assert trims == [1]  # after its answer, for which someone waits


def test_it_ends_with_its_parent(model):
    children = Children(PROGRAM)
    pid = children.pick().pid
    children.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
