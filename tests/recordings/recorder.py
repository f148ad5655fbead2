"""Plays the browser's recorder: writes WebM and MP4 as MediaRecorder does, with known sounds at known times."""

import itertools
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

RATE = 48_000
FRAME = 960


def beep(length: float = 0.1, *, rate: int = RATE, pitch: float = 1000.0) -> np.ndarray:
    """A short tone."""
    return (0.5 * np.sin(2 * np.pi * pitch * np.arange(round(length * rate)) / rate)).astype(np.float32)


def sound(seconds: float, beeps: Iterable[float], *, seed: int = 1) -> np.ndarray:
    """Faint noise with beeps at the given seconds."""
    samples = (0.002 * np.random.default_rng(seed).standard_normal(round(seconds * RATE))).astype(np.float32)
    for at in beeps:
        start = round(at * RATE)
        samples[start : start + len(beep())] += beep()
    return samples


def speech(seconds: float, *, seed: int) -> np.ndarray:
    """Something like speech: noise in syllables, at 16 kHz, never twice the same."""
    rng = np.random.default_rng(seed)
    count = round(seconds * 16_000)
    voice = np.convolve(rng.standard_normal(count), np.ones(5) / 5, "same")
    syllables = np.repeat(rng.uniform(0, 1, count // 1600 + 1), 1600)[:count]
    return (0.2 * voice * syllables).astype(np.float32)


def up_to_48k(samples: np.ndarray) -> np.ndarray:
    """16 kHz to 48 kHz."""
    return np.interp(np.arange(len(samples) * 3) / 3, np.arange(len(samples)), samples).astype(np.float32)


def record(
    path: Path,
    samples: np.ndarray,
    *,
    gaps: dict[float, float] | None = None,
    video: str | None = None,
    seconds: float | None = None,
    size: tuple[int, int] = (160, 120),
    layout: str = "stereo",
    container: str = "webm",
    fragments: bool = False,
) -> Path:
    """A recording. ``gaps`` maps a second of the sound to how long the recorder then lost buffers: later times grow.

    ``video`` names an encoder (libvpx, libvpx-vp9, libx264); its pictures run at 30 per second for ``seconds``.
    ``fragments`` divides an MP4 into pieces of a second, as MediaRecorder does.
    """
    options = {"movflags": "empty_moov+default_base_moof", "frag_duration": "1000000"} if fragments else {}
    with av.open(str(path), "w", format=container, options=options) as out:
        ear = out.add_stream("libopus", rate=RATE, layout=layout)
        eye = _eye(out, video, size)
        pictures = _pictures(size, seconds or len(samples) / RATE) if eye is not None else []
        frames = sorted(itertools.chain(_frames(samples, gaps or {}, layout), pictures), key=lambda item: item[0])
        for _time, stream, frame in frames:
            for packet in (ear if stream == "ear" else eye).encode(frame):
                out.mux(packet)
        for stream in (ear, eye):
            if stream is not None:
                for packet in stream.encode(None):
                    out.mux(packet)
    return path


def _eye(out, video, size):
    if video is None:
        return None
    options = (
        {"preset": "ultrafast", "tune": "zerolatency"}
        if video == "libx264"
        else {"deadline": "realtime", "cpu-used": "8"}
    )
    eye = out.add_stream(video, rate=30, options=options)
    eye.width, eye.height = size
    eye.pix_fmt, eye.thread_count = "yuv420p", 1  # threads wait for each other at this size
    eye.codec_context.time_base = Fraction(1, 1000)
    return eye


def _frames(samples, gaps, layout):
    lost = 0.0
    for start in range(0, len(samples) - FRAME + 1, FRAME):
        at = start / RATE
        for second in [second for second in gaps if second <= at]:
            lost += gaps.pop(second)
        mono = samples[start : start + FRAME]
        planes = np.stack([mono] * (2 if layout == "stereo" else 1))
        frame = av.AudioFrame.from_ndarray(planes, format="fltp", layout=layout)
        frame.rate, frame.time_base = RATE, Fraction(1, RATE)
        frame.pts = round((at + lost) * RATE)
        yield at + lost, "ear", frame


def _pictures(size, seconds):
    for number in range(round(seconds * 30)):
        grey = np.full((size[1], size[0], 3), (number * 7) % 256, np.uint8)
        frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
        frame.pts, frame.time_base = round(number / 30 * 1000), Fraction(1, 1000)
        yield number / 30, "eye", frame


def decoded(path: Path) -> np.ndarray:
    """The sound of a file as a player hears it: mono, 48 kHz, from 0 on."""
    parts, rate = [], RATE
    with av.open(str(path)) as container:
        flat = av.AudioResampler(format="fltp", layout="mono", rate=rate)
        for frame in container.decode(audio=0):
            at = round(float(frame.pts * frame.time_base) * rate)
            parts.extend((at, part.to_ndarray()[0]) for part in flat.resample(frame))
    whole = np.zeros(max(at + len(part) for at, part in parts), np.float32)
    for at, part in parts:
        whole[max(0, at) : at + len(part)] = part[max(0, -at) :]
    return whole


def heard_at(samples: np.ndarray) -> list[float]:
    """Seconds at which beeps begin, to a few milliseconds: by likeness with a beep, not by loudness."""
    wave = beep()
    likeness = (
        np.abs(np.correlate(samples[: len(samples)], wave, "valid")) if len(samples) < RATE else _fast(samples, wave)
    )
    found = []
    threshold = 0.5 * float(np.square(wave).sum())
    while len(likeness) and likeness.max() > threshold:
        best = int(likeness.argmax())
        found.append(best / RATE)
        likeness[max(0, best - RATE // 4) : best + RATE // 4] = 0
    return sorted(found)


def _fast(samples, wave):
    size = 1 << (len(samples) + len(wave)).bit_length()
    both = np.fft.irfft(np.fft.rfft(samples, size) * np.conj(np.fft.rfft(wave, size)), size)
    return np.abs(both[: len(samples) - len(wave) + 1])


def boxes(path: Path) -> list[str]:
    """The top-level boxes of an MP4, in order."""
    found, content = [], path.read_bytes()
    position = 0
    while position < len(content):
        size = int.from_bytes(content[position : position + 4], "big")
        found.append(content[position + 4 : position + 8].decode())
        position += size or len(content)
    return found
