"""Speech that is spoken again and again (questions, intro, outro) is synthesized once.

Addressed by content: the same words in the same voice of the same engine are one entry, for every caller. The caller
says what may be kept; text with a candidate's words in it is not.
"""

import hashlib
import json
import logging
from dataclasses import astuple
from typing import Protocol

from app.gateways.speech.ports import Speaker, Spoken, Store, Word

log = logging.getLogger(__name__)
FORMAT = 1


class Identified(Speaker, Protocol):
    """A speaker that can tell what decides on its sound."""

    def identity(self, voice_id: str | None, language: str) -> str:
        """Engine, model, voice and their parameters."""
        ...


def key_of(identity: str, *, language: str, text: str) -> str:
    """The storage key of one piece of speech."""
    content = json.dumps([FORMAT, identity, language, text], ensure_ascii=False)
    return f"speech/{hashlib.sha256(content.encode()).hexdigest()}.spoken"


class CachedSpeaker:
    """Looks before it speaks."""

    def __init__(self, speaker: Identified, store: Store) -> None:
        self._speaker = speaker
        self._store = store

    @property
    def name(self) -> str:
        """The engines behind it."""
        return self._speaker.name

    def supports(self, language: str) -> bool:
        """Whether an engine speaks it."""
        return self._speaker.supports(language)

    def speak(self, text: str, *, voice_id: str | None, language: str, remember: bool = False) -> Spoken:
        """From the store if it is there; a stand-in's voice is never kept in the place of the preferred one."""
        key = key_of(self._speaker.identity(voice_id, language), language=language, text=text)
        kept = self._kept(key)
        if kept is not None:
            return kept
        spoken = self._speaker.speak(text, voice_id=voice_id, language=language)
        if remember and not spoken.fell_back:
            self._store.put(key, pack(spoken))
        return spoken

    def close(self) -> None:
        """Close the engines."""
        self._speaker.close()

    def _kept(self, key: str) -> Spoken | None:
        data = self._store.get(key)
        try:
            return None if data is None else unpack(data)
        except (ValueError, KeyError, TypeError):
            log.warning("cached speech %s cannot be read; it is created again", key)
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
