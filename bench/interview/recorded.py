"""One interview on record: its sound in stereo, and its log."""

import base64
import json
import math
import wave
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.interview.voices import Sound

COARSE = 8_000
"""Samples a second at which the sound of an answer is looked for in the recording."""


@dataclass
class Said:
    """Something said at ``begins`` (seconds since 1970), until ``cut`` if something ended it early."""

    kind: str
    sound: Sound
    begins: float
    rests: bool
    cut: float | None = None

    @property
    def ends(self) -> float:
        """When its last sound was over."""
        return self.begins + self.sound.seconds if self.cut is None else self.cut


@dataclass
class Recorded:
    """What the page hands over, piece by piece, and what was said. Times in seconds since 1970."""

    said: list[Said] = field(default_factory=list)
    began: float = 0.0
    """What lies before, the check of the microphone, is left out."""
    rate: int = 0
    _blocks: list[tuple[float, np.ndarray]] = field(default_factory=list)

    def take(self, _source: Any, given: dict[str, Any]) -> None:
        """A binding of the page: ``rate``, ``at`` and the samples of both sides, in blocks."""
        pcm = b"".join(base64.b64decode(block) for block in given["pcm"])
        self.rate = self.rate or round(given["rate"])
        self._blocks.append((given["at"], np.frombuffer(pcm, "<i2").reshape(-1, 2)))

    def sides(self) -> np.ndarray:
        """Both sides from the beginning on, silent where no page recorded: (samples, 2), 16 bits."""
        last = max(at + len(block) / self.rate for at, block in self._blocks)
        whole = np.zeros((round((last - self.began) * self.rate) + 1, 2), "<i2")
        for at, block in self._blocks:
            place = round((at - self.began) * self.rate)
            inside = block[max(0, -place) :][: len(whole) - max(0, place)]
            whole[max(0, place) : max(0, place) + len(inside)] = inside
        return whole

    def keep(self, path: Path, **log: Any) -> None:
        """Write the WAV file and the log beside it."""
        with wave.open(str(path), "wb") as file:
            file.setparams((2, 2, self.rate, 0, "NONE", ""))
            file.writeframes(self.sides().tobytes())
        told = {**log, "said": [self._told(one) for one in self.said if one.begins > self.began]}
        path.with_suffix(".json").write_text(json.dumps(told, indent=1), encoding="utf-8")

    def _told(self, one: Said) -> dict[str, Any]:
        start, end = one.begins - self.began, one.ends - self.began
        is_cut = one.cut is not None

        def placed(spans: Any) -> list[Any]:
            moved = [(*rest, begins + start, ends + start) for *rest, begins, ends in spans]
            return [[*rest, round(begins, 3), round(ends, 3)] for *rest, begins, ends in moved if ends <= end + 0.001]

        return {
            "kind": one.kind,
            "begins": round(start, 3),
            "ends": round(end, 3),
            "pauses": placed(one.sound.pauses),
            "words": placed(one.sound.words),
            "rests": one.rests and not is_cut,
            "cut": is_cut,
        }

    def between_reloads(self, number: int) -> tuple[float, float]:
        """Seconds into the recording between which the page ran for the ``number``-th time (from 1)."""
        cuts = [one.cut - self.began for one in self.said if one.cut is not None]
        return [0.0, *cuts][number - 1], [*cuts, math.inf][number - 1]

    def place_of(self, pcm: bytes, *, between: tuple[float, float] = (0.0, math.inf)) -> float:
        """Seconds into the recording at which this sound (16 kHz, 16 bit) of the candidate begins.

        ``between``: where it is looked for, in seconds, because the same words may be said again after a reload.
        """
        left = _at(self.sides()[:, 0].astype(float), self.rate)
        part = _at(np.frombuffer(pcm, "<i2").astype(float), 16_000)
        size = 1 << (len(left) + len(part)).bit_length()
        matched = np.fft.irfft(np.fft.rfft(left, size) * np.conj(np.fft.rfft(part, size)), size)
        first, last = (round(min(place * COARSE, len(left))) for place in between)
        return (first + int(np.argmax(matched[first:last]))) / COARSE


def _at(samples: np.ndarray, rate: int) -> np.ndarray:
    """The same at the coarse rate."""
    return np.interp(np.arange(0, len(samples), rate / COARSE), np.arange(len(samples)), samples)
