"""Sound on its own clock: gaps are filled with silence and overlaps cut, so that words stay where they were said.

Decoded samples drift when they are joined as they come, because browsers drop buffers; presentation times do not.
"""

from collections.abc import Iterator
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.error import FFmpegError

from app.interviews.recordings.video.tracks import Undecodable

Samples = npt.NDArray[np.float32]

RATE = 48_000
_TOLERANCE = 0.02
_FRAME = 1024
_BIT_RATE = 64_000


class Ear:
    """Decodes the sound of one run into a continuous stream of mono samples at ``rate``, from the run's zero on."""

    def __init__(self, stream: Any, *, rate: int = RATE) -> None:
        self._stream = stream
        self._rate = rate
        self._source: int | None = None
        self._flat: Any = None
        self._resampler: Any = None
        self._position = 0

    def hear(self, packet: Any, origin: float) -> Iterator[Samples]:
        """The packet's samples with the silence before it; nothing for a damaged packet."""
        try:
            frames = packet.decode()
        except FFmpegError:
            return
        for frame in frames:
            if frame.pts is not None:
                yield from self._fitted(frame, float(frame.pts * frame.time_base) - origin)

    def rest(self) -> Iterator[Samples]:
        """Flush the resampler."""
        if self._resampler is not None:
            for frame in self._resampler.resample(None):
                yield frame.to_ndarray()[0]

    def _fitted(self, frame: Any, at: float) -> Iterator[Samples]:
        self._prepare(frame)
        source = self._source or RATE
        samples = np.concatenate([part.to_ndarray()[0] for part in self._flat.resample(frame)])
        gap = round(at * source) - self._position
        if gap > (_TOLERANCE * source if self._position else 0):
            while gap > 0:
                silence = np.zeros(min(gap, source), np.float32)
                gap -= len(silence)
                yield from self._out(silence)
        elif gap < -_TOLERANCE * source:
            samples = samples[-gap:]
        if len(samples):
            yield from self._out(samples)

    def _out(self, samples: Samples) -> Iterator[Samples]:
        self._position += len(samples)
        if self._resampler is None:
            yield samples
            return
        frame = frame_of(samples, self._source or RATE)
        for resampled in self._resampler.resample(frame):
            yield resampled.to_ndarray()[0]

    def _prepare(self, frame: Any) -> None:
        if self._source is None:
            self._source = frame.sample_rate
            if not 8_000 <= frame.sample_rate <= 192_000:
                raise Undecodable("the sound has an unusable sample rate")
            self._flat = av.AudioResampler(format="fltp", layout="mono", rate=frame.sample_rate)
            if frame.sample_rate != self._rate:
                self._resampler = av.AudioResampler(format="fltp", layout="mono", rate=self._rate)
        elif frame.sample_rate != self._source:
            raise Undecodable("the sound changes its sample rate within one run")


class Voice:
    """Encodes mono samples as AAC into a container, on one clock for all runs."""

    def __init__(self, container: Any) -> None:
        self._container = container
        # The fast coder halves the time, and voices do not need the other tools.
        self._stream = container.add_stream(
            "aac", rate=RATE, layout="mono", options={"aac_coder": "fast", "aac_pns": "0", "aac_tns": "0"}
        )
        self._stream.bit_rate = _BIT_RATE
        self._waiting: list[Samples] = []
        self._have = 0
        self._written = 0

    @property
    def position(self) -> int:
        """Samples so far."""
        return self._written + self._have

    def say(self, samples: Samples) -> None:
        """Append samples."""
        self._waiting.append(samples)
        self._have += len(samples)
        if self._have >= 16 * _FRAME:
            self._encode(self._have - self._have % _FRAME)

    def pause_until(self, position: int) -> None:
        """Append silence up to ``position`` samples."""
        while (gap := position - self.position) > 0:
            self.say(np.zeros(min(gap, RATE), np.float32))

    def end(self) -> None:
        """Flush the encoder."""
        self._encode(self._have)
        self._container.mux(self._stream.encode(None))

    def _encode(self, amount: int) -> None:
        gathered = np.concatenate(self._waiting) if self._waiting else np.zeros(0, np.float32)
        for start in range(0, amount, _FRAME):
            frame = frame_of(gathered[start : min(start + _FRAME, amount)], RATE)
            frame.pts = self._written
            self._written += frame.samples
            self._container.mux(self._stream.encode(frame))
        self._waiting = [gathered[amount:]]
        self._have = len(gathered) - amount


def frame_of(samples: Samples, rate: int) -> Any:
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples)[None], format="fltp", layout="mono")
    frame.rate = rate
    return frame
