"""The embedded recogniser on real, self-made speech: error rates and times, never exact text."""

import os
import signal
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from types import SimpleNamespace

import numpy as np
import pytest

from app.core.errors import GatewayError
from app.gateways.speech.believing import was_measured
from app.gateways.speech.engines import pocketsphinx, pocketsphinx_child
from app.gateways.speech.engines.pocketsphinx import PocketsphinxTranscriber
from app.gateways.speech.engines.pocketsphinx_utterance import AFTERGLOW, BLOCK, ENOUGH_SPEECH, Utterance
from app.gateways.speech.ports import SAMPLE_BYTES, SPEECH_RATE
from app.gateways.speech.silence import speech_seconds
from app.gateways.speech.sound import seconds

pytestmark = [pytest.mark.xdist_group("recogniser"), pytest.mark.pocketsphinx]
PIECE = SPEECH_RATE  # half a second of 16-bit samples


def pieces_of(pcm: bytes) -> list[bytes]:
    return [pcm[start : start + PIECE] for start in range(0, len(pcm), PIECE)]


def not_needed() -> bytes:
    raise AssertionError("the audio was decoded again")


def test_english_is_understood_with_word_times(sphinx, samples, wer):
    rates, errors = [], []
    for sample in samples:
        heard = sphinx.transcribe(sample.pcm, rate=SPEECH_RATE, language="en-US")
        rates.append(wer(sample.text, heard.text))
        truth = {word.word.lower(): word.start for word in sample.spoken.words}
        errors += [abs(word.start - truth[word.word]) for word in heard.words if word.word in truth]
        assert heard.text == " ".join(word.word for word in heard.words)
        assert all(0 <= word.start < word.end <= sample.spoken.duration + 0.05 for word in heard.words)
        assert heard.engine == "pocketsphinx"
        assert 0 < heard.confidence <= 1
    assert np.mean(rates) < 0.35
    assert np.median(errors) < 0.05


def test_what_was_decoded_while_speaking_is_used(sphinx, samples, wer):
    sample = samples[1]
    pieces = pieces_of(sample.pcm)
    for number, piece in enumerate(pieces, 7):
        sphinx.feed("a", number, piece, language="en-US")
    heard = sphinx.finish("a", first=7, last=6 + len(pieces), language="en-US", pcm=not_needed)
    assert wer(sample.text, heard.text) < 0.5
    assert heard.text == sphinx.transcribe(sample.pcm, rate=SPEECH_RATE, language="en-US").text


@pytest.mark.parametrize("share", [1.0, 0.4], ids=["long", "so short that it was only attempted"])
def test_speech_is_measured_while_it_is_spoken(sphinx, samples, share):
    sample = samples[1]
    pcm = sample.pcm[: int(share * len(sample.pcm)) // SAMPLE_BYTES * SAMPLE_BYTES]
    pieces = pieces_of(pcm)
    for number, piece in enumerate(pieces):
        sphinx.feed("measured", number, piece, language="en-US")
        sphinx.feed("measured", number, piece, language="en-US")
    heard = sphinx.finish("measured", first=0, last=len(pieces) - 1, language="en-US", pcm=not_needed)
    assert speech_seconds(pcm, SPEECH_RATE) - 0.1 <= heard.spoken <= seconds(pcm, SPEECH_RATE)
    assert heard.spoken == pytest.approx(speech_seconds(pcm, SPEECH_RATE), abs=0.1) or heard.spoken > ENOUGH_SPEECH
    assert was_measured(heard, language="en-US")


def test_in_sound_without_speech_none_is_measured(sphinx):
    hiss = np.random.default_rng(1).normal(0, 300, SPEECH_RATE // 2).astype("<i2").tobytes()
    for number in range(8):
        sphinx.feed("hiss", number, hiss, language="en-US")
    heard = sphinx.finish("hiss", first=0, last=7, language="en-US", pcm=not_needed)
    assert heard.spoken == 0
    assert not was_measured(heard, language="en-US")


def test_pieces_may_come_twice_and_in_another_order(sphinx, samples):
    sample = samples[0]
    pieces = pieces_of(sample.pcm)
    order = [0, 2, 1, 1, *range(3, len(pieces)), 2]
    for number in order:
        sphinx.feed("b", number, pieces[number], language="en-US")
    heard = sphinx.finish("b", first=0, last=len(pieces) - 1, language="en-US", pcm=not_needed)
    assert heard.text == sphinx.transcribe(sample.pcm, rate=SPEECH_RATE, language="en-US").text


@pytest.mark.parametrize("lost", ["first", "middle", "last", "all"])
def test_with_a_piece_missing_the_whole_audio_is_decoded(sphinx, samples, lost):
    sample = samples[0]
    pieces = pieces_of(sample.pcm)
    skipped = {"first": {0}, "middle": {3}, "last": {len(pieces) - 1}, "all": set(range(len(pieces)))}[lost]
    for number, piece in enumerate(pieces):
        if number not in skipped:
            sphinx.feed(f"c-{lost}", number, piece, language="en-US")
    asked = []
    heard = sphinx.finish(
        f"c-{lost}", first=0, last=len(pieces) - 1, language="en-US", pcm=lambda: asked.append(1) or sample.pcm
    )
    assert asked == [1]
    assert heard.text


def test_what_was_tried_of_a_short_answer_is_not_decoded_again(sphinx, samples):
    pieces = pieces_of(samples[1].pcm)[:4]
    for number, piece in enumerate(pieces[:3]):
        sphinx.feed("tried", number, piece, language="en-US")
    told = sphinx.peek("tried", last=2, language="en-US", seconds=20)
    sphinx.feed("tried", 3, pieces[3], language="en-US")
    more = sphinx.peek("tried", last=3, language="en-US", seconds=20)
    heard = sphinx.finish("tried", first=0, last=3, language="en-US", pcm=not_needed)
    assert told
    assert len(more) > len(told)
    assert heard.text.split()[:2] == more.split()[:2]
    assert heard.words[-1].end > 1.5


def settle(desk) -> None:
    while desk.step():
        pass


def test_an_answer_that_goes_on_after_a_try_is_decoded_from_its_beginning(samples):
    sent, pcm = [], samples[0].pcm
    desk = pocketsphinx_child.Desk(SimpleNamespace(send=sent.append))
    pieces = pieces_of(pcm)
    for number, piece in enumerate(pieces):
        desk.take(None, "feed", "longer", number, piece)
        if number == 1:
            desk.take(1, "peek", "longer", 1, b"")
        settle(desk)
    desk.take(2, "finish", "longer", 0, len(pieces) - 1)
    settle(desk)
    desk.take(3, "batch", pcm)
    settle(desk)
    answers = {number: found for number, _, found in sent if number is not None}
    assert answers[1]
    assert answers[2][1] == answers[3][1]


def test_a_try_that_is_dropped_is_forgotten(sphinx, samples):
    sphinx.feed("left", 0, samples[1].pcm[:PIECE], language="en-US")
    assert sphinx.peek("left", last=0, language="en-US", seconds=20) is not None
    sphinx.drop("left")
    assert sphinx.peek("left", last=0, language="en-US", seconds=20) is None


@pytest.mark.parametrize("kind", ["batch", "choose"])
def test_nothing_of_one_sound_remains_for_the_next(samples, kind):
    """Not even in the third digit of how sure it is: what remains changes words where two are about as likely."""
    sent = []
    desk = pocketsphinx_child.Desk(SimpleNamespace(send=sent.append))
    among = (("next question", "I worked for six years"), (), ())
    sound = samples[0].pcm[3 * PIECE // 2 : 5 * PIECE]
    hiss = np.random.default_rng(1).normal(0, 3000, SPEECH_RATE).astype("<i2").tobytes()
    for number, pcm in enumerate((sound, hiss + samples[2].pcm, sound)):
        desk.take(number, kind, *{"batch": (pcm,), "choose": (among, pcm, "six years")}[kind])
        settle(desk)
    (_, _, first), _, (_, _, again) = sent
    assert first
    assert again == first


@pytest.mark.parametrize("asked", ["finish", "peek"])
@pytest.mark.parametrize("more", [0, 1, 2], ids=["just begun again", "half a second later", "a second later"])
def test_an_answer_that_ends_when_it_is_begun_again_waits_for_what_is_decoded_soonest(samples, asked, more):
    sent = []
    desk = pocketsphinx_child.Desk(SimpleNamespace(send=sent.append))
    pieces = pieces_of(samples[1].pcm)[: 5 + more]
    for number, piece in enumerate(pieces):
        desk.take(None, "feed", "a", number, piece)
        if number < 4:
            settle(desk)
        elif number < len(pieces) - 1:
            for _ in range(6):
                desk.step()
    desk.take(7, asked, "a", *((0, len(pieces) - 1) if asked == "finish" else (len(pieces) - 1, b"")))
    blocks = len(pieces[-1]) // BLOCK
    for _ in range(blocks + 1):
        desk.step()
    answers = [found for number, _, found in sent if number == 7]
    assert len(answers) == 1
    words = answers[0][1] if asked == "finish" else answers[0]
    assert words[-1][2] > 2
    settle(desk)
    desk.take(None, "drop", "a")
    assert len(desk._recogniser._free) == desk._recogniser._made  # no decoder is kept


def test_two_speakers_at_once_do_not_mix(samples):
    sent = []
    desk = pocketsphinx_child.Desk(SimpleNamespace(send=sent.append))
    voices = {1: samples[0].pcm[: 7 * PIECE], 2: samples[1].pcm[: 7 * PIECE]}
    for number in range(7):
        for speaker, pcm in voices.items():
            desk.take(None, "feed", str(speaker), number, pieces_of(pcm)[number])
        settle(desk)
    for speaker in voices:
        desk.take(speaker, "finish", str(speaker), 0, 6)
    settle(desk)
    for speaker, pcm in voices.items():
        desk.take(10 * speaker, "batch", pcm)
        settle(desk)
    answers = {number: found for number, _, found in sent if number is not None}
    for speaker in voices:
        assert answers[speaker][1] == answers[10 * speaker][1]


def test_a_dropped_utterance_is_forgotten(sphinx, samples):
    pieces = pieces_of(samples[0].pcm)
    for number, piece in enumerate(pieces):
        sphinx.feed("d", number, piece, language="en-US")
    sphinx.drop("d")
    asked = []
    sphinx.finish("d", first=0, last=len(pieces) - 1, language="en-US", pcm=lambda: asked.append(1) or samples[0].pcm)
    assert asked == [1]


def test_a_lost_process_is_replaced_and_the_audio_decoded_again(samples):
    transcriber = PocketsphinxTranscriber(processes=1)
    try:
        transcriber.transcribe(samples[0].pcm[:PIECE], rate=SPEECH_RATE, language="en-US")
        (pid,) = transcriber.pids()
        pieces = pieces_of(samples[0].pcm)
        for number, piece in enumerate(pieces):
            transcriber.feed("k", number, piece, language="en-US")
        os.kill(pid, signal.SIGKILL)
        heard = transcriber.finish("k", first=0, last=len(pieces) - 1, language="en-US", pcm=lambda: samples[0].pcm)
        assert heard.text
        assert transcriber.pids() != [pid]
    finally:
        transcriber.close()


def test_feeding_a_busy_or_closed_recogniser_never_waits(samples):
    transcriber = PocketsphinxTranscriber(processes=1)
    began = time.perf_counter()
    transcriber.feed("e", 0, samples[0].pcm, language="en-US")
    assert time.perf_counter() - began < 0.25  # loading the model takes longer
    transcriber.close()
    transcriber.feed("f", 0, samples[0].pcm, language="en-US")
    with pytest.raises(GatewayError, match="closed"):
        transcriber.transcribe(samples[0].pcm, rate=SPEECH_RATE, language="en-US")


def test_other_languages_are_refused_with_the_way_out(sphinx):
    assert not sphinx.supports("de-DE")
    sphinx.feed("g", 0, b"\0" * PIECE, language="de-DE")
    with pytest.raises(GatewayError, match="STT_PROVIDER") as refusal:
        sphinx.finish("g", first=0, last=0, language="de-DE", pcm=not_needed)
    assert not refusal.value.retryable


def test_silence_and_nothing_give_no_words(sphinx):
    for pcm in (b"", b"\0\0" * SPEECH_RATE, b"\1"):
        heard = sphinx.transcribe(pcm, rate=SPEECH_RATE, language="en-US")
        assert (heard.text, heard.words, heard.confidence) == ("", (), None)


def test_known_text_is_aligned_with_its_sound(sphinx, samples):
    sample = samples[1]
    words = sphinx.align(sample.text, sample.spoken.pcm, rate=sample.spoken.rate)
    assert [word.word for word in words] == sample.text.split()
    starts = [abs(a.start - b.start) for a, b in zip(words, sample.spoken.words, strict=True)]
    assert np.median(starts) < 0.02
    assert max(starts) < 0.2


def test_words_outside_the_dictionary_and_numbers_are_aligned_too(sphinx, espeak):
    text = "I run Kubernetes clusters on 24 machines, don't I?"
    spoken = espeak.speak(text, voice_id="vendora-Anthony", language="en-US")
    words = sphinx.align(text, spoken.pcm, rate=spoken.rate)
    assert [word.word for word in words] == text.split()
    told = next(word for word in spoken.words if word.word == "Kubernetes")
    assert abs(words[2].start - told.start) < 0.15


def test_text_that_was_not_said_gets_no_times(sphinx, samples):
    assert sphinx.align("", samples[0].pcm, rate=SPEECH_RATE) == ()
    assert sphinx.align("a sentence much longer than this sound " * 20, samples[0].pcm[:PIECE], rate=SPEECH_RATE) == ()


def test_a_process_is_there_before_the_first_word():
    transcriber = PocketsphinxTranscriber(processes=2)
    try:
        transcriber.prepare("de-DE")
        assert transcriber.pids() == []
        transcriber.prepare("en-US")
        transcriber.prepare("en-US")
        assert len(transcriber.pids()) == 1
    finally:
        transcriber.close()
    transcriber.prepare("en-US")
    assert transcriber.pids() == [], "a closed engine starts nothing and does not complain"


def test_words_are_told_while_they_are_spoken(sphinx, samples, wer):
    sample = samples[1]
    pieces = pieces_of(sample.pcm)
    assert sphinx.partial("p") is None
    for number, piece in enumerate(pieces):
        sphinx.feed("p", number, piece, language="en-US")
    deadline = time.monotonic() + 30
    while len((sphinx.partial("p") or "").split()) < len(sample.text.split()) / 2:
        assert time.monotonic() < deadline, "no words within 30 s"
        time.sleep(0.05)
    told = sphinx.partial("p")
    heard = sphinx.finish("p", first=0, last=len(pieces) - 1, language="en-US", pcm=not_needed)
    assert wer(heard.text, told) < 0.7
    assert sphinx.partial("p") is None


def test_words_can_be_read_while_the_answer_goes_on(sphinx, samples, wer):
    sample = samples[1]
    pieces = pieces_of(sample.pcm)
    assert sphinx.peek("peeked", last=0, language="en-US", seconds=20) is None
    read = []
    for number, piece in enumerate(pieces, 3):
        sphinx.feed("peeked", number, piece, language="en-US")
        read.append(sphinx.peek("peeked", last=number, language="en-US", seconds=20))
    assert all(text is not None for text in read)
    assert [len(text.split()) for text in read[1:]] == sorted(len(text.split()) for text in read[1:])
    assert wer(sample.text, read[-1]) < 0.5
    assert sphinx.peek("peeked", last=3 + len(pieces), language="en-US", seconds=20) is None
    heard = sphinx.finish("peeked", first=3, last=2 + len(pieces), language="en-US", pcm=not_needed)
    assert wer(sample.text, heard.text) < 0.5


@pytest.mark.parametrize("pieces", [4, 9])
def test_the_beginning_of_a_piece_is_heard_before_the_rest_of_it(sphinx, samples, wer, pieces):
    """Of an answer that is still being tried, and of one that is decoded as it comes."""
    room = np.random.default_rng(3).normal(0, 8, PIECE).astype("<i2").tobytes()
    voice = samples[1].pcm[: (pieces - 1) * PIECE + PIECE * 2 // 5]
    whole = pieces_of((voice + room)[: pieces * PIECE])
    for number, piece in enumerate(whole[:-1]):
        sphinx.feed("begun", number, piece, language="en-US")
    ask = {"last": pieces - 1, "language": "en-US", "seconds": 20}
    assert sphinx.peek("begun", **ask) is None
    assert sphinx.peek("begun", **{**ask, "last": pieces}, begun=whole[-1]) is None, "a piece before it is missing"
    early = [sphinx.peek("begun", **ask, begun=whole[-1][: PIECE * share // 5]) for share in (2, 4)]
    sphinx.feed("begun", pieces - 1, whole[-1], language="en-US")
    heard = sphinx.finish("begun", first=0, last=pieces - 1, language="en-US", pcm=not_needed)
    for number, piece in enumerate(whole):
        sphinx.feed("plain", number, piece, language="en-US")
    sphinx.peek("plain", **ask)
    plain = sphinx.finish("plain", first=0, last=pieces - 1, language="en-US", pcm=not_needed)
    assert heard.spoken == pytest.approx(plain.spoken, abs=0.1)
    assert len(early[0].split()) <= len(early[1].split())
    assert max(wer(plain.text, heard.text), wer(heard.text, early[1])) < 0.3


@pytest.mark.parametrize("pieces", [3, 6])
def test_words_after_the_answers_last_piece_are_in_no_answer(sphinx, samples, pieces):
    """An answer may end with the piece before one that has begun: at the time limit, or when a page is left."""
    whole = samples[1].pcm[: pieces * PIECE]
    for number, piece in enumerate(pieces_of(whole)):
        sphinx.feed("ended", number, piece, language="en-US")
    begun = samples[1].pcm[len(whole) :][: PIECE // 5 * 4]
    assert sphinx.peek("ended", last=pieces, language="en-US", seconds=20, begun=begun)
    heard = sphinx.finish("ended", first=0, last=pieces - 1, language="en-US", pcm=not_needed)
    assert heard.words
    assert all(word.start < seconds(whole, SPEECH_RATE) for word in heard.words)


@pytest.mark.parametrize("pieces", [3, 8])
def test_what_is_left_of_a_pause_is_not_decoded_at_the_end(samples, pieces):
    room = np.random.default_rng(3).normal(0, 8, PIECE // 2).astype("<i2").tobytes()
    sent, voice = [], samples[1].pcm[: (pieces - 1) * PIECE]
    desk = pocketsphinx_child.Desk(SimpleNamespace(send=sent.append))
    for number, piece in enumerate(pieces_of(voice)):
        desk.take(None, "feed", "a", number, piece)
        settle(desk)
    desk.take(1, "peek", "a", pieces - 1, room[: PIECE // 4])
    settle(desk)
    desk.take(None, "feed", "a", pieces - 1, room)
    desk.take(2, "finish", "a", 0, pieces - 1)
    assert not desk._streams["a"].pending
    settle(desk)
    ((_, words),) = [found for number, _, found in sent if number == 2]
    assert [number for number, *_ in sent if number in {1, 2}] == [1, 2]
    assert words


def test_a_newer_question_takes_the_place_of_one_that_is_not_waited_for_any_more(samples):
    sent, pieces = [], pieces_of(samples[1].pcm)[:8]
    desk = pocketsphinx_child.Desk(SimpleNamespace(send=sent.append))
    for number, piece in enumerate(pieces):
        desk.take(None, "feed", "a", number, piece)
    desk.take(1, "peek", "a", 7, b"")
    desk.take(2, "peek", "a", 7, b"")
    settle(desk)
    answers = {number: found for number, _, found in sent if number is not None}
    assert answers[1] is None
    assert answers[2]


@pytest.mark.parametrize("loudness", [0, 60])
def test_silence_at_the_end_is_not_decoded_while_a_candidate_waits(loudness):
    """A room as loud as in the pause before it is left out; what is much louder, or lies before the pause, is not."""
    room = np.random.default_rng(3).normal(0, loudness, PIECE // 2).astype("<i2").tobytes()
    word = np.random.default_rng(4).normal(0, 400, PIECE // 20).astype("<i2").tobytes()  # 50 ms
    for later, left in ((room[: PIECE // 2], 0), (word + room[: PIECE // 2 - len(word)], len(word) + AFTERGLOW * 320)):
        utterance = Utterance(5)
        utterance.add(5, room)
        utterance.begin(6, room[: PIECE // 2])
        assert (utterance.has(6), utterance.complete(5, 6)) == (True, False)
        utterance.pending.clear()  # as if it was decoded
        utterance.add(6, room[: PIECE // 2] + later)
        assert (utterance.complete(5, 6), len(utterance.pending)) == (True, PIECE // 2)
        utterance.pending[:0] = word  # not decoded yet: it lies before the pause
        utterance.leave_out_silence(utterance)
        assert len(utterance.pending) == len(word) + left
        utterance.add(7, room)
        utterance.leave_out_silence(utterance)
        assert len(utterance.pending) == len(word) + left + len(room), "someone may have spoken since"


def test_whoever_cannot_wait_gets_nothing_and_nothing_breaks(sphinx, samples):
    sample = samples[0]
    pieces = pieces_of(sample.pcm)
    for number, piece in enumerate(pieces):
        sphinx.feed("hurried", number, piece, language="en-US")
    assert sphinx.peek("hurried", last=len(pieces) - 1, language="en-US", seconds=0) is None
    before = sphinx.pids()
    heard = sphinx.finish("hurried", first=0, last=len(pieces) - 1, language="en-US", pcm=not_needed)
    assert heard.text
    assert sphinx.pids() == before
    assert sphinx.peek("hurried", last=0, language="en-US", seconds=20) is None
    assert sphinx.peek("hurried", last=0, language="de-DE", seconds=20) is None


def test_an_answer_that_waits_for_a_decoder_is_heard_once_one_is_left(monkeypatch):
    """Four tabs were closed in mid-answer: their decoders are free ten seconds later, and nobody has to say so."""
    moment, sent = [0.0], []
    monkeypatch.setattr(pocketsphinx_child.time, "monotonic", lambda: moment[0])
    desk = pocketsphinx_child.Desk(SimpleNamespace(send=sent.append))
    speech = np.random.default_rng(1).normal(0, 500, 3 * SPEECH_RATE).astype("<i2").tobytes()
    for name in "abcd":
        desk.take(None, "feed", name, 0, speech)
        while desk.step():
            pass
    assert desk.patience is None
    desk.take(7, "batch", speech)
    assert not desk.step()
    assert desk.patience == pocketsphinx_child.LOOK_AGAIN
    moment[0] = pocketsphinx_child.IDLE_SECONDS + 1
    while desk.step():
        pass
    assert [number for number, problem, _ in sent if number is not None] == [7]
    assert desk.patience is None


def test_the_child_of_a_parent_that_left_in_the_middle_ends_without_a_word():
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-P", pocketsphinx_child.__file__, str(theirs.fileno())]
        child = subprocess.Popen(command, pass_fds=(theirs.fileno(),), stderr=subprocess.PIPE)
    speech = np.random.default_rng(1).normal(0, 500, 2 * SPEECH_RATE).astype("<i2").tobytes()
    with Connection(ours.detach()) as connection:
        for number in range(3):
            connection.send((number, "align", [("yes", "Y EH S")], speech))
    _, told = child.communicate(timeout=60)
    assert (child.returncode, told) == (0, b"")


def test_a_busy_process_is_not_waited_for_longer_than_a_candidate_can(samples, monkeypatch):
    monkeypatch.setattr(pocketsphinx, "LIVE_PATIENCE", 0.0)
    busy = PocketsphinxTranscriber(processes=1)
    try:
        pieces = pieces_of(samples[0].pcm)
        for number, piece in enumerate(pieces):
            busy.feed("k", number, piece, language="en-US")
        with pytest.raises(GatewayError) as late:
            busy.finish("k", first=0, last=len(pieces) - 1, language="en-US", pcm=not_needed)
        assert late.value.retryable
    finally:
        busy.close()
