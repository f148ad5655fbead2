"""Scripted engines behind the ports of speech: they say what the test wants, at once."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.core.errors import GatewayError
from app.gateways.speech.calls import Call
from app.gateways.speech.ports import Exchange, FollowUp, Heard, Listens, Sayings, Spoken, Word

RATE = 16_000
SECONDS_PER_WORD = 0.25


@dataclass
class ScriptedTranscriber:
    """Understands what it was told to, answer by answer; raises where the script holds an error."""

    texts: list[str | GatewayError] = field(default_factory=list)
    languages: tuple[str, ...] = ("en-US",)
    fed: list[tuple[str, int, int]] = field(default_factory=list)
    finished: list[tuple[str, int, int]] = field(default_factory=list)
    prepared: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    peeks: list[str | None] = field(default_factory=list)
    choices: list[Heard | None] = field(default_factory=list)
    looked_at: list[tuple[str, Sayings, int]] = field(default_factory=list)
    otherwise: str = "i like this work very much"
    name: str = "scripted"
    is_second_better: bool = False
    spoken: float | None = None
    is_small: bool = False
    begun: list[tuple[int, bytes]] = field(default_factory=list)

    def is_demonstration(self, language: str) -> bool:
        return self.is_small

    def improves(self, language: str) -> bool:
        return self.is_second_better and self.supports(language)

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        return self._next()

    def supports(self, language: str) -> bool:
        return language in self.languages

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        return self._next()

    def prepare(self, language: str) -> None:
        self.prepared.append(language)

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        self.fed.append((key, number, len(pcm)))

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        self.begun.append((last, begun))
        return self.peeks.pop(0) if self.peeks else None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        self.finished.append((key, first, last))
        return self._next()

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> Heard | None:
        self.looked_at.append((heard.text, among, len(pcm())))
        return self.choices.pop(0) if self.choices else None

    def _next(self) -> Heard:
        text = self.texts.pop(0) if self.texts else self.otherwise
        if isinstance(text, GatewayError):
            raise text
        words = tuple(Word(word, n * 0.3, n * 0.3 + 0.2) for n, word in enumerate(text.split()))
        return Heard(text, words, self.name, spoken=self.spoken)

    def partial(self, key: str) -> str | None:
        pieces = sum(1 for fed, _number, _size in self.fed if fed == key)
        return (
            " ".join(
                (self.texts[0] if self.texts and isinstance(self.texts[0], str) else self.otherwise).split()[:pieces]
            )
            or None
        )

    def drop(self, key: str) -> None:
        self.dropped.append(key)

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class ScriptedSpeaker:
    """Beeps a quarter of a second for each word, after ``silent`` seconds, with word times if wanted."""

    languages: tuple[str, ...] = ("en-US", "de-DE")
    error: GatewayError | None = None
    fell_back: bool = False
    with_words: bool = True
    silent: float = 0.0
    spoken: list[tuple[str, bool]] = field(default_factory=list)
    steady: list[str | None] = field(default_factory=list)
    prepared: list[tuple[str | None, str, str | None]] = field(default_factory=list)
    name: str = "scripted"

    def supports(self, language: str) -> bool:
        return language in self.languages

    def identity(self, voice_id: str | None, language: str) -> str:
        return f"{self.name}:{voice_id}"

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        self.prepared.append((voice_id, language, steady))

    def speak(
        self, text: str, *, voice_id: str | None, language: str, remember: bool = False, steady: str | None = None
    ) -> Spoken:
        if self.error is not None:
            raise self.error
        self.spoken.append((text, remember))
        self.steady.append(steady)
        words = text.split()
        pcm = b"\0\0" * round(self.silent * RATE) + b"\x10\x20" * round(len(words) * SECONDS_PER_WORD * RATE)
        starts = (self.silent + n * SECONDS_PER_WORD for n in range(len(words)))
        times = tuple(Word(w, start, start + SECONDS_PER_WORD) for w, start in zip(words, starts, strict=True))
        return Spoken(pcm, RATE, times if self.with_words else (), self.name, self.fell_back)

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class ScriptedInterviewer:
    """Asks on as the script says; otherwise goes to the next question."""

    follow_ups: list[FollowUp | GatewayError] = field(default_factory=list)
    asked: list[Exchange] = field(default_factory=list)
    name: str = "scripted"

    def decide(self, exchange: Exchange, *, listens: Listens | None = None, call: Call | None = None) -> FollowUp:
        self.asked.append(exchange)
        judged = self.follow_ups.pop(0) if self.follow_ups else FollowUp()
        if isinstance(judged, GatewayError):
            raise judged
        return judged

    def close(self) -> None:
        """Nothing is open."""


class ScriptedCodec:
    """Encodes whatever it gets as ``coded``, or fails."""

    def __init__(self, coded: bytes | None = None) -> None:
        self._coded = coded

    def encode(self, *_: object) -> bytes:
        if self._coded is None:
            raise GatewayError("no encoder", retryable=False)
        return self._coded
