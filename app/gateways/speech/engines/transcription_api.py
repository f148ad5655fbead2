"""Recognition over `/audio/transcriptions`; word times where the server gives them, never invented ones."""

from collections.abc import Mapping
from typing import Any

from app.gateways.speech import catalogue
from app.gateways.speech.engines.live import HeardLive
from app.gateways.speech.engines.openai_client import OpenAiServer
from app.gateways.speech.engines.openai_realtime import OpenAiRealtime
from app.gateways.speech.engines.remote import Aligner, model_for
from app.gateways.speech.ports import Heard, Word
from app.gateways.speech.sound import wav

SERVER = "the transcription server"
ENGLISH = "en-US"
DEFAULT_MODEL = "whisper-1"


class TranscriptionApiTranscriber(HeardLive):
    """`words`: `auto` and `always` ask for word times, `never` does not (some models refuse to be asked).

    English text without word times is aligned with its sound by `aligner`; other languages keep `words: ()`.
    With a `realtime_model`, the server's Realtime API hears answers while they are spoken.
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
        realtime_model: str = "",
        aligner: Aligner | None = None,
    ) -> None:
        live = OpenAiRealtime(address, api_key=api_key, model=realtime_model) if realtime_model else None
        super().__init__(live)
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
            "model": model_for(language, overrides=self._models, default=self._model),
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

    def close(self) -> None:
        """Close the connections."""
        super().close()
        self._server.close()


def _read(answer: Any) -> tuple[str, tuple[Word, ...]]:
    """Text and words of an answer; ValueError where it has another shape."""
    text = getattr(answer, "text", None)
    if not isinstance(text, str):
        raise ValueError("no text")  # noqa: TRY004 - the value came from a server
    words = [
        Word(str(one.word).strip(), float(one.start), float(one.end)) for one in getattr(answer, "words", None) or ()
    ]
    return text.strip(), tuple(word for word in words if word.word)
