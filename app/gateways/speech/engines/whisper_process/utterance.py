"""An answer while it is recognised: what has arrived, what is understood of it, who waits for it."""

import time
from collections.abc import Callable, Generator
from typing import cast

import numpy as np

from .detector import RATE, Detector, Samples
from .guards import is_made_up, is_repeating, is_too_quick, without_repeats
from .model import Beams, Model, Reading, Stages
from .windows import FINAL, LIVE, LONG_PAUSE, OVERLAP, PAUSE, Resume, Window, next_window
from .words import Word, clamped, spliced, text_of

SAMPLE_BYTES = 2
LEAST_SPEECH = 0.25
"""Seconds of speech without which there is no answer."""
LISTEN = 10 * RATE
"""Samples for the detector in one go, so that others get their turn."""
QUIET = RATE // 16
"""Samples whose loudness is looked at together in the search for a place to cut."""
FADING = 0.1
"""Seconds that the detector goes on hearing a voice after its last word."""
SURE_ENOUGH = -0.7
"""Mean logarithm of the chance below which a window is read again, more carefully."""
LIVE_BEAMS, MORE_BEAMS = Beams(3, 2), Beams(5, 5)
"""While someone speaks, and for whole answers. On 40 sentences in noise one beam had 39 wrong words, three and five had
23. Without waiting for the third of three, 200 answers had as many wrong words as with it (138 of 3,302)."""

Heard = dict[str, object]
GetModel = Callable[[], Model]


class Utterance:
    """One answer, fed in pieces that may come twice or in another order, or given whole."""

    def __init__(self, model_dir: str = "", language: str = "", *, final: bool = False) -> None:
        self.model_dir, self.language = model_dir, language
        self.final = final
        self.first: int | None = None
        self.next = 0
        self._ahead: dict[int, bytes] = {}
        self._ends: list[int] = []  # of each piece, in samples
        self._begun = 0  # bytes of the piece `next` that are here before it is whole
        self._sound = bytearray()
        self._dropped = 0  # samples that are recognised and forgotten
        self._listened = 0  # samples that the detector has
        self._detector = Detector()
        self._resume = Resume()
        self._words: list[Word] = []
        self._speech = 0.0
        self._attempt: tuple[Window, list[Word]] | None = None
        self.touched = time.monotonic()
        self.broken = False
        self.ended = False
        self.asked_by: int | None = None
        self.peeked_by: int | None = None
        self.shown = ""
        self.early: tuple[int, str] | None = None  # who peeks, and the text before its words have places

    def add(self, number: int, pcm: bytes) -> None:
        """Take a piece; those that come early wait for the ones before them, repeated ones are ignored."""
        self.touched = time.monotonic()
        if self.first is None:
            self.first = self.next = number
        if number < self.first:
            self.broken = True
        if number >= self.next:
            self._ahead.setdefault(number, pcm)
        while (piece := self._ahead.pop(self.next, None)) is not None:
            self._sound += piece[self._begun :]
            self._begun = 0
            self._ends.append(self._arrived)
            self.next += 1

    def begin(self, number: int, pcm: bytes) -> None:
        """Take the beginning of a piece that is not whole yet, if it is the next one and those before it are here."""
        self.touched = time.monotonic()
        if self.first is not None and number == self.next:
            self._sound += pcm[self._begun :]
            self._begun = max(self._begun, len(pcm))

    def has(self, number: int) -> bool:
        """Whether this piece is here, or its beginning."""
        return self.next > number or (self.next == number and self._begun > 0)

    def complete(self, first: int, last: int) -> bool:
        """Whether these pieces are here and nothing is said after them: silence may have arrived by now."""
        if self.broken or self._ahead or self.first != first or self.next <= last:
            return False
        if self.next == last + 1 and not self._begun:
            return True
        self._catch_up()
        return not self._detector.spans(self._ends[last - first] / RATE)

    @property
    def is_waited_for(self) -> bool:
        """Whether someone wants its words now."""
        return self.asked_by is not None or self.peeked_by is not None

    def work(self, get_model: GetModel) -> Generator[None, None, bool]:
        """Listen and recognise what can be now, in stages; returns whether words came of it. Raises model.Refused."""
        while self._listened < self._arrived:
            self._listen()
            yield
        window = self._window()
        if window is None:
            self._forget_silence()
            return False
        if self._attempt is not None and _is_the_same(window, self._attempt[0]):
            words = self._attempt[1]  # only the silence after it has grown
        else:
            words = yield from self._read(get_model(), window)
        if window.closed or self.ended:
            self._keep(window, words)
        else:
            self._attempt = window, words
        return True

    @property
    def size(self) -> int:
        """Bytes of sound in memory."""
        return len(self._sound)

    @property
    def text(self) -> str:
        """All that is understood by now."""
        return text_of(self._all_words())

    def heard(self) -> Heard:
        """The answer: text, words with their times, how sure, and seconds of speech."""
        words = [word for word in self._all_words() if word.plain]
        sure = round(sum(word.sure for word in words) / len(words), 3) if words else None
        return {
            "text": self.text,
            "words": [(word.text.strip(), round(word.start, 3), round(word.end, 3), word.sure) for word in words],
            "confidence": sure,
            "seconds": round(self._speech, 3),
        }

    def end(self) -> None:
        """No more will come."""
        self._catch_up()
        self._detector.end()
        self.ended = True
        window = self._window()
        if self._attempt is not None and window is not None and _is_the_same(window, self._attempt[0]):
            self._keep(window, self._attempt[1])

    @property
    def _code(self) -> str:
        """The language as the model calls it."""
        return self.language.split("-", maxsplit=1)[0]

    @property
    def _arrived(self) -> int:
        return self._dropped + len(self._sound) // SAMPLE_BYTES

    def _catch_up(self) -> None:
        while self._listened < self._arrived:
            self._listen()

    def _listen(self) -> None:
        until = min(self._listened + LISTEN, self._arrived)
        self._detector.listen(self._samples(self._listened, until))
        self._listened = until

    def _samples(self, start: int, end: int) -> Samples:
        first, last = (SAMPLE_BYTES * (max(place, self._dropped) - self._dropped) for place in (start, end))
        return np.frombuffer(bytes(self._sound[first:last]), "<i2").astype(np.float32) / np.float32(32_768)

    def _window(self) -> Window | None:
        """The next stretch that is worth recognising."""
        spans = self._detector.spans(self._resume.seconds)
        if not self._words and sum(span.end - span.start for span in spans) < LEAST_SPEECH:
            return None
        window = next_window(
            spans,
            self._detector.seconds,
            resume=self._resume,
            limits=FINAL if self.final else LIVE,
            ended=self.ended or self.peeked_by is not None,
            quietest=self._quietest,
        )
        if window is None or window.closed or self._attempt is None or self.ended:
            return window
        return None if _is_the_same(window, self._attempt[0]) else window

    def _quietest(self, start: float, end: float) -> float:
        samples = self._samples(round(start * RATE), round(end * RATE))
        loudness = np.square(samples[: len(samples) // QUIET * QUIET]).reshape(-1, QUIET).sum(axis=1)
        return start + (int(loudness.argmin()) + 0.5) * QUIET / RATE

    def _read(self, model: Model, window: Window) -> Generator[None, None, list[Word]]:
        samples = self._samples(round(window.start * RATE), round(window.end * RATE))
        seconds, code = _seconds(window), self._code
        reading = yield from self._reading(window, model.read(samples, code, MORE_BEAMS if self.final else LIVE_BEAMS))
        if _is_doubtful(reading, seconds, code):
            again = yield from self._reading(None, model.read(samples, code, MORE_BEAMS, varied=True))
            reading = max(reading, again, key=lambda one: one.sure)
        words = _said(reading, seconds, code)
        if not words:
            return []
        moved = [word._replace(start=word.start + window.start, end=word.end + window.start) for word in words]
        return clamped(moved, window.speech)

    def _reading(self, window: Window | None, stages: Stages) -> Generator[None, None, Reading]:
        """What the stages read. A peek made before them gets the words of an open `window` before these have places."""
        peeked_by = None if window is None or window.closed or self._resume.cut else self.peeked_by
        while True:
            try:
                early = next(stages)
            except StopIteration as done:
                return cast("Reading", done.value)
            if window is not None and early is not None and peeked_by is not None:
                self._note_early(peeked_by, early, _seconds(window))
            yield

    def _note_early(self, peeked_by: int, reading: Reading, seconds: float) -> None:
        if not _is_doubtful(reading, seconds, self._code) and (words := _said(reading, seconds, self._code)):
            self.early = peeked_by, text_of(self._joined(words))

    def _keep(self, window: Window, words: list[Word]) -> None:
        self._words = self._joined(words)
        self._speech += sum(span.end - max(span.start, self._resume.seconds) for span in window.speech)
        self._resume, self._attempt = window.resume, None
        self._forget(window.resume.seconds - OVERLAP - PAUSE)

    def _forget_silence(self) -> None:
        """Someone who thinks for minutes costs no memory."""
        quiet = self._detector.seconds - LONG_PAUSE
        if quiet > self._resume.seconds and not self._resume.cut and not self._detector.has_sound(self._resume.seconds):
            self._resume = Resume(quiet)
            self._forget(quiet)

    def _forget(self, until: float) -> None:
        samples = max(0, round(until * RATE) - self._dropped)
        del self._sound[: samples * SAMPLE_BYTES]
        self._dropped += samples

    def _joined(self, words: list[Word]) -> list[Word]:
        if self._resume.cut:
            return spliced(self._words, words, self._resume.seconds)
        return [*self._words, *words]

    def _all_words(self) -> list[Word]:
        return self._joined(self._attempt[1]) if self._attempt is not None else self._words


def _is_the_same(window: Window, attempt: Window) -> bool:
    """Whether nothing has been said since the attempt; the detector is slow to hear that a voice has ended."""
    return window.start == attempt.start and window.speech[-1].end - attempt.speech[-1].end <= FADING


def _seconds(window: Window) -> float:
    return sum(span.end - span.start for span in window.speech)


def _said(reading: Reading, seconds: float, language: str) -> list[Word]:
    """The words without what the model repeats or makes up."""
    words = without_repeats(reading.words)
    looped = len(words) < len(reading.words)
    if not words or is_too_quick(words, seconds, language):
        return []
    if is_made_up(words, no_speech=reading.no_speech, sure=reading.sure, language=language, looped=looped):
        return []
    return words


def _is_doubtful(reading: Reading, seconds: float, language: str) -> bool:
    text = text_of(reading.words)
    return bool(text) and (
        reading.sure < SURE_ENOUGH
        or is_repeating(text)
        or len(without_repeats(reading.words)) < len(reading.words)
        or is_too_quick(reading.words, seconds, language)
    )
