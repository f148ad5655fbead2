"""ElevenLabs' realtime recognition: events in and out, without a connection."""

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from app.gateways.speech import catalogue
from app.gateways.speech.engines.remote import refused_with
from app.gateways.speech.ports import SPEECH_RATE

if TYPE_CHECKING:
    from app.gateways.speech.engines.live_answer import Event

SERVER = "the ElevenLabs realtime server"


class ElevenLabsRealtime:
    """The server, and the model that hears. Parley commits, because it knows where the pauses are."""

    server = SERVER

    def __init__(self, address: str, *, api_key: str, model: str) -> None:
        self._address = address.rstrip("/")
        self._model = model
        self.headers = {"xi-api-key": api_key}

    def url(self, language: str) -> str:
        """The whole configuration is in the address."""
        asked = {
            "model_id": self._model,
            "audio_format": f"pcm_{SPEECH_RATE}",
            "language_code": catalogue.iso_language(language),
            "commit_strategy": "manual",
        }
        return f"{self._address}/v1/speech-to-text/realtime?{urlencode(asked)}"

    def dialogue(self, language: str) -> "ElevenLabsDialogue":
        """A new connection's side."""
        del language
        return ElevenLabsDialogue()


class ElevenLabsDialogue:
    """Commits are answered in their order."""

    def __init__(self) -> None:
        self._commits = 0
        self._committed: list[str] = []
        self._partial = ""
        self.is_ready = False

    @property
    def is_settled(self) -> bool:
        """Whether each commit is answered."""
        return len(self._committed) == self._commits

    @property
    def text(self) -> str:
        """What is committed, and what may still change."""
        return " ".join(text for text in (*self._committed, self._partial) if text)

    def receive(self, event: Mapping[str, Any]) -> "list[Event]":
        """Take one event. All kinds of error carry ``error``; other events are ignored."""
        kind = event["message_type"]
        if kind == "session_started":
            self.is_ready = True
        elif kind == "partial_transcript":
            self._partial = event["text"].strip()
        elif kind == "committed_transcript":
            self._committed.append(event["text"].strip())
            self._partial = ""
            if len(self._committed) > self._commits:
                raise ValueError("words that were not committed")
        elif "error" in event:
            raise refused_with(SERVER, kind)
        return []

    def append(self, pcm: bytes) -> "list[Event]":
        """As it is."""
        return [_chunk(pcm, commit=False)]

    def close_stretch(self) -> "list[Event]":
        """A chunk without sound."""
        self._commits += 1
        return [_chunk(b"", commit=True)]


def _chunk(pcm: bytes, *, commit: bool) -> "Event":
    return {
        "message_type": "input_audio_chunk",
        "audio_base_64": base64.b64encode(pcm).decode(),
        "commit": commit,
        "sample_rate": SPEECH_RATE,
    }
