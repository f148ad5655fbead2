"""Locates a piece of speech in its recording, to a few milliseconds."""

from pathlib import Path
from typing import Any

import numpy as np

from app.interviews.recordings.video.sound import Ear, Samples
from app.interviews.recordings.video.tracks import Tracks, opened

_RATE = 16_000
_SLACK = 1.5
_LEAD = 0.3
_LONGEST = 8 * _RATE
_CLEAR = 0.35
_APART = 0.05
_DISTINCT = 1.15
_QUIET = 0.002


def place(order: dict[str, Any]) -> dict[str, Any]:
    """The shift of each piece of speech in seconds, None where it is unclear."""
    pieces = [_loudest(Path(piece["path"]), piece["start"]) for piece in order["spoken"]]
    windows = [(start - _SLACK, start + len(samples) / _RATE + _SLACK) for samples, start in pieces]
    heard = _heard(order["runs"][0], windows, limits=order["limits"])
    shifts = [
        shift_of(samples, mix, start=start - max(0.0, window[0]))
        for (samples, start), mix, window in zip(pieces, heard, windows, strict=True)
    ]
    return {"shifts": shifts}


def shift_of(voice: Samples, mix: Samples, *, start: float) -> float | None:
    """By how many seconds ``voice`` lies later in ``mix`` than ``start`` says; None without a single clear place.

    Normalized cross-correlation over all places at once, by FFT.
    """
    voice = voice - voice.mean() if len(voice) else voice
    energy = float(np.sqrt(np.square(voice, dtype=np.float64).sum()))
    if len(voice) < _RATE // 4 or len(mix) < len(voice) or energy < _QUIET * np.sqrt(len(voice)):
        return None
    size = 1 << (len(mix) + len(voice) - 1).bit_length()
    products = np.fft.irfft(np.fft.rfft(mix, size) * np.conj(np.fft.rfft(voice, size)), size)
    places = products[: len(mix) - len(voice) + 1]
    squares = np.concatenate([[0.0], np.cumsum(np.square(mix, dtype=np.float64))])
    local = np.sqrt(np.maximum(squares[len(voice) :] - squares[: -len(voice)], 1e-9))
    likeness = places / (local[: len(places)] * energy)
    best = int(np.argmax(likeness))
    around = round(_APART * _RATE)
    others = np.concatenate([likeness[: max(0, best - around)], likeness[best + around :]])
    second = float(others.max()) if len(others) else 0.0
    if likeness[best] < _CLEAR or likeness[best] < _DISTINCT * second:
        return None
    return best / _RATE - start


def _loudest(path: Path, start: float) -> tuple[Samples, float]:
    """The loudest part of the speech, and its expected start."""
    samples = np.frombuffer(path.read_bytes()[: 3600 * _RATE * 2], "<i2").astype(np.float32) / np.float32(32768)
    if len(samples) <= _LONGEST:
        return samples, start
    squares = np.concatenate([[0.0], np.cumsum(np.square(samples, dtype=np.float64))])
    begin = int(np.argmax(squares[_LONGEST:] - squares[:-_LONGEST]))
    return samples[begin : begin + _LONGEST], start + begin / _RATE


def _heard(run: dict[str, Any], windows: list[tuple[float, float]], *, limits: dict[str, Any]) -> list[Samples]:
    """The recording's samples in each window, from its start (or the run's zero) on; decodes only these."""
    regions = _merged(windows)
    with opened(run, limits=limits) as tracks:
        decoded = [] if tracks is None or tracks.audio is None else _decoded(tracks, regions)
    return [_cut(window, regions, decoded) for window in windows]


def _merged(windows: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Windows in order of time, merged where they touch, each with a lead-in for the decoder."""
    regions: list[tuple[float, float]] = []
    for begin, end in sorted((max(0.0, begin - _LEAD), end) for begin, end in windows):
        if regions and begin <= regions[-1][1]:
            regions[-1] = (regions[-1][0], max(end, regions[-1][1]))
        else:
            regions.append((begin, end))
    return regions


def _decoded(tracks: Tracks, regions: list[tuple[float, float]]) -> list[Samples]:
    """The sound of each region, in one pass over the file."""
    sounds: list[Samples] = []
    ear, parts = Ear(tracks.audio, rate=_RATE), list[Samples]()
    for packet, time in tracks.packets():
        while len(sounds) < len(regions) and time > regions[len(sounds)][1]:
            sounds.append(_joined([*parts, *ear.rest()]))
            tracks.audio.codec_context.flush_buffers()
            ear, parts = Ear(tracks.audio, rate=_RATE), []
        if len(sounds) == len(regions):
            return sounds
        if packet.stream.type == "audio" and time >= regions[len(sounds)][0]:
            parts.extend(ear.hear(packet, regions[len(sounds)][0]))
    return [*sounds, _joined([*parts, *ear.rest()])]


def _cut(window: tuple[float, float], regions: list[tuple[float, float]], decoded: list[Samples]) -> Samples:
    begin = max(0.0, window[0])
    for (start, end), samples in zip(regions, decoded, strict=False):
        if start <= begin <= end:
            return samples[round((begin - start) * _RATE) : round((window[1] - start) * _RATE)]
    return _joined([])


def _joined(parts: list[Samples]) -> Samples:
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)
