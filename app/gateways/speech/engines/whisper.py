"""Whisper in the speech host: every language that an installed model serves, heard while it is spoken."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from app.core.errors import GatewayError
from app.gateways.speech.engines.abilities import BEGINNINGS
from app.gateways.speech.engines.exchange import ChildFailed, HostAway, TooLate
from app.gateways.speech.ports import SPEECH_RATE, Heard, Sayings, Word
from app.gateways.speech.silence import has_speech
from app.gateways.speech.sound import resample, seconds

FIRST_PATIENCE = 1.0
"""Seconds for a host to say what it has, where no one speaks."""
LIVE_PATIENCE = 10.0
"""Seconds that a candidate waits for the end of their answer; after that the talk goes on and it is heard later."""
PATIENCE, PATIENCE_PER_SECOND = 60.0, 10.0
"""Seconds to wait for a whole answer: at least, and for each second of sound. Those that someone waits for go first."""
MOST_UNSENT = 32_000_000
"""Bytes of live audio (17 minutes) that may wait to be sent; beyond that the audio is recognised afterwards."""
MOST_OPEN = 1_024
"""Utterances that are remembered as begun."""


class Line(Protocol):
    """The engine's process in the host."""

    @property
    def connection(self) -> object: ...
    @property
    def pending_bytes(self) -> int: ...
    def call(self, *message: Any, timeout: float) -> Any: ...
    def ask(self, *message: Any, timeout: float) -> Any: ...
    def post(self, *message: Any, size: int = 0) -> None: ...


class Served(Protocol):
    """A model that the host has, and its directory there."""

    @property
    def path(self) -> str: ...
    @property
    def is_demonstration(self) -> bool: ...


class SpeechHost(Protocol):
    """What runs the engine; `app.gateways.speech.host.client` has it."""

    def engine(self, name: str, *, on_news: Callable[..., None]) -> Line: ...
    def state(self, *, wait: float = ...) -> Mapping[str, Mapping[str, Sequence[Served]]]: ...
    @property
    def abilities(self) -> frozenset[str]: ...


class WhisperTranscriber:
    """A client of the host's `whisper` process. Where the host or a model is missing, it supports no language."""

    name = "whisper"

    def __init__(self, host: SpeechHost) -> None:
        self._host = host
        self._line = host.engine("whisper", on_news=self._reported)
        self._open: OrderedDict[str, object] = OrderedDict()
        self._partials: dict[str, str] = {}

    def supports(self, language: str) -> bool:
        """Whether the host has a model for it now."""
        return self._served(language) is not None

    def is_demonstration(self, language: str) -> bool:
        """Whether the model that hears this language is too small to hear it well."""
        served = self._served(language)
        return served is not None and served.is_demonstration

    def improves(self, language: str) -> bool:
        """A whole answer is heard again with more care than there was time for while it was spoken."""
        return bool(self._host.state(wait=FIRST_PATIENCE).get(self.name, {}).get(language))

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """As well as this model can."""
        return self.transcribe(pcm, rate=rate, language=language)

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """One whole answer as well as this model can, with word times; after all that someone waits for."""
        audio = resample(pcm, rate, SPEECH_RATE)
        return self._whole(audio, language, is_final=True) if has_speech([audio]) else Heard("", (), self.name)

    def prepare(self, language: str) -> None:
        """Have the model loaded."""
        if (served := self._served(language)) is not None:
            self._line.post("prepare", served.path, language)

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        """Hand a piece over; the first one over each connection says what to hear it with."""
        served = self._served(language)
        if served is None:
            return
        if self._line.pending_bytes > MOST_UNSENT:
            self.drop(key)
            return
        self._post(served, key, "feed", number, pcm, language=language)

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        """The words so far; of a piece that is only `begun` where the host can hear that."""
        served = self._served(language)
        if served is None:
            return None
        if begun:
            if BEGINNINGS not in self._host.abilities:
                return None
            self._post(served, key, "begin", last, begun, language=language)
        if key not in self._open:
            return None
        text = self._line.ask("peek", key, last, served.path, language, timeout=seconds)
        return text if isinstance(text, str) else None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        """The rest of what was fed; the whole audio once more where pieces are missing or the process was lost.

        Raises TooLate when the host is too busy to answer in time.
        """
        served = self._needed(language)
        is_fed = key in self._open
        self._forget(key)
        result = None
        if is_fed:
            try:
                result = self._line.call("finish", key, first, last, served.path, language, timeout=LIVE_PATIENCE)
            except (HostAway, ChildFailed):
                result = None
            except GatewayError as error:
                raise TooLate(error.message) from error
        return self._whole(pcm(), language, is_final=False) if result is None else self._heard(result)

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> None:
        """Its text needs no second look."""
        del heard, language, among, pcm

    def partial(self, key: str) -> str | None:
        """What the host has reported."""
        return self._partials.get(key)

    def drop(self, key: str) -> None:
        """Forget an utterance here and in the host."""
        if key in self._open:
            self._forget(key)
            self._line.post("drop", key)

    def close(self) -> None:
        """Nothing to end: the host belongs to all."""

    def _post(self, served: Served, key: str, kind: str, *piece: Any, language: str) -> None:
        connection = self._line.connection
        if self._open.get(key) is not connection:
            self._open[key] = connection
            self._line.post("open", key, served.path, language)
            while len(self._open) > MOST_OPEN:
                self._forget(next(iter(self._open)))
        self._line.post(kind, key, *piece, size=len(piece[-1]))

    def _served(self, language: str) -> Served | None:
        return next(iter(self._host.state().get(self.name, {}).get(language, ())), None)

    def _needed(self, language: str) -> Served:
        served = self._served(language)
        if served is None:
            raise HostAway(f"there is no model for {language}, or the speech host cannot be reached")
        return served

    def _whole(self, pcm: bytes, language: str, *, is_final: bool) -> Heard:
        served = self._needed(language)
        patience = PATIENCE + PATIENCE_PER_SECOND * seconds(pcm, SPEECH_RATE) if is_final else LIVE_PATIENCE
        try:
            result = self._line.call("batch", pcm, served.path, language, is_final, timeout=patience)
        except ChildFailed as error:
            raise GatewayError(f"Whisper failed: {error}", retryable=True) from error
        except HostAway:
            raise
        except GatewayError as error:
            raise error if is_final else TooLate(error.message) from error
        return self._heard(result)

    def _heard(self, result: dict[str, Any]) -> Heard:
        words = _in_order(result["words"])
        return Heard(result["text"], words, self.name, result["confidence"], spoken=result["seconds"])

    def _forget(self, key: str) -> None:
        self._open.pop(key, None)
        self._partials.pop(key, None)

    def _reported(self, kind: str, *news: Any) -> None:
        if kind == "partial" and news[0] in self._open:
            self._partials[news[0]] = news[1]


def _in_order(words: Sequence[tuple[str, float, float, float | None]]) -> tuple[Word, ...]:
    """Times never run backwards: where two windows meet, a word may end a little after the next one begins."""
    placed: list[Word] = []
    for word, start, end, sure in words:
        begins = max(start, placed[-1].start) if placed else start
        if placed and placed[-1].end > begins:
            placed[-1] = replace(placed[-1], end=begins)
        placed.append(Word(word, begins, max(begins, end), sure))
    return tuple(placed)
