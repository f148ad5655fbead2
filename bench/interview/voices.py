"""Sounds of the candidates: Piper's Joe, or the embedded voice where he is not installed; pauses, side talk and noise."""

import hashlib
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.gateways.speech.engines.children import Children
from app.gateways.speech.engines.espeak import EspeakSpeaker
from app.gateways.speech.ports import SPEECH_RATE
from app.gateways.speech.sound import resample
from bench._wordless import stretches
from bench.interview.scenarios import Move, phrases_of, plain
from bench.speech import CACHE, LANGUAGE, PROGRAMS, TIMEOUT, clips

JOE = "piper-en_US-joe-medium"
LOUD = 0.12
"""Root mean square of a voice at the microphone, of 1: -18 dBFS."""
ASIDE = 0.25
"""Of that, where someone turns away from the microphone: 12 dB less."""
QUIET_ROOM = 60.0
"""Standard deviation of a quiet room's noise, in 16-bit steps: -55 dBFS."""
BARELY = 10 ** (-45 / 20)
"""Below this amplitude the end of a sound is no voice any more."""
ROOM_SECONDS = 3
KEYBOARD = 2
"""The first stretch of typing in ``bench/_wordless.py``."""


@dataclass(frozen=True)
class Sound:
    """16 kHz samples, -1 to 1. ``pauses`` and ``words`` (word, begins, ends) in seconds of it."""

    samples: np.ndarray
    pauses: tuple[tuple[float, float], ...] = ()
    words: tuple[tuple[str, float, float], ...] = ()

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.samples) / SPEECH_RATE

    @property
    def pcm(self) -> bytes:
        """16-bit samples."""
        return (np.clip(self.samples, -1, 1) * 32_767).astype("<i2").tobytes()


class Voice:
    """One speaker, who says the same text in the same way each time."""

    def __init__(self, models: Path | None) -> None:
        self._model = models / JOE if models and (models / JOE).exists() else None
        self.name = JOE if self._model else "espeak-ng"
        self._children = Children(PROGRAMS / "piper_child.py")
        self._espeak = EspeakSpeaker()

    def close(self) -> None:
        """End the processes."""
        self._children.close()
        self._espeak.close()

    def says(self, text: str) -> Sound:
        """A marked text in one go, moved apart at its marks."""
        return moved_apart(self._spoken(plain(text)), text)

    def sound_of(self, move: Move) -> Sound:
        """What is heard of a move."""
        if not move.text:
            typing = next(pcm for number, (_, pcm) in enumerate(stretches(KEYBOARD + 1)) if number == KEYBOARD)
            return Sound(np.frombuffer(typing, "<i2")[: 2 * SPEECH_RATE] / 32_768)
        sound = self.says(move.text)
        return Sound(ASIDE * sound.samples) if move.kind == "side talk" else sound

    def _spoken(self, text: str) -> Sound:
        """A plain text, from its first voiced sample to the last."""
        CACHE.mkdir(parents=True, exist_ok=True)
        path = CACHE / f"said-{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.pickle"
        if not path.exists():
            if self._model:
                actor = (str(self._model), "")
                pcm, rate, words = self._children.call("speak", actor, text, LANGUAGE, timeout=TIMEOUT)
                words = [(word[0], word[1], word[2]) for word in words]
            else:
                made = self._espeak.speak(text, voice_id="vendora-Anthony", language=LANGUAGE)
                pcm, rate, words = made.pcm, made.rate, [(word.word, word.start, word.end) for word in made.words]
            path.write_bytes(pickle.dumps((resample(pcm, rate, SPEECH_RATE), words)))
        pcm, words = pickle.loads(path.read_bytes())
        return trimmed(np.frombuffer(pcm, "<i2") / 32_768, words)


def trimmed(samples: np.ndarray, words: list[tuple[str, float, float]]) -> Sound:
    """Samples without the silence around them, as loud as every voice here."""
    voiced = samples[np.abs(samples) > BARELY]
    samples = samples * (LOUD / np.sqrt(np.mean(voiced**2)))
    loud = np.flatnonzero(np.abs(samples) > BARELY)
    first, last = int(loud[0]), int(loud[-1]) + 1
    length = (last - first) / SPEECH_RATE
    placed = [(word, start - first / SPEECH_RATE, end - first / SPEECH_RATE) for word, start, end in words]
    inside = ((word, max(0.0, start), min(length, end)) for word, start, end in placed)
    return Sound(samples[first:last], words=tuple(one for one in inside if one[2] > one[1]))


def moved_apart(sound: Sound, text: str) -> Sound:
    """The sound with the silences that the marks of ``text`` ask for, each at the end of a word."""
    phrases = phrases_of(text)
    counts = np.cumsum([len(phrase.text.split()) for phrase in phrases])
    is_told = len(sound.words) == counts[-1]
    parts, pauses, words = [], [], []
    cut, shift = 0, 0.0
    for phrase, count in zip(phrases, counts, strict=True):
        first = int(count) - len(phrase.text.split())
        end = sound.words[count - 1][2] if is_told else sound.seconds * count / counts[-1]
        stop = round(end * SPEECH_RATE) if phrase.pause else len(sound.samples)
        parts.append(sound.samples[cut:stop])
        if is_told:
            words += [(word, start + shift, over + shift) for word, start, over in sound.words[first : int(count)]]
        cut = stop
        if phrase.pause:
            begins = stop / SPEECH_RATE + shift
            pauses.append((begins, begins + phrase.pause))
            parts.append(np.zeros(round(phrase.pause * SPEECH_RATE)))
            shift += phrase.pause
    return Sound(np.concatenate(parts), tuple(pauses), tuple(words))


def room(noise: float | None) -> Sound:
    """Three seconds of a room: quiet, or with pink noise, in decibels below the voice."""
    random, size = np.random.default_rng(3), ROOM_SECONDS * SPEECH_RATE
    hiss = random.normal(0, QUIET_ROOM / 32_768, size)
    if noise is None:
        return Sound(hiss)
    spectrum = np.fft.rfft(random.normal(size=size)) / np.sqrt(np.maximum(np.arange(size // 2 + 1), 1))
    pink = np.fft.irfft(spectrum, size)
    return Sound(hiss + pink * (LOUD * 10 ** (-noise / 20) / pink.std()))


def people() -> list[Sound]:
    """The readers of LibriVox, each sentence with its words; empty where the clips cannot be had."""
    found = []
    for _, pcm, starts in clips():
        samples = np.frombuffer(pcm, "<i2") / 32_768
        ends = [*(start for _, start in starts[1:]), len(samples) / SPEECH_RATE]
        words = [(word, start, end) for (word, start), end in zip(starts, ends, strict=True)]
        found.append(trimmed(samples, words))
    return found
