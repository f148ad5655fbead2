"""An ordered list of engines: the next one serves when one fails, and the result says which one did."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from app.core.errors import GatewayError
from app.gateways.speech.engines.exchange import TooLate
from app.gateways.speech.loudness import level
from app.gateways.speech.ports import Heard, Sayings, Spoken, Transcriber
from app.gateways.speech.watching import Watch, unwatched, watched

log = logging.getLogger(__name__)

Recogniser = Transcriber


class Voice(Protocol):
    """One engine that speaks."""

    @property
    def name(self) -> str:
        """The engine."""
        ...

    def supports(self, language: str) -> bool:
        """Whether it can speak the language."""
        ...

    def identity(self, voice_id: str | None, language: str) -> str:
        """What decides on the sound besides the text."""
        ...

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """Load what takes time; never blocks."""
        ...

    def speak(self, text: str, *, voice_id: str | None, language: str, steady: str | None = None) -> Spoken:
        """Speak the text or raise GatewayError; with the voice of this identity, where `steady` names one it has."""
        ...

    def close(self) -> None:
        """End processes and connections."""
        ...


class FallbackSpeaker:
    """Speaks with the first engine that can."""

    def __init__(self, engines: tuple[Voice, ...], *, watch: Watch = unwatched) -> None:
        self._engines = engines
        self._watch = watch

    @property
    def name(self) -> str:
        """The engines in order."""
        return ",".join(engine.name for engine in self._engines)

    def supports(self, language: str) -> bool:
        """Whether any engine speaks it."""
        return any(engine.supports(language) for engine in self._engines)

    def identity(self, voice_id: str | None, language: str) -> str:
        """That of the preferred engine for this language."""
        return next((one.identity(voice_id, language) for one in self._engines if one.supports(language)), "none")

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """The engine that will speak."""
        for engine in self._able(language, steady)[1][:1]:
            engine.prepare(voice_id=voice_id, language=language, steady=steady)

    def speak(
        self, text: str, *, voice_id: str | None, language: str, remember: bool = False, steady: str | None = None
    ) -> Spoken:
        """At one loudness. `fell_back` tells that an engine before the one that served failed or is not there."""
        del remember  # only the cache remembers
        wanted, able = self._able(language, steady)
        if not able:
            return self._refuse(text, voice_id, language)
        failures: list[GatewayError] = []
        for engine in able:
            try:
                with watched(self._watch, "speech", engine.name):
                    spoken = engine.speak(text, voice_id=voice_id, language=language, steady=steady)
                is_other = bool(failures) or (wanted not in {"", engine.name})
                return replace(spoken, pcm=level(spoken.pcm, spoken.rate), fell_back=is_other)
            except GatewayError as error:
                log.warning("speech engine %s failed, retryable=%s", engine.name, error.retryable)
                failures.append(error)
        raise _all_failed("spoken", failures)

    def close(self) -> None:
        """Close every engine."""
        for engine in self._engines:
            engine.close()

    def _able(self, language: str, steady: str | None) -> tuple[str, list[Voice]]:
        """The name of the engine that the talk began with, and all engines for the language, that one first."""
        wanted = (steady or "").partition(":")[0]
        able = [engine for engine in self._engines if engine.supports(language)]
        return wanted, sorted(able, key=lambda engine: engine.name != wanted)

    def _refuse(self, text: str, voice_id: str | None, language: str) -> Spoken:
        if len(self._engines) == 1:  # it says best why not
            return self._engines[0].speak(text, voice_id=voice_id, language=language)
        raise GatewayError(f"no engine in TTS_PROVIDER speaks {language}", retryable=False)


class FallbackTranscriber:
    """Hears with the first engine that can; streams to the preferred one only."""

    def __init__(
        self, engines: tuple[Recogniser, ...], *, also_close: tuple[Recogniser, ...] = (), watch: Watch = unwatched
    ) -> None:
        self._engines = engines
        self._watch = watch
        self._to_close = (*engines, *(one for one in also_close if one not in engines))

    @property
    def name(self) -> str:
        """The engines in order; `none` if there are none."""
        return ",".join(engine.name for engine in self._engines) or "none"

    def supports(self, language: str) -> bool:
        """Whether any engine hears it."""
        return any(engine.supports(language) for engine in self._engines)

    def is_demonstration(self, language: str) -> bool:
        """Whether the preferred engine of the language is one there."""
        return any(engine.is_demonstration(language) for engine in self._able(language)[:1])

    def improves(self, language: str) -> bool:
        """Whether the preferred engine of the language hears better the second time."""
        return any(engine.improves(language) for engine in self._able(language)[:1])

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """One whole answer."""
        return self._first(language, lambda engine: engine.transcribe(pcm, rate=rate, language=language))

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """By the preferred engine of the language alone: what another one hears is no better than what is there."""
        engines = self._able(language)
        if not engines:
            raise GatewayError(f"no engine in STT_PROVIDER recognizes {language}", retryable=True)
        with watched(self._watch, "recognition", engines[0].name):
            return engines[0].hear_again(pcm, rate=rate, language=language)

    def prepare(self, language: str) -> None:
        """The preferred engine of the language."""
        for engine in self._able(language)[:1]:
            engine.prepare(language)

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        """To the preferred engine of the language."""
        for engine in self._able(language)[:1]:
            engine.feed(key, number, pcm, language=language)

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        """What the preferred engine of the language has heard so far."""
        for engine in self._able(language)[:1]:
            return engine.peek(key, last=last, language=language, seconds=seconds, begun=begun)
        return None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        """From the stream if the preferred engine has it, else from `pcm()`. Nothing else is asked after TooLate."""
        return self._first(
            language, lambda engine: engine.finish(key, first=first, last=last, language=language, pcm=pcm)
        )

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> Heard | None:
        """What the engine makes of it that has heard it."""
        for engine in (one for one in self._able(language) if one.name == heard.engine):
            return engine.choose(heard, language=language, among=among, pcm=pcm)
        return None

    def partial(self, key: str) -> str | None:
        """From whichever engine hears it."""
        return next((text for engine in self._engines if (text := engine.partial(key)) is not None), None)

    def drop(self, key: str) -> None:
        """Forget an utterance everywhere."""
        for engine in self._engines:
            engine.drop(key)

    def close(self) -> None:
        """Close every engine."""
        for engine in self._to_close:
            engine.close()

    def _able(self, language: str) -> list[Recogniser]:
        return [engine for engine in self._engines if engine.supports(language)]

    def _first(self, language: str, ask: Callable[[Recogniser], Heard]) -> Heard:
        failures: list[GatewayError] = []
        for engine in self._able(language):
            try:
                with watched(self._watch, "recognition", engine.name):
                    return ask(engine)
            except TooLate:
                raise
            except GatewayError as error:
                log.warning("recognition engine %s failed, retryable=%s", engine.name, error.retryable)
                failures.append(error)
        if not failures:
            raise GatewayError(f"no engine in STT_PROVIDER recognizes {language}", retryable=False)
        raise _all_failed("recognised", failures)


def _all_failed(what: str, failures: list[GatewayError]) -> GatewayError:
    """Worth another try if any of them may recover."""
    reasons = "; ".join(error.message for error in failures)
    return GatewayError(f"nothing could be {what}: {reasons}", retryable=any(one.retryable for one in failures))
