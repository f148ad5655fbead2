"""Recognition over `/audio/transcriptions`; word times where the server gives them, never invented ones."""

from collections.abc import Callable, Mapping
from typing import Any

from app.gateways.speech import catalogue
from app.gateways.speech.engines.openai_client import OpenAiServer
from app.gateways.speech.engines.remote import Aligner
from app.gateways.speech.ports import SPEECH_RATE, Heard, Sayings, Word
from app.gateways.speech.sound import wav

SERVER = "the transcription server"
ENGLISH = "en-US"
DEFAULT_MODEL = "whisper-1"


class TranscriptionApiTranscriber:
    """`words`: `auto` and `always` ask for word times, `never` does not (some models refuse to be asked).

    English text without word times is aligned with its sound by `aligner`; other languages keep `words: ()`.
    """

    name = "openai"

    def __init__(
        self,
        address: str,
        *,
        api_key: str,
        timeout: float,
        model: str = DEFAULT_MODEL,
        models: Mapping[str, str] | None = None,
        words: str = "auto",
        aligner: Aligner | None = None,
    ) -> None:
        self._server = OpenAiServer(SERVER, address, api_key=api_key, timeout=timeout)
        self._model = model or DEFAULT_MODEL
        self._models = models or {}
        self._words = words
        self._aligner = aligner

    def supports(self, language: str) -> bool:
        """Every language of the interface; the operator's server decides how well."""
        return language in catalogue.LANGUAGES

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """One whole answer."""
        arguments: dict[str, Any] = {
            "file": ("answer.wav", wav(pcm, rate), "audio/wav"),
            "model": self._models.get(f"MODEL_{language.replace('-', '_').upper()}", self._model),
            "language": catalogue.iso_language(language),
            "temperature": 0,
        }
        if self._words == "never":
            arguments["response_format"] = "json"
        else:
            arguments |= {"response_format": "verbose_json", "timestamp_granularities": ["word", "segment"]}
        text, words = self._server.ask(lambda: _read(self._server.client.audio.transcriptions.create(**arguments)))
        if text and not words and language == ENGLISH and self._aligner is not None:
            words = self._aligner.align(text, pcm, rate=rate)
        return Heard(text, words, self.name)

    def prepare(self, language: str) -> None:
        """Nothing has to be loaded."""

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        """Nothing is decoded ahead."""

    def peek(self, key: str, *, last: int, language: str, seconds: float) -> str | None:
        """Nothing: this service hears whole answers."""
        del key, last, language, seconds
        return None

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        """The whole answer at once."""
        del key, first, last
        return self.transcribe(pcm(), rate=SPEECH_RATE, language=language)

    def choose(self, heard: Heard, *, language: str, among: Sayings, pcm: Callable[[], bytes]) -> None:
        """Nothing: its text is good enough."""
        del pcm, language, among, heard

    def partial(self, key: str) -> str | None:
        """Whole answers only."""
        del key
        return None

    def drop(self, key: str) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def _read(answer: Any) -> tuple[str, tuple[Word, ...]]:
    """Text and words of an answer; ValueError where it has another shape."""
    text = getattr(answer, "text", None)
    if not isinstance(text, str):
        raise ValueError("no text")  # noqa: TRY004 - the value came from a server
    found = [
        Word(str(one.word).strip(), float(one.start), float(one.end)) for one in getattr(answer, "words", None) or ()
    ]
    return text.strip(), tuple(word for word in found if word.word)
