"""Speech that is spoken again and again (questions, intro, outro) is synthesized once.

Addressed by content: the same words in the same voice of the same engine are one entry, for every caller. The caller
says what may be kept; text with a candidate's words in it is not.
"""

import hashlib
import json
import logging
from dataclasses import astuple

from app.gateways.speech.ports import Speaker, Spoken, Store, Word

log = logging.getLogger(__name__)
FORMAT = 2
"""Raised when speech that was kept would no longer sound the same; 2: at one loudness."""


def key_of(identity: str, *, language: str, text: str) -> str:
    """The storage key of one piece of speech."""
    content = json.dumps([FORMAT, identity, language, text], ensure_ascii=False)
    return f"speech/{hashlib.sha256(content.encode()).hexdigest()}.spoken"


class CachedSpeaker:
    """Looks before it speaks."""

    def __init__(self, speaker: Speaker, store: Store) -> None:
        self._speaker = speaker
        self._store = store

    @property
    def name(self) -> str:
        """The engines behind it."""
        return self._speaker.name

    def supports(self, language: str) -> bool:
        """Whether an engine speaks it."""
        return self._speaker.supports(language)

    def identity(self, voice_id: str | None, language: str) -> str:
        """The voice that speaks now."""
        return self._speaker.identity(voice_id, language)

    def prepare(self, *, voice_id: str | None, language: str, steady: str | None = None) -> None:
        """What is not in the store will be spoken by an engine."""
        self._speaker.prepare(voice_id=voice_id, language=language, steady=steady)

    def speak(
        self, text: str, *, voice_id: str | None, language: str, remember: bool = False, steady: str | None = None
    ) -> Spoken:
        """From the store if it is there; a stand-in's voice is never kept in the place of the preferred one."""
        key = key_of(steady or self._speaker.identity(voice_id, language), language=language, text=text)
        cached = self._cached(key)
        if cached is not None:
            return cached
        spoken = self._speaker.speak(text, voice_id=voice_id, language=language, steady=steady)
        if remember and not spoken.fell_back:
            self._store.put(key, pack(spoken))
        return spoken

    def close(self) -> None:
        """Close the engines."""
        self._speaker.close()

    def _cached(self, key: str) -> Spoken | None:
        data = self._store.get(key)
        try:
            return None if data is None else unpack(data)
        except (ValueError, KeyError, TypeError):
            log.warning("cached speech %s cannot be read; generating it again", key)
            return None


def pack(spoken: Spoken) -> bytes:
    """One line of JSON, then the samples."""
    head = {"rate": spoken.rate, "engine": spoken.engine, "words": [astuple(word) for word in spoken.words]}
    return json.dumps({**head, "bytes": len(spoken.pcm)}).encode() + b"\n" + spoken.pcm


def unpack(data: bytes) -> Spoken:
    """Raises ValueError, KeyError or TypeError for anything that `pack` did not write whole."""
    line, _, pcm = data.partition(b"\n")
    head = json.loads(line)
    if head["bytes"] != len(pcm):
        raise ValueError("cut off")
    return Spoken(pcm, head["rate"], tuple(Word(*word) for word in head["words"]), head["engine"])
