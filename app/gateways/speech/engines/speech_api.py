"""Speech over `/audio/speech` of any server with OpenAI's protocol."""

from collections.abc import Mapping
from dataclasses import replace

from app.core.errors import GatewayError
from app.gateways.speech import catalogue
from app.gateways.speech.engines.openai_client import OpenAiServer
from app.gateways.speech.engines.remote import Aligner, model_for
from app.gateways.speech.ports import Spoken
from app.gateways.speech.sound import read_wav

SERVER = "the speech server"
ENGLISH = "en-US"
DEFAULT_MODEL = "gpt-4o-mini-tts"


class SpeechApiSpeaker:
    """Asks for WAV, whose head tells the rate; English word times come from `aligner`, which is closed with it."""

    name = "openai"

    def __init__(
        self,
        address: str,
        *,
        api_key: str,
        timeout: float,
        voice_map: Mapping[str, str],
        model: str = DEFAULT_MODEL,
        models: Mapping[str, str] | None = None,
        aligner: Aligner | None = None,
    ) -> None:
        self._server = OpenAiServer(SERVER, address, api_key=api_key, timeout=timeout)
        self._model = model or DEFAULT_MODEL
        self._models = models or {}
        self._voice_map = voice_map
        self._aligner = aligner

    def supports(self, language: str) -> bool:
        """Every language of the interface; the operator's server decides how well."""
        return language in catalogue.LANGUAGES

    def identity(self, voice_id: str | None, language: str) -> str:
        """Model and voice."""
        return f"openai:{self._model_for(language)}:{catalogue.engine_voice('openai', voice_id, self._voice_map)}"

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """Nothing takes time here that could be done before."""

    def speak(self, text: str, *, voice_id: str | None, language: str, steady: str | None = None) -> Spoken:
        """Speech of any 16-bit mono rate."""
        del steady  # its voices do not change with what is installed
        voice = catalogue.engine_voice("openai", voice_id, self._voice_map)
        body = self._server.ask(
            lambda: self._server.client.audio.speech.create(
                model=self._model_for(language), voice=voice, input=text, response_format="wav"
            ).read()
        )
        try:
            pcm, rate = read_wav(body)
        except ValueError as error:
            raise GatewayError(f"{SERVER} sent audio that is not 16-bit mono WAV", retryable=False) from error
        spoken = Spoken(pcm, rate, (), self.name)
        if language == ENGLISH and self._aligner is not None:
            return replace(spoken, words=self._aligner.align(text, pcm, rate=rate))
        return spoken

    def close(self) -> None:
        """Close the connections."""
        self._server.close()
        if self._aligner is not None:
            self._aligner.close()

    def _model_for(self, language: str) -> str:
        return model_for(language, overrides=self._models, default=self._model)
