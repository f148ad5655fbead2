"""A speaker whose voices are models that the speech host has: what Piper and Kokoro have in common."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from app.core.errors import GatewayError
from app.gateways.speech.engines import casting
from app.gateways.speech.engines.casting import Actor
from app.gateways.speech.engines.exchange import ChildFailed
from app.gateways.speech.ports import Spoken, Word

LONGEST_TEXT = 20_000
"""Characters of one text."""
PATIENCE = 20.0
"""Seconds to wait for any synthesis; each engine adds some for each character."""


class Line(Protocol):
    """The engine's process, wherever it runs."""

    def post(self, *message: Any) -> None:
        """Send without waiting for anything."""
        ...

    def call(self, *message: Any, timeout: float) -> Any:
        """The answer; raises ChildFailed where the engine refuses, and GatewayError."""
        ...


class Served(Protocol):
    """A model that the host has."""

    @property
    def model(self) -> str:
        """Its name, such as `piper-en_US-joe-medium`."""
        ...

    @property
    def path(self) -> str:
        """Its directory on the host's machine."""
        ...


Offers = Callable[[], Mapping[str, Mapping[str, Sequence[Served]]]]
"""What the host has now: by engine, then by language. Never slow."""


class ModelSpeaker:
    """Speaks what the host's models of one engine can speak; without a host or a model it supports nothing.

    `pace` is the seconds that a character may take on a busy machine.
    """

    def __init__(self, name: str, line: Line, offers: Offers, *, pace: float) -> None:
        self.name = name
        self._pace = pace
        self._line, self._offers = line, offers

    def supports(self, language: str) -> bool:
        """Whether a model for the language is there."""
        return self._actor(None, language, None) is not None

    def identity(self, voice_id: str | None, language: str) -> str:
        """The voice that would speak now."""
        actor = self._actor(voice_id, language, None)
        return f"{self.name}:{'none' if actor is None else actor.key}"

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """Have the model of the voice loaded, so that the first sentence of the talk does not wait for it."""
        actor, path = self._chosen(voice_id, language, steady)
        if actor is not None:
            self._line.post("prepare", path)

    def speak(self, text: str, *, voice_id: str | None, language: str, steady: str | None = None) -> Spoken:
        """Speak; `steady` is the identity of the voice that the talk began with, which is used if it is still there."""
        if len(text) > LONGEST_TEXT:
            raise GatewayError(f"a text to speak may have at most {LONGEST_TEXT} characters", retryable=False)
        actor, path = self._chosen(voice_id, language, steady)
        if actor is None:
            raise GatewayError(f"{self.name} has no voice for {language}; run parley models list", retryable=True)
        request = ("speak", (path, actor.speaker), text.replace("\0", " "), language)
        try:
            pcm, rate, words = self._line.call(*request, timeout=PATIENCE + self._pace * len(text))
        except ChildFailed as error:
            raise GatewayError(f"{self.name} failed: {error}", retryable=False) from error
        return Spoken(pcm, rate, tuple(Word(*word) for word in words), self.name)

    def close(self) -> None:
        """Nothing to end: the host's process belongs to all."""

    def _chosen(self, voice_id: str | None, language: str, steady: str | None) -> tuple[Actor | None, str]:
        """Who speaks, and the directory of their model; none where no model serves."""
        actor = self._actor(voice_id, language, steady)
        path = None if actor is None else self._paths(language).get(actor.model)
        return (None, "") if path is None else (actor, path)

    def _actor(self, voice_id: str | None, language: str, steady: str | None) -> Actor | None:
        models = tuple(self._paths(language))
        engine, _, key = (steady or "").partition(":")
        if engine == self.name and (actor := casting.recall(key, language, models)) is not None:
            return actor
        return casting.cast(voice_id, language, models)

    def _paths(self, language: str) -> dict[str, str]:
        """Directories by model, the preferred one first."""
        return {one.model: one.path for one in self._offers().get(self.name, {}).get(language, ())}
