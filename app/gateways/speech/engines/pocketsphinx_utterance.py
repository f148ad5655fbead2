"""An answer while it is recognised: what has arrived, what is decoded, who waits for it.

A part of the recognition process (`pocketsphinx_child.py` loads it by path), so it imports nothing of Parley.
"""

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from app.gateways.speech.engines.whisper_process.detector import Detector

RATE, SAMPLE_BYTES = 16_000, 2
BLOCK = 8_000
"""Bytes decoded in one go (0.25 s): the longest that another utterance waits for its turn."""
WARM_UP = int(2.5 * RATE) * SAMPLE_BYTES
"""Cepstral means are estimated from this much audio before decoding starts: half as many wrong words."""
ATTEMPT = RATE * SAMPLE_BYTES
"""The same for the words of an answer that may end before that."""
NOISE = 100.0
"""Standard deviation, in 16-bit steps, of the floor that is added to sound with digital silence."""
SILENT_PEAK, FRAME = 2, 160
ENOUGH_SPEECH = 3.0
"""Seconds of speech after which the detector stops, since what is invented is short or alone."""
PAUSE = 5
"""Frames at the end of the beginning of a piece in which no one speaks: the page sends it after 0.13 s of silence, and
the end of a word may sound into these."""
AS_QUIET, LEAST_LOUD = 2.0, 10.0
"""Sound is silence up to this many times the loudest of these frames, and always up to this loudness (16 bits)."""
AFTERGLOW = 20
"""Frames after louder sound that are decoded with it, where that is not decoded yet."""
STATES = 10_000
"""Searched per frame at most. 5,000 and a second pass at the end gave the same words for the same work, but candidates
waited for that pass: a quarter of a second after six seconds of speech, more after longer answers."""
NO_SEARCH = "for one word, which costs next to nothing"


class Utterance:
    """One answer: what has arrived, what is decoded and who waits for it.

    A ``detector`` listens to each piece as it arrives, so that the end of the answer need not wait for it.
    """

    def __init__(self, first: int = 0, detector: "Detector | None" = None) -> None:
        self.first = first
        self.next = first
        self.ahead: dict[int, bytes] = {}
        self.begun = 0
        """Bytes of the piece ``next`` that are here before it is whole."""
        self.pending = bytearray()
        self.quiet = 0.0
        """Loudness of the room in the newest pause that a ``begin`` told of."""
        self.rest = 0
        """Bytes of the newest piece that came after its beginning; 0 if it came whole."""
        self._whole_bytes = 0
        self.touched = time.monotonic()
        self.decoder: Any = None
        self.broken = False
        self.asked_by: int | None = None
        self.reported = ""
        self.peeked_by: int | None = None
        self.noise: np.random.Generator | None = None
        self.attempt: Attempt | None = None
        self.detector = detector
        self.ends: float | None = None
        """Seconds after which its words belong to the next answer."""
        self.spoken = 0.0
        """Seconds of speech that the detector found, and all that came after `ENOUGH_SPEECH` of them."""

    def add(self, number: int, pcm: bytes) -> None:
        """Take a piece; those that come early wait for the ones before them, repeated ones are ignored."""
        self.touched = time.monotonic()
        if number < self.first:
            self.broken = True
        if number >= self.next:
            self.ahead.setdefault(number, pcm)
        while (piece := self.ahead.pop(self.next, None)) is not None:
            self._append(piece[self.begun :])
            self.rest = len(piece) - self.begun if self.begun else 0
            self._whole_bytes += len(piece)
            self.begun = 0
            self.next += 1

    def begin(self, number: int, pcm: bytes) -> None:
        """Take the beginning of a piece that is not whole yet, if it is the next one."""
        self.touched = time.monotonic()
        if number == self.next:
            self._append(pcm[self.begun :])
            self.begun = max(self.begun, len(pcm))
            self.quiet = float(max(_loudness(pcm)[-PAUSE:], default=0.0))

    def _append(self, sound: bytes) -> None:
        self.pending += sound
        if self.attempt is not None:
            self.attempt.pending += sound
            self.attempt.touched = self.touched
        if self.detector is not None and sound:
            self._measure(self.detector, sound)

    def _measure(self, detector: "Detector", piece: bytes) -> None:
        if self.spoken < ENOUGH_SPEECH:
            detector.listen(np.frombuffer(piece, "<i2").astype(np.float32) / np.float32(32768))
            self.spoken = sum(span.end - span.start for span in detector.spans())
        else:
            self.spoken += len(piece) / (SAMPLE_BYTES * RATE)

    def has(self, number: int) -> bool:
        """Whether this piece is here, or its beginning."""
        return self.next > number or (self.next == number and self.begun > 0)

    def complete(self, first: int, last: int) -> bool:
        """Whether exactly these pieces are here, perhaps with the beginning of the next one."""
        return not self.broken and not self.ahead and self.first == first and self.next == last + 1

    @property
    def whole_seconds(self) -> float:
        """Of the pieces that are here whole."""
        return self._whole_bytes / (SAMPLE_BYTES * RATE)

    @property
    def has_work(self) -> bool:
        """Whether a block can be decoded or an answer be given now."""
        if self.broken:
            return False
        enough = BLOCK if self.decoder is not None else WARM_UP
        return self.is_waited_for or len(self.pending) >= enough

    @property
    def has_caught_up(self) -> bool:
        """Whether it is decoded as far as it has arrived."""
        return self.decoder is not None and len(self.pending) < BLOCK

    @property
    def is_waited_for(self) -> bool:
        """Whether someone wants its words now."""
        return self.asked_by is not None or self.peeked_by is not None

    def take_block(self) -> bytes:
        """The next samples to decode."""
        block = bytes(self.pending[:BLOCK])
        del self.pending[:BLOCK]
        return self.noisy(block)

    def leave_out_silence(self, whole: "Utterance") -> None:
        """Forget the end of what came after the beginning of ``whole``'s last piece, where it is as quiet as the pause.

        Else the candidate waits while silence is decoded.
        """
        begins = max(0, len(self.pending) - whole.rest)
        loud = np.flatnonzero(_loudness(bytes(self.pending[begins:])) > max(AS_QUIET * whole.quiet, LEAST_LOUD))
        kept = int(loud[-1]) + 1 + AFTERGLOW if len(loud) else 0
        del self.pending[begins + kept * FRAME * SAMPLE_BYTES :]

    def noisy(self, pcm: bytes) -> bytes:
        """Digital silence upsets the recogniser's normalisation: such audio gets a faint noise floor."""
        if self.noise is None or not pcm:
            return pcm
        samples = np.frombuffer(pcm, "<i2") + self.noise.normal(0, NOISE, len(pcm) // SAMPLE_BYTES)
        return bytes(np.clip(samples, -32768, 32767).astype("<i2").tobytes())


class Attempt(Utterance):
    """The beginning of an answer, decoded before there is enough of it for the cepstral means, where a decoder is free.

    If the answer ends soon, its words are here at once. If it goes on, it is decoded again from its beginning, and the
    attempt is kept until that has caught up: else an answer that ends then would wait for two seconds of sound.
    """

    def __init__(self, utterance: Utterance) -> None:
        super().__init__()
        self.pending += utterance.pending
        self.touched = utterance.touched
        self.detector = utterance.detector
        self.whole = utterance

    @property
    def is_ahead(self) -> bool:
        """Whether its words can be there sooner than those of the whole answer."""
        return self.decoder is not None and len(self.pending) < len(self.whole.pending)

    @property
    def has_work(self) -> bool:
        """From its first second on."""
        enough = BLOCK if self.decoder is not None else ATTEMPT
        return not self.broken and (self.is_waited_for or len(self.pending) >= enough)


def _loudness(pcm: bytes) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """Of each whole frame of 10 ms."""
    whole = len(pcm) // (FRAME * SAMPLE_BYTES) * FRAME
    samples = np.frombuffer(pcm, "<i2", whole).astype(np.float32).reshape(-1, FRAME)
    return np.asarray(np.sqrt((samples**2).mean(axis=1)))


def has_digital_silence(pcm: bytes) -> bool:
    """Whether 10 ms somewhere hold no sound at all, as no microphone gives them."""
    samples = np.abs(np.frombuffer(pcm, "<i2").astype(np.int32))
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    return bool(len(frames)) and bool((frames.max(axis=1) <= SILENT_PEAK).any())


def new_decoder() -> Any:
    """One that knows the words of the model."""
    import pocketsphinx

    decoder = pocketsphinx.Decoder(loglevel="FATAL", maxhmmpf=STATES, fwdflat=False)
    decoder.add_keyphrase(NO_SEARCH, "nothing")
    return decoder


def warm_up(decoder: Any, head: bytes) -> None:
    """Estimate the cepstral means of a voice and microphone from its first seconds; nothing of the one before remains.

    Neither its means nor what `remove_noise` learned of its room, which the start of an utterance keeps. The end of an
    utterance searches all that was not searched yet, so this one is given a search that costs nothing.
    """
    decoder.reinit_feat()
    if not head:
        return
    search = decoder.current_search()
    decoder.activate_search(NO_SEARCH)
    decoder.start_utt()
    decoder.process_raw(head, no_search=True)
    decoder.get_cmn(update=True)
    decoder.end_utt()
    decoder.activate_search(search)
