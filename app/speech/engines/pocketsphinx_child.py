"""The recognition process: pocketsphinx holds the interpreter's lock, so it never runs beside a web thread.

Started by path with a socket's number; imports nothing of Parley. Several utterances are decoded in turns, block by
block: those that someone waits for first. Requests: batch, feed, peek, finish, drop, align, choose.
"""

import contextlib
import ctypes
import queue
import re
import runpy
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

_beside = runpy.run_path(str(Path(__file__).with_name("pocketsphinx_choice.py")))
Chooser, _words_of = _beside["Chooser"], _beside["words_of"]

RATE, SAMPLE_BYTES = 16_000, 2
BLOCK = 8_000
"""Bytes decoded in one go (0.25 s): the longest that another utterance waits for its turn."""
WARM_UP = int(2.5 * RATE) * SAMPLE_BYTES
"""Cepstral means are estimated from this much audio before decoding starts: half as many wrong words."""
DECODERS = 4
STATES = 10_000
"""Searched per frame at most. With a second pass at the end of each answer 5,000 gave the same words for the same work, but
then the candidate waited for that pass: a quarter of a second after six seconds of speech, more after longer answers."""
IDLE_SECONDS = 10.0
LOOK_AGAIN = 0.5
"""Seconds until somebody who waits for a decoder looks again whether one has been left."""
FORGET_SECONDS = 900.0
NOISE, SILENT_PEAK, FRAME = 100.0, 2, 160
PDEATHSIG = 1

Found = tuple[str, float, float, float]


class Utterance:
    """One answer: what has arrived, what is decoded and who waits for it."""

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.next = first
        self.ahead: dict[int, bytes] = {}
        self.pending = bytearray()
        self.touched = time.monotonic()
        self.decoder: Any = None
        self.broken = False
        self.asked_by: int | None = None
        self.told = ""
        self.peeked_by: int | None = None
        self.noise: np.random.Generator | None = None

    def add(self, number: int, pcm: bytes) -> None:
        """Take a piece; those that come early wait for the ones before them, repeated ones are ignored."""
        self.touched = time.monotonic()
        if number < self.first:
            self.broken = True
        if number >= self.next:
            self.ahead.setdefault(number, pcm)
        while (piece := self.ahead.pop(self.next, None)) is not None:
            self.pending += piece
            self.next += 1

    def complete(self, first: int, last: int) -> bool:
        """Whether exactly these pieces are here."""
        return not self.broken and not self.ahead and self.first == first and self.next == last + 1

    @property
    def has_work(self) -> bool:
        """Whether a block can be decoded or an answer be given now."""
        if self.broken:
            return False
        enough = BLOCK if self.decoder is not None else WARM_UP
        return self.is_waited_for or len(self.pending) >= enough

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody wants its words now."""
        return self.asked_by is not None or self.peeked_by is not None

    def take_block(self) -> bytes:
        """The next samples to decode."""
        block = bytes(self.pending[:BLOCK])
        del self.pending[:BLOCK]
        return self.noisy(block)

    def noisy(self, pcm: bytes) -> bytes:
        """Digital silence upsets the recogniser's normalisation: such audio gets a faint noise floor."""
        if self.noise is None or not pcm:
            return pcm
        samples = np.frombuffer(pcm, "<i2") + self.noise.normal(0, NOISE, len(pcm) // SAMPLE_BYTES)
        return bytes(np.clip(samples, -32768, 32767).astype("<i2").tobytes())


class Recogniser:
    """Decoders, shared by all utterances of this process."""

    def __init__(self) -> None:
        self._free: list[Any] = [_new_decoder()]
        self._made = 1
        self._plain_means = self._free[0].get_cmn(update=False)
        self._aligner: Any = None
        self.chooser = Chooser()

    def lend(self, utterance: Utterance, others: list[Utterance]) -> bool:
        """Give the utterance a decoder, if need be that of one which nobody feeds any more."""
        if not self._free and self._made < DECODERS:
            self._free.append(_new_decoder())
            self._made += 1
        if not self._free:
            self._reclaim(others)
        if not self._free:
            return False
        utterance.decoder = self._free.pop()
        self._start(utterance)
        return True

    def _reclaim(self, others: list[Utterance]) -> None:
        idle = [one for one in others if one.decoder is not None and one.asked_by is None]
        stalest = min(idle, key=lambda one: one.touched, default=None)
        if stalest is not None and time.monotonic() - stalest.touched > IDLE_SECONDS:
            stalest.broken = True
            self.give_back(stalest)

    def give_back(self, utterance: Utterance) -> None:
        """End whatever the decoder did for this utterance."""
        if utterance.decoder is None:
            return
        decoder, utterance.decoder = utterance.decoder, None
        decoder.end_utt()
        self._free.append(decoder)

    def _start(self, utterance: Utterance) -> None:
        decoder, head = utterance.decoder, bytes(utterance.pending[:WARM_UP])
        if _has_digital_silence(head):
            utterance.noise = np.random.default_rng(0)
        self._warm_up(decoder, utterance.noisy(head))
        decoder.start_utt()

    def _warm_up(self, decoder: Any, head: bytes) -> None:
        decoder.set_cmn(self._plain_means)  # nothing of the speaker before
        if not head:
            return
        decoder.start_utt()
        decoder.process_raw(head, no_search=True)
        decoder.get_cmn(update=True)
        decoder.end_utt()

    def result(self, utterance: Utterance) -> list[Found]:
        """The words, once everything is decoded."""
        decoder, utterance.decoder = utterance.decoder, None
        decoder.end_utt()
        words = list(_words_of(decoder))
        self._free.append(decoder)
        return words

    def align(self, words: list[tuple[str, str]], pcm: bytes) -> list[Found]:
        """Times of known words, each given with its sounds for the case that the dictionary lacks it."""
        if self._aligner is None:
            self._aligner = _new_decoder()
        for word, sounds in dict(words).items():
            if self._aligner.lookup_word(word) is None:
                self._aligner.add_word(word, sounds, update=True)
        self._aligner.set_align_text(" ".join(word for word, _ in words))
        pcm = _audible(pcm)
        self._warm_up(self._aligner, pcm)
        self._aligner.start_utt()
        self._aligner.process_raw(pcm, full_utt=True)
        self._aligner.end_utt()
        return list(_words_of(self._aligner))


def _new_decoder() -> Any:
    import pocketsphinx

    return pocketsphinx.Decoder(loglevel="FATAL", maxhmmpf=STATES, fwdflat=False)


def _audible(pcm: bytes) -> bytes:
    one = Utterance()
    one.noise = np.random.default_rng(0) if _has_digital_silence(pcm) else None
    return one.noisy(pcm)


def _has_digital_silence(pcm: bytes) -> bool:
    samples = np.abs(np.frombuffer(pcm, "<i2").astype(np.int32))
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    return bool(len(frames)) and bool((frames.max(axis=1) <= SILENT_PEAK).any())


class Desk:
    """Takes requests and decides which utterance is decoded next."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._recogniser = Recogniser()
        self._streams: dict[str, Utterance] = {}
        self._batches: list[Utterance] = []

    def take(self, number: int | None, kind: str, *rest: Any) -> None:
        """One request; what can be answered at once is."""
        getattr(self, f"_{kind}")(number, *rest)

    def _feed(self, _number: None, key: str, *piece: Any) -> None:
        number, pcm = piece
        if key not in self._streams:
            self._forget_old()
            self._streams[key] = Utterance(number)
        self._streams[key].add(number, pcm)

    def _drop(self, _number: None, key: str) -> None:
        if utterance := self._streams.pop(key, None):
            self._recogniser.give_back(utterance)

    def _finish(self, number: int, key: str, *pieces: int) -> None:
        utterance = self._streams.get(key)
        if utterance is None or not utterance.complete(*pieces):
            self._drop(None, key)
            self._connection.send((number, None, None))
            return
        utterance.asked_by = number

    def _peek(self, number: int, key: str, last: int) -> None:
        """The words up to piece ``last`` without ending the utterance; None where these pieces are not here."""
        utterance = self._streams.get(key)
        if utterance is None or utterance.broken or utterance.next <= last or utterance.is_waited_for:
            self._connection.send((number, None, None))
        elif utterance.decoder is None and len(utterance.pending) < WARM_UP:  # too little to begin: a copy is decoded
            self._batch(number, bytes(utterance.pending))
        else:
            utterance.peeked_by = number

    def _batch(self, number: int, pcm: bytes) -> None:
        utterance = Utterance()
        utterance.add(0, pcm)
        utterance.asked_by = number
        self._batches.append(utterance)

    def _align(self, number: int, words: list[tuple[str, str]], pcm: bytes) -> None:
        try:
            self._connection.send((number, None, self._recogniser.align(words, pcm)))
        except RuntimeError:
            self._connection.send((number, "the text cannot be aligned with the audio", None))

    def _choose(self, number: int, among: Any, *asked: Any) -> None:
        pcm, heard = asked
        self._connection.send((number, None, self._recogniser.chooser.choose(among, _audible(pcm), heard)))

    def _forget_old(self) -> None:
        now = time.monotonic()
        for key, utterance in list(self._streams.items()):
            if now - utterance.touched > FORGET_SECONDS and utterance.asked_by is None:
                self._drop(None, key)

    def step(self) -> bool:
        """Decode one block of the most urgent utterance; False if there is nothing to do."""
        everyone = [*self._batches, *self._streams.values()]
        waiting = [one for one in everyone if one.has_work]
        waiting.sort(key=lambda one: (not one.is_waited_for, len(one.pending)))
        for utterance in waiting:
            if utterance.decoder is None and not self._recogniser.lend(utterance, everyone):
                continue
            self._work(utterance)
            return True
        return False

    @property
    def patience(self) -> float | None:
        """Seconds until ``step`` is worth another try without a new request; None: only a request changes anything."""
        everyone = [*self._batches, *self._streams.values()]
        return LOOK_AGAIN if any(one.is_waited_for and one.has_work for one in everyone) else None

    def _work(self, utterance: Utterance) -> None:
        if block := utterance.take_block():
            utterance.decoder.process_raw(block)
            self._report(utterance)
        if utterance.pending:
            return
        if utterance.peeked_by is not None:
            self._connection.send((utterance.peeked_by, None, list(_words_of(utterance.decoder))))
            utterance.peeked_by = None
        if utterance.asked_by is not None:
            self._connection.send((utterance.asked_by, None, self._recogniser.result(utterance)))
            self._batches = [one for one in self._batches if one is not utterance]
            self._streams = {key: one for key, one in self._streams.items() if one is not utterance}

    def _report(self, utterance: Utterance) -> None:
        """Tell how far it is understood, for whoever shows words while they are spoken."""
        key = next((key for key, one in self._streams.items() if one is utterance), None)
        heard = utterance.decoder.hyp()
        if key is None or heard is None or utterance.asked_by is not None:
            return
        text = " ".join(re.sub(r"\(\d+\)$", "", word) for word in heard.hypstr.split() if word[0] not in "<[+")
        if text and text != utterance.told:
            utterance.told = text
            self._connection.send((None, None, (key, text)))


def _read(connection: Connection, inbox: "queue.SimpleQueue[tuple[Any, ...] | None]") -> None:
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):
        inbox.put(None)


def _end_with_parent() -> None:
    with contextlib.suppress(OSError, AttributeError):  # no Linux: the closed socket ends us
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Serve until the parent closes the socket."""
    _end_with_parent()
    connection = Connection(int(sys.argv[1]))
    inbox: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, inbox), daemon=True).start()
    desk = Desk(connection)
    busy = False
    while True:
        try:
            message = inbox.get(block=not busy, timeout=None if busy else desk.patience)
        except queue.Empty:
            busy = desk.step()
            continue
        if message is None:
            return
        desk.take(*message)
        busy = True


if __name__ == "__main__":
    main()
