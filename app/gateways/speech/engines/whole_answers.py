"""The part of a `Transcriber` that streaming engines have, for services that transcribe whole answers."""

from collections.abc import Callable

from app.gateways.speech.ports import SPEECH_RATE, Heard, Sayings


class WholeAnswers:
    """Nothing is loaded, decoded or kept ahead; `finish` transcribes the whole answer."""

    def is_demonstration(self, language: str) -> bool:
        del language
        return False

    def improves(self, language: str) -> bool:
        del language
        return False

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """What each service does its own way."""
        raise NotImplementedError

    def hear_again(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        return self.transcribe(pcm, rate=rate, language=language)

    def prepare(self, language: str) -> None: ...

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None: ...

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        del key, last, language, seconds, begun
        return None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        del key, first, last
        return self.transcribe(pcm(), rate=SPEECH_RATE, language=language)

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> None:
        del pcm, language, among, heard

    def partial(self, key: str) -> str | None:
        del key
        return None

    def drop(self, key: str) -> None: ...
