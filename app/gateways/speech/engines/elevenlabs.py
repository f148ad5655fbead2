"""ElevenLabs and servers that speak its protocol: speech with character times, recognition with word times."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from app.core.errors import GatewayError
from app.gateways.speech import catalogue
from app.gateways.speech.engines.elevenlabs_realtime import ElevenLabsRealtime
from app.gateways.speech.engines.live import HeardLive
from app.gateways.speech.engines.remote import Remote, model_for
from app.gateways.speech.ports import Heard, Spoken, Word
from app.gateways.speech.sound import wav

RATE = 24_000
SPEECH_MODEL, RECOGNITION_MODEL = "eleven_flash_v2_5", "scribe_v2"
SERVER = "the ElevenLabs server"


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise GatewayError(f"{SERVER} did not send JSON", retryable=True) from error


class ElevenLabsSpeaker:
    """`/v1/text-to-speech/{voice}/with-timestamps`, PCM at 24 kHz."""

    name = "elevenlabs"

    def __init__(
        self, address: str, *, api_key: str, voice_map: Mapping[str, str], timeout: float, models: Mapping[str, str]
    ) -> None:
        self._remote = Remote(SERVER, address, headers={"xi-api-key": api_key}, timeout=timeout)
        self._voice_map = voice_map
        self._models = models

    def supports(self, language: str) -> bool:
        """Every language of the interface."""
        return language in catalogue.LANGUAGES

    def identity(self, voice_id: str | None, language: str) -> str:
        """Model and voice."""
        return f"elevenlabs:{self._model(language)}:{catalogue.engine_voice('elevenlabs', voice_id, self._voice_map)}"

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """Nothing takes time here that could be done before."""

    def speak(self, text: str, *, voice_id: str | None, language: str, steady: str | None = None) -> Spoken:
        """Speech and the times of its words from the character times."""
        del steady  # its voices do not change with what is installed
        voice = catalogue.engine_voice("elevenlabs", voice_id, self._voice_map)
        body = self._remote.post(
            f"/v1/text-to-speech/{voice}/with-timestamps",
            params={"output_format": f"pcm_{RATE}"},
            json={
                "text": text,
                "model_id": self._model(language),
                "language_code": catalogue.iso_language(language),
            },
        )
        answer = _parsed(body)
        try:
            pcm = base64.b64decode(answer["audio_base64"], validate=True)
            words = _words_of(answer.get("alignment"))
        except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
            raise GatewayError(f"{SERVER} sent unreadable audio", retryable=True) from error
        return Spoken(pcm[: len(pcm) // 2 * 2], RATE, words, self.name)

    def close(self) -> None:
        """Close the connections."""
        self._remote.close()

    def _model(self, language: str) -> str:
        return model_for(language, overrides=self._models, default=SPEECH_MODEL)


def _words_of(alignment: Any) -> tuple[Word, ...]:
    """Runs of characters without spaces, each from its first character's start to its last one's end."""
    if not alignment:
        return ()
    words: list[Word] = []
    run: list[tuple[str, float, float]] = []
    letters = zip(
        alignment["characters"],
        alignment["character_start_times_seconds"],
        alignment["character_end_times_seconds"],
        strict=True,
    )
    for character, start, end in [*letters, (" ", 0.0, 0.0)]:
        if not character.isspace():
            run.append((character, float(start), float(end)))
        elif run:
            words.append(Word("".join(one for one, _, _ in run), run[0][1], run[-1][2]))
            run = []
    return tuple(words)


class ElevenLabsTranscriber(HeardLive):
    """Scribe: `/v1/speech-to-text` with word times; with a `realtime_model`, also while an answer is spoken."""

    name = "elevenlabs"

    def __init__(
        self, address: str, *, api_key: str, timeout: float, model: str = RECOGNITION_MODEL, realtime_model: str = ""
    ) -> None:
        live = ElevenLabsRealtime(address, api_key=api_key, model=realtime_model) if realtime_model else None
        super().__init__(live)
        self._remote = Remote(SERVER, address, headers={"xi-api-key": api_key}, timeout=timeout)
        self._model = model

    def supports(self, language: str) -> bool:
        """Every language of the interface."""
        return language in catalogue.LANGUAGES

    def transcribe(self, pcm: bytes, *, rate: int, language: str) -> Heard:
        """One whole answer."""
        body = self._remote.post(
            "/v1/speech-to-text",
            data={
                "model_id": self._model,
                "language_code": catalogue.iso_language(language),
                "timestamps_granularity": "word",
                "tag_audio_events": "false",
            },
            files={"file": ("answer.wav", wav(pcm, rate), "audio/wav")},
        )
        answer = _parsed(body)
        try:
            words = tuple(
                Word(str(one["text"]), float(one["start"]), float(one["end"]))
                for one in answer["words"]
                if one["type"] == "word"
            )
            return Heard(str(answer["text"]).strip(), words, self.name)
        except (KeyError, TypeError, ValueError) as error:
            raise GatewayError(f"{SERVER} sent an unreadable transcript", retryable=True) from error

    def close(self) -> None:
        """Close the connections."""
        super().close()
        self._remote.close()
