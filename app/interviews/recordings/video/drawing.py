"""Computes a waveform: the loudness of a published recording as a number of bars."""

from typing import Any

import numpy as np

from app.interviews.recordings.video.sound import Ear, Samples
from app.interviews.recordings.video.tracks import opened

_RATE = 8_000


class Bars:
    """Takes samples in order and keeps the loudest of each section."""

    def __init__(self, count: int, seconds: float) -> None:
        self._loudest = np.zeros(count, np.float32)
        self._length = max(1.0, seconds * _RATE)
        self._at = 0

    def take(self, samples: Samples) -> None:
        """Add the next samples; samples beyond the expected end count for the last bar."""
        places = (np.arange(self._at, self._at + len(samples)) * (len(self._loudest) / self._length)).astype(np.int64)
        np.maximum.at(self._loudest, places.clip(max=len(self._loudest) - 1), np.abs(samples))
        self._at += len(samples)

    def heights(self) -> list[int]:
        """0 to 255, scaled so that the loudest bar is 255 in quiet recordings as well."""
        most = float(self._loudest.max())
        return [round(float(one) / most * 255) for one in self._loudest] if most > 0 else [0] * len(self._loudest)


def peaks(order: dict[str, Any]) -> dict[str, Any]:
    """The bars of a file; none without sound."""
    bars = Bars(int(order["count"]), float(order["seconds"]))
    with opened(order["runs"][0], limits=order["limits"]) as tracks:
        if tracks is None or tracks.audio is None:
            return {"peaks": []}
        ear = Ear(tracks.audio, rate=_RATE)
        for packet, _time in tracks.packets():
            if packet.stream.index == tracks.audio.index:
                for samples in ear.hear(packet, tracks.origin):
                    bars.take(samples)
        for samples in ear.rest():
            bars.take(samples)
    return {"peaks": bars.heights()}
