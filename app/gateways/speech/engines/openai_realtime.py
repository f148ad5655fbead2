"""OpenAI's Realtime API as far as transcription needs it: events in and out, without a connection.

The form of its general availability: `session.update` with `type: transcription`, sound at 24 kHz, and no detection of
turns by the server, because a commit belongs into a pause that Parley has found.
"""

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.core.errors import GatewayError
from app.gateways.speech import catalogue
from app.gateways.speech.engines.remote import refused_with
from app.gateways.speech.ports import SAMPLE_BYTES, SPEECH_RATE

if TYPE_CHECKING:
    import numpy as np

    from app.gateways.speech.engines.live_answer import Event

SERVER = "the Realtime server"
RATE = 24_000
SEVERAL_LANGUAGES = ("gpt-transcribe", "gpt-live-transcribe")
"""Models that take a list of languages instead of one."""
MOST_ITEMS = 2_000
"""Committed stretches of one answer; more of them is nonsense."""
_TRANSCRIPTION = "conversation.item.input_audio_transcription."


class OpenAiRealtime:
    """The server of a base URL, and the model that hears."""

    server = SERVER

    def __init__(self, address: str, *, api_key: str, model: str) -> None:
        self._address = address.rstrip("/")
        self._model = model
        self.headers = {"Authorization": f"Bearer {api_key or 'none'}"}

    def url(self, language: str) -> str:
        """The same for all languages."""
        del language
        return f"{self._address}/realtime?intent=transcription"

    def dialogue(self, language: str) -> "OpenAiDialogue":
        """A new connection's side."""
        code = catalogue.iso_language(language)
        named = {"languages": [code]} if self._model.startswith(SEVERAL_LANGUAGES) else {"language": code}
        return OpenAiDialogue({"model": self._model, **named})


class OpenAiDialogue:
    """Each commit makes an item, in this order; the words of items may come in any."""

    def __init__(self, transcription: Mapping[str, Any]) -> None:
        self._transcription = transcription
        self._upsampler = Upsampler()
        self._commits = 0
        self._order: list[str] = []
        self._texts: dict[str, str] = {}
        self._done: set[str] = set()
        self.is_ready = False

    @property
    def is_settled(self) -> bool:
        """Whether each commit has its item and each item its final words."""
        return len(self._order) == self._commits and self._done.issuperset(self._order)

    @property
    def text(self) -> str:
        """Items that are not committed yet are the newest."""
        ids = [*self._order, *(one for one in self._texts if one not in self._order)]
        return " ".join(text for one in ids if (text := self._texts.get(one, "").strip()))

    def receive(self, event: Mapping[str, Any]) -> "list[Event]":
        """Take one event; those that say nothing about words are ignored."""
        kind = event["type"]
        if kind == "session.created":
            return [self._session()]
        if kind == "session.updated":
            self._check(event["session"])
            self.is_ready = True
        elif kind == "input_audio_buffer.committed":
            self._order.append(_name(event))
            if len(self._order) > self._commits:
                raise ValueError("an item that was not committed")
        elif kind == f"{_TRANSCRIPTION}delta":
            self._write(_name(event), event.get("delta") or "", more=True)
        elif kind == f"{_TRANSCRIPTION}completed":
            self._write(_name(event), event["transcript"], more=False)
            self._done.add(_name(event))
        elif kind in {"error", f"{_TRANSCRIPTION}failed"}:
            raise refused_with(SERVER, event["error"].get("code"))
        return []

    def append(self, pcm: bytes) -> "list[Event]":
        """At the rate of the protocol."""
        return self._sound(self._upsampler.take(pcm))

    def close_stretch(self) -> "list[Event]":
        """With the last moment of sound, which waited for what follows it."""
        self._commits += 1
        return [*self._sound(self._upsampler.end()), {"type": "input_audio_buffer.commit"}]

    def _session(self) -> "Event":
        sound = {
            "format": {"type": "audio/pcm", "rate": RATE},
            "transcription": self._transcription,
            "turn_detection": None,
        }
        return {"type": "session.update", "session": {"type": "transcription", "audio": {"input": sound}}}

    def _check(self, session: Mapping[str, Any]) -> None:
        """Servers with an older form of the protocol ignore what they do not know, and go on without it."""
        sound = session["audio"]["input"]
        rate, model = (sound.get("format") or {}).get("rate", RATE), sound["transcription"].get("model")
        if sound.get("turn_detection") is not None or rate != RATE or model not in {None, self._transcription["model"]}:
            raise GatewayError(f"{SERVER} does not use the settings it was given", retryable=False)

    def _write(self, name: str, text: str, *, more: bool) -> None:
        if not isinstance(text, str):
            raise TypeError("no text")
        if name in self._done:
            return
        self._texts[name] = self._texts.get(name, "") + text if more else text
        if len(self._texts) > MOST_ITEMS:
            raise ValueError("too many items")

    def _sound(self, pcm: bytes) -> "list[Event]":
        return [{"type": "input_audio_buffer.append", "audio": base64.b64encode(pcm).decode()}] if pcm else []


def _name(event: Mapping[str, Any]) -> str:
    name = event["item_id"]
    if not isinstance(name, str):
        raise TypeError("no item")
    return name


class Upsampler:
    """16 to 24 kHz, piece by piece: three samples for two, each from the 33 around it, without a seam."""

    def __init__(self) -> None:
        self._held = bytes(HALF * SAMPLE_BYTES)

    def take(self, pcm: bytes) -> bytes:
        """All samples but those that need the next piece."""
        import numpy as np

        held = np.frombuffer(self._held + pcm[: len(pcm) // SAMPLE_BYTES * SAMPLE_BYTES], "<i2")
        pairs = max(0, (len(held) - 2 * HALF) // 2)
        self._held = held[2 * pairs :].tobytes()
        if not pairs:
            return b""
        around = np.lib.stride_tricks.sliding_window_view(held[: 2 * pairs + 2 * HALF].astype(np.float64), 2 * HALF + 1)
        made = around[: 2 * pairs : 2] @ _kernels().T
        return np.clip(np.rint(made), -32768, 32767).astype("<i2").tobytes()

    def end(self) -> bytes:
        """The rest, as if silence followed; then begin again."""
        rest = self.take(bytes((HALF + 1) * SAMPLE_BYTES))
        self._held = bytes(HALF * SAMPLE_BYTES)
        return rest


HALF = 16
"""Samples on each side of a new one that decide on it: 1 ms."""


def _kernels() -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """A row for each of the three new samples: a windowed sinc at 0, 2/3 and 4/3 samples after the middle."""
    import numpy as np

    places = np.arange(-HALF, HALF + 1) - SPEECH_RATE / RATE * np.arange(3)[:, None]
    kernels = np.sinc(places) * np.cos(np.pi / 2 * np.clip(places / (HALF + 1), -1, 1)) ** 2
    return np.asarray(kernels / kernels.sum(axis=1, keepdims=True))
