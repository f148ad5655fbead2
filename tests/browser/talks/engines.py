"""The engines of a generated talk: they hear exactly what was sent, speak in known lengths, and keep what they read."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.conversation.hearing import Late
from app.core.errors import NotFound
from app.gateways.language_model.scripted import ScriptAnalyst, ScriptInterviewer
from app.gateways.speech.calls import Call
from app.gateways.speech.ports import SPEECH_RATE, Exchange, FollowUp, Heard, Listens, Material, Sayings, Spoken, Word
from app.gateways.storage import Content, Stored, pieces_of
from app.interviews.recordings.media import Finished
from app.interviews.recordings.video import PlacedRun

FRAME = 320
"""Samples of which the first says which word sounds: 20 ms."""
WORD_FRAMES = 15
AGENT_RATE, AGENT_WORD = 1_000, 0.25


def sound_of(frames: list[int]) -> bytes:
    """Samples of the candidate's voice: 16 kHz, s16le."""
    pcm = np.zeros(len(frames) * FRAME, "<i2")
    pcm[::FRAME] = frames
    return pcm.tobytes()


class Detector:
    """In the place of Silero on the server, which hears no voice in numbers."""

    def process_samples(self, window: list[float]) -> float:
        return 0.97 if any(window) else 0.02


@dataclass
class Recogniser:
    """Hears every word of which more than half was sent. ``busy``: seconds that it takes now for an answer."""

    vocabulary: dict[int, str] = field(default_factory=dict)
    fed: dict[str, dict[int, bytes]] = field(default_factory=dict)
    busy: float = 0.0
    name: str = "exact"

    def is_demonstration(self, language: str) -> bool:
        return False

    def improves(self, language: str) -> bool:
        return False

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        return self.transcribe(pcm, rate=rate, language=language)

    def supports(self, language: str) -> bool:
        return True

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        frames = np.frombuffer(pcm, "<i2")[::FRAME]
        ends = [*(np.flatnonzero(np.diff(frames)) + 1).tolist(), len(frames)]
        words, begin = [], 0
        for end in ends:
            if frames[begin:end].any() and end - begin > WORD_FRAMES // 2:
                start, stop = begin * FRAME / SPEECH_RATE, end * FRAME / SPEECH_RATE
                words.append(Word(self.vocabulary.get(int(frames[begin]), ""), start, stop))
            begin = end
        words = [word for word in words if word.word]
        return Heard(" ".join(word.word for word in words), tuple(words), self.name)

    def prepare(self, language: str) -> None:
        """Nothing to load."""

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        self.fed.setdefault(key, {})[number] = pcm

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        if self.busy:
            return None
        pieces = self.fed.get(key, {})
        pcm = b"".join(pieces[number] for number in sorted(pieces)) + begun
        return self.transcribe(pcm, rate=SPEECH_RATE, language="").text or None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        self.fed.pop(key, None)
        return self.transcribe(pcm(), rate=SPEECH_RATE, language=language)

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> Heard | None:
        return None

    def partial(self, key: str) -> str | None:
        pieces = self.fed.get(key, {})
        pcm = b"".join(pieces[number] for number in sorted(pieces))
        return self.transcribe(pcm, rate=SPEECH_RATE, language="").text or None

    def drop(self, key: str) -> None:
        self.fed.pop(key, None)

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Wait:
    """In the place of waiting for the recogniser's thread (``app.conversation.hearing``): in the time of the talk."""

    hears: Recogniser
    now: float = 0.0
    spent: float = 0.0
    """Seconds that the request has waited so far."""
    running: dict[str, tuple[float, Callable[[], Heard]]] = field(default_factory=dict)

    def begin(self, key: str, recognise: Callable[[], Heard]) -> None:
        self.running.setdefault(key, (self.now + self.hears.busy, recognise))

    def words(self, key: str, *, seconds: float) -> Heard | Late:
        ready, recognise = self.running[key]
        left = max(0.0, ready - self.now - self.spent)
        self.spent += min(left, seconds)
        if left > seconds:
            return Late.LATE
        del self.running[key]
        return recognise()


class Voice:
    """Takes a quarter of a second for each word."""

    name = "metronome"

    def supports(self, language: str) -> bool:
        return True

    def identity(self, voice_id: str | None, language: str) -> str:
        return f"scripted:{voice_id}"

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """Nothing is loaded."""

    def speak(
        self, text: str, *, voice_id: str | None, language: str, remember: bool = False, steady: str | None = None
    ) -> Spoken:
        words = text.split()
        times = tuple(Word(word, n * AGENT_WORD, (n + 1) * AGENT_WORD) for n, word in enumerate(words))
        return Spoken(b"\1\0" * round(len(words) * AGENT_WORD * AGENT_RATE), AGENT_RATE, times, self.name)

    def close(self) -> None:
        """Nothing is open."""


class Asks(ScriptInterviewer):
    """The interviewer without a language model, and what it was given to read."""

    def __init__(self) -> None:
        self.read: list[Exchange] = []

    def decide(self, exchange: Exchange, *, listens: Listens | None = None, call: Call | None = None) -> FollowUp:
        self.read.append(exchange)
        return super().decide(exchange, listens=listens)


class Reads(ScriptAnalyst):
    """The analyst without a language model, and what it was given to read."""

    def __init__(self) -> None:
        self.read: list[Material] = []

    def summarize(self, material: Material) -> str | None:
        self.read.append(material)
        return super().summarize(material)


class Shelf:
    """A storage in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def put(self, key: str, content: Content) -> Stored:
        self.files[key] = kept = b"".join(pieces_of(content))
        return Stored(len(kept), hashlib.sha256(kept).hexdigest())

    def open(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        if key not in self.files:
            raise NotFound("no such file")
        yield self.files[key][start:end]

    def size(self, key: str) -> int:
        if key not in self.files:
            raise NotFound("no such file")
        return len(self.files[key])

    def delete(self, key: str) -> None:
        self.files.pop(key, None)

    def delete_prefix(self, prefix: str) -> None:
        for key in self.list(prefix):
            del self.files[key]

    def list(self, prefix: str) -> list[str]:  # type: ignore[valid-type]
        return sorted(key for key in self.files if key.startswith(f"{prefix}/"))

    def has_room(self) -> bool:
        return True


@dataclass
class Tapes:
    """In the place of the workshop, which reads real recordings: runs of known lengths, one after the other."""

    seconds: dict[int, float]

    @contextmanager
    def workshop(self, interview_id: str, takes: Any, *, storage: Any) -> Iterator["Tapes"]:
        self.numbers = [take.number for take in takes]
        yield self

    def timeline(self) -> list[PlacedRun]:
        runs, offset = [], 0.0
        for number in self.numbers:
            runs.append(PlacedRun(number, offset, self.seconds.get(number, 0.0)))
            offset += self.seconds.get(number, 0.0)
        return runs

    def shifts(self, segment: int, spans: list[tuple[int, int]]) -> list[float | None]:
        return [0.0 for _ in spans]

    def quick_audio(self) -> None:
        return None

    def finish(self, **_: Any) -> Finished:
        return Finished(None, None, sum(self.seconds.values()), self.timeline())
