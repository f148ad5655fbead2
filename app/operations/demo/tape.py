"""A browser's recorder in a few lines: one clock, the mixed track as WebM pieces, the candidate's own voice as samples.

Time passes only when something is played, so an interview takes as long as the machines need and no longer.
"""

from fractions import Fraction

import av
import numpy as np
from numpy.typing import NDArray

VOICE_RATE = 16_000
MIX_RATE = 48_000
CHUNK_SAMPLES = 8_000
CHUNK_SECONDS = 0.5
FRAME = 960
PICTURES_PER_SECOND = 5
WIDTH, HEIGHT = 160, 120
ROOM_NOISE = 12.0

Samples = NDArray[np.int16]


class _Sink:
    """Takes the muxer's bytes as they come and cannot seek, like a recorder that streams."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def write(self, piece: bytes) -> int:
        self._bytes += piece
        return len(piece)

    def drain(self) -> bytes:
        """The bytes since the last call, which are then gone."""
        piece = bytes(self._bytes)
        self._bytes.clear()
        return piece


class Tape:
    """One run of the recorder."""

    def __init__(self, *, video: bool) -> None:
        self.mime_type = "video/webm;codecs=vp8,opus" if video else "audio/webm;codecs=opus"
        self._sink = _Sink()
        options = {"live": "1", "cluster_time_limit": "1000", "flush_packets": "1"}
        self._file = av.open(self._sink, "w", format="webm", options=options)
        self._sound = self._file.add_stream("libopus", rate=MIX_RATE, layout="mono")
        self._picture = self._add_picture() if video else None
        self._noise = np.random.default_rng(11)
        self._mixed: Samples = np.zeros(0, np.int16)
        self._voice: Samples = np.zeros(0, np.int16)
        self._frames = 0
        self._pictures = 0

    def _add_picture(self) -> av.VideoStream:
        stream = self._file.add_stream(
            "libvpx", rate=PICTURES_PER_SECOND, options={"deadline": "realtime", "cpu-used": "8"}
        )
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.bit_rate, stream.thread_count = 150_000, 1  # threads wait for each other at this size
        return stream

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return len(self._voice) / VOICE_RATE

    def pause(self, seconds: float) -> None:
        """Record silence."""
        self._roll(np.zeros(round(seconds * VOICE_RATE), np.int16), is_candidate=False)

    def play(self, pcm: bytes, rate: int) -> None:
        """Record the agent; the candidate's microphone picks up the room only."""
        self._roll(_resampled(np.frombuffer(pcm, "<i2"), rate), is_candidate=False)

    def speak(self, pcm: bytes) -> None:
        """Record the candidate: s16le, mono, 16 kHz."""
        self._roll(np.frombuffer(pcm, "<i2"), is_candidate=True)

    def _roll(self, samples: Samples, *, is_candidate: bool) -> None:
        room = self._noise.normal(0, ROOM_NOISE, len(samples))
        own = samples + room if is_candidate else room
        self._voice = np.concatenate([self._voice, _clipped(own)])
        self._mixed = np.concatenate([self._mixed, _clipped(samples + room)])

    def voice_chunk(self, number: int) -> bytes:
        """Half a second of the candidate's own track; the last one is padded with silence."""
        piece = self._voice[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES]
        return bytes(np.pad(piece, (0, CHUNK_SAMPLES - len(piece))).astype("<i2").tobytes())

    def mixed_so_far(self) -> bytes:
        """New bytes of the mixed track for its next chunk; empty if there are none."""
        self._encode(final=False)
        return self._sink.drain()

    def stop(self) -> bytes:
        """End the run: the last bytes of the mixed track."""
        self._encode(final=True)
        self._file.mux(self._sound.encode(None))
        if self._picture is not None:
            self._file.mux(self._picture.encode(None))
        self._file.close()
        return self._sink.drain()

    def _encode(self, *, final: bool) -> None:
        upsampled = VOICE_RATE * FRAME // MIX_RATE
        while (self._frames + 1) * upsampled <= len(self._mixed) or (
            final and self._frames * upsampled < len(self._mixed)
        ):
            piece = self._mixed[self._frames * upsampled : (self._frames + 1) * upsampled]
            piece = np.pad(piece, (0, upsampled - len(piece)))
            self._mux_sound(np.repeat(piece, MIX_RATE // VOICE_RATE))
            if self._picture is not None:
                self._mux_pictures(self._picture, until=self._frames * FRAME / MIX_RATE)

    def _mux_sound(self, samples: Samples) -> None:
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = MIX_RATE, self._frames * FRAME, Fraction(1, MIX_RATE)
        self._frames += 1
        self._file.mux(self._sound.encode(frame))

    def _mux_pictures(self, stream: av.VideoStream, *, until: float) -> None:
        while self._pictures / PICTURES_PER_SECOND <= until:
            shade = np.full((HEIGHT, WIDTH, 3), 40 + self._pictures % 160, np.uint8)
            frame = av.VideoFrame.from_ndarray(shade, format="rgb24")
            frame.pts, frame.time_base = self._pictures, Fraction(1, PICTURES_PER_SECOND)
            self._pictures += 1
            self._file.mux(stream.encode(frame))


def _clipped(samples: NDArray[np.float64]) -> Samples:
    return np.clip(samples, -32_768, 32_767).astype(np.int16)


def _resampled(samples: Samples, rate: int) -> Samples:
    positions = np.arange(0, len(samples), rate / VOICE_RATE)
    return _clipped(np.interp(positions, np.arange(len(samples)), samples.astype(np.float64)))
