"""Scripted engines: they answer what a test tells them, and remember what they were asked."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.core.errors import GatewayError
from app.gateways.speech.ports import Heard, Judged, Judgement, Material, Quote, Word


@dataclass
class ScriptedTranscriber:
    """Hears ``text`` in whatever it is given; knows the ``languages``."""

    text: str = "I like to help people"
    languages: tuple[str, ...] = ("en-US",)
    asked: list[int] = field(default_factory=list)
    name: str = "scripted"
    better: str | GatewayError | None = None

    def is_demonstration(self, language: str) -> bool:
        return False

    def improves(self, language: str) -> bool:
        return self.better is not None and self.supports(language)

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        self.asked.append(len(pcm))
        if isinstance(self.better, GatewayError):
            raise self.better
        words = tuple(
            Word(word, 0.2 + 0.3 * at, 0.4 + 0.3 * at, 0.9) for at, word in enumerate((self.better or "").split())
        )
        return Heard(self.better or "", words, engine="better", confidence=0.9)

    def supports(self, language: str) -> bool:
        return language in self.languages

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        self.asked.append(len(pcm))
        words = tuple(Word(word, 0.1 + 0.3 * at, 0.3 + 0.3 * at) for at, word in enumerate(self.text.split()))
        return Heard(self.text, words, engine=self.name)

    def prepare(self, language: str) -> None: ...

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None: ...

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        return None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        return self.transcribe(pcm(), rate=16_000, language=language)

    def choose(self, heard: Heard, *, language: str, among: object, pcm: Callable[[], bytes]) -> None: ...

    def partial(self, key: str) -> str | None:
        return None

    def drop(self, key: str) -> None: ...

    def close(self) -> None: ...


@dataclass
class ScriptedAnalyst:
    """Summarizes with ``summary``; judges one score with a quote; fails with ``error`` if there is one."""

    summary: str | None = "Likes to help people."
    judged: dict[str, tuple[float, str, int]] = field(default_factory=dict)
    error: GatewayError | None = None
    materials: list[Material] = field(default_factory=list)
    name: str = "scripted"

    def summarize(self, material: Material) -> str | None:
        self.materials.append(material)
        if self.error:
            raise self.error
        return self.summary

    def judge(self, material: Material, *, scores: tuple[str, ...]) -> Judgement:
        if self.error:
            raise self.error
        found = [
            Judged(name, value, "said so", (Quote(text, index),))
            for name, (value, text, index) in self.judged.items()
            if name in scores
        ]
        return Judgement(self.name, tuple(found))

    def close(self) -> None: ...
