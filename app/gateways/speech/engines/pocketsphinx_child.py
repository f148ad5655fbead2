"""The recognition process: pocketsphinx holds the interpreter's lock, so it never runs beside a web thread.

Started by path with a socket's number; imports nothing of Parley. Several utterances are decoded in turns, block by
block: those that someone waits for first. Requests: batch, feed, peek, finish, drop, align, choose.
"""

import contextlib
import queue
import re
import runpy
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from app.gateways.speech.engines.child_process import connected, requests_of
    from app.gateways.speech.engines.pocketsphinx_choice import Chooser
    from app.gateways.speech.engines.pocketsphinx_choice import words_of as _words_of
    from app.gateways.speech.engines.pocketsphinx_utterance import (
        WARM_UP,
        Attempt,
        Utterance,
        has_digital_silence,
        new_decoder,
        warm_up,
    )
    from app.gateways.speech.engines.whisper_process.detector import Detector
else:

    def _beside(name: str) -> Any:
        return runpy.run_path(str(Path(__file__).parent / f"{name}.py")).__getitem__

    connected, requests_of = map(_beside("child_process"), ("connected", "requests_of"))
    Chooser, _words_of = map(_beside("pocketsphinx_choice"), ("Chooser", "words_of"))
    WARM_UP, Attempt, Utterance = map(_beside("pocketsphinx_utterance"), ("WARM_UP", "Attempt", "Utterance"))
    has_digital_silence, new_decoder, warm_up = map(
        _beside("pocketsphinx_utterance"), ("has_digital_silence", "new_decoder", "warm_up")
    )
    Detector = _beside("whisper_process/detector")("Detector")

DECODERS = 4
IDLE_SECONDS = 10.0
LOOK_AGAIN = 0.5
"""Seconds until someone who waits for a decoder looks again whether one has been left."""
FORGET_SECONDS = 900.0

Found = tuple[str, float, float, float]
Result = tuple[float | None, list[Found]]
"""Seconds of speech, where they were measured, and the words."""


class Recogniser:
    """Decoders, shared by all utterances of this process."""

    def __init__(self) -> None:
        self._free: list[Any] = [new_decoder()]
        self._made = 1
        self._aligner: Any = None
        self.chooser = Chooser()

    def lend(self, utterance: Utterance, others: list[Utterance]) -> bool:
        """Give the utterance a decoder, if need be that of one which no one feeds any more."""
        if not self._free and self._made < DECODERS:
            self._free.append(new_decoder())
            self._made += 1
        if not self._free and (utterance.is_waited_for or not isinstance(utterance, Attempt)):
            self._reclaim(others)
        if not self._free:
            return False
        utterance.decoder = self._free.pop()
        self._start(utterance)
        return True

    def _reclaim(self, others: list[Utterance]) -> None:
        idle = [one for one in others if one.decoder is not None and one.asked_by is None]
        attempts = [one for one in idle if isinstance(one, Attempt) and not one.is_waited_for]
        stalest = min(attempts or idle, key=lambda one: one.touched, default=None)
        if stalest is not None and (attempts or time.monotonic() - stalest.touched > IDLE_SECONDS):
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
        if has_digital_silence(head):
            utterance.noise = np.random.default_rng(0)
        warm_up(decoder, utterance.noisy(head))
        decoder.start_utt()

    def result(self, utterance: Utterance) -> Result:
        """What was found, once everything is decoded."""
        decoder, utterance.decoder = utterance.decoder, None
        decoder.end_utt()
        words = [word for word in _words_of(decoder) if utterance.ends is None or word[1] < utterance.ends]
        self._free.append(decoder)
        return None if utterance.detector is None else utterance.spoken, words

    def align(self, words: list[tuple[str, str]], pcm: bytes) -> list[Found]:
        """Times of known words, each given with its sounds for the case that the dictionary lacks it."""
        if self._aligner is None:
            self._aligner = new_decoder()
        for word, sounds in dict(words).items():
            if self._aligner.lookup_word(word) is None:
                self._aligner.add_word(word, sounds, update=True)
        self._aligner.set_align_text(" ".join(word for word, _ in words))
        pcm = _audible(pcm)
        warm_up(self._aligner, pcm)
        self._aligner.start_utt()
        self._aligner.process_raw(pcm, full_utt=True)
        self._aligner.end_utt()
        return list(_words_of(self._aligner))


def _audible(pcm: bytes) -> bytes:
    one = Utterance()
    one.noise = np.random.default_rng(0) if has_digital_silence(pcm) else None
    return one.noisy(pcm)


def _urgency(one: Utterance, waiting: list[Utterance]) -> tuple[bool, bool, int]:
    """First what someone waits for, then answers before attempts at other answers, then what is soon done."""
    yields = isinstance(one, Attempt) and any(
        other is not one.whole and not isinstance(other, Attempt) for other in waiting
    )
    return not one.is_waited_for, yields, len(one.pending)


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
            self._streams[key] = Utterance(number, Detector())
        utterance = self._streams[key]
        utterance.add(number, pcm)
        if utterance.decoder is None and len(utterance.pending) < WARM_UP:
            self._attempt(utterance)

    def _attempt(self, utterance: Utterance) -> Attempt:
        if utterance.attempt is None or utterance.attempt.broken:
            utterance.attempt = Attempt(utterance)
        return utterance.attempt

    def _drop(self, _number: None, key: str) -> None:
        if utterance := self._streams.pop(key, None):
            self._recogniser.give_back(utterance)
            self._give_up_attempt(utterance)

    def _give_up_attempt(self, utterance: Utterance) -> None:
        attempt, utterance.attempt = utterance.attempt, None
        if attempt is not None:
            self._give_up(attempt)

    def _give_up(self, utterance: Utterance) -> None:
        self._recogniser.give_back(utterance)
        if utterance.peeked_by is not None:
            self._connection.send((utterance.peeked_by, None, None))

    def _finish(self, number: int, key: str, *pieces: int) -> None:
        utterance = self._streams.get(key)
        if utterance is None or not utterance.complete(*pieces):
            self._drop(None, key)
            self._connection.send((number, None, None))
            return
        attempt, whole = utterance.attempt, utterance
        if attempt is None or not attempt.is_ahead:
            self._give_up_attempt(utterance)
        else:
            self._give_up(utterance)
            attempt.spoken = utterance.spoken
            self._streams[key] = utterance = attempt
        utterance.asked_by = number
        if whole.begun:
            utterance.ends = whole.whole_seconds
        else:
            utterance.leave_out_silence(whole)

    def _peek(self, number: int, key: str, *asked: Any) -> None:
        """The words up to piece ``last``, or to what has ``begun`` of it, without ending the utterance.

        None where these pieces are not here.
        """
        last, begun = asked
        utterance = self._streams.get(key)
        if utterance is not None and begun and utterance.asked_by is None:
            utterance.begin(last, begun)
        if utterance is None or utterance.broken or not utterance.has(last) or utterance.asked_by is not None:
            self._connection.send((number, None, None))
            return
        if utterance.decoder is None and len(utterance.pending) < WARM_UP:
            utterance = self._attempt(utterance)
        elif utterance.attempt is not None and utterance.attempt.is_ahead:
            utterance = utterance.attempt
        if utterance.peeked_by is not None:  # no one waits for the older question any more
            self._connection.send((utterance.peeked_by, None, None))
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

    def _choose(self, number: int, among: Any, *sound_and_words: Any) -> None:
        pcm, heard = sound_and_words
        self._connection.send((number, None, self._recogniser.chooser.choose(among, _audible(pcm), heard)))

    def _forget_old(self) -> None:
        now = time.monotonic()
        for key, utterance in list(self._streams.items()):
            if now - utterance.touched > FORGET_SECONDS and utterance.asked_by is None:
                self._drop(None, key)

    def step(self) -> bool:
        """Decode one block of the most urgent utterance; False if there is nothing to do."""
        everyone = self._everyone()
        waiting = [one for one in everyone if one.has_work]
        waiting.sort(key=lambda one: _urgency(one, waiting))
        for utterance in waiting:
            if utterance.decoder is None and not self._recogniser.lend(utterance, everyone):
                continue
            self._work(utterance)
            if utterance.has_caught_up:
                self._give_up_attempt(utterance)
            return True
        return False

    @property
    def patience(self) -> float | None:
        """Seconds until ``step`` is worth another try without a new request; None: only a request changes anything."""
        return LOOK_AGAIN if any(one.is_waited_for and one.has_work for one in self._everyone()) else None

    def _everyone(self) -> list[Utterance]:
        attempts = [one.attempt for one in self._streams.values() if one.attempt is not None]
        return [*self._batches, *self._streams.values(), *attempts]

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
        """Tell how far it is understood, for pages that show words while they are spoken."""
        key = next((key for key, one in self._streams.items() if utterance in {one, one.attempt}), None)
        heard = utterance.decoder.hyp()
        if key is None or heard is None or utterance.asked_by is not None:
            return
        text = " ".join(re.sub(r"\(\d+\)$", "", word) for word in heard.hypstr.split() if word[0] not in "<[+")
        if text and text != utterance.reported:
            utterance.reported = text
            self._connection.send((None, None, (key, text)))


def main() -> None:
    """Serve until the parent closes the socket; what it does not wait for any more is no one's."""
    connection = connected()
    inbox = requests_of(connection)
    desk, busy = Desk(connection), False
    with contextlib.suppress(ConnectionError):
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
