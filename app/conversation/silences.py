"""What a silence means: how long to wait for more of an answer, or whether what was said over the agent were words.

Slow, and blind to the database. ``patience_ms``, ``at_rest_ms`` (where the voice came to rest), ``in_the_air_ms``
(where it stayed up) and ``counts`` are None where nothing is known; then the page goes by the length alone.
"""

from collections.abc import Callable
from typing import Any

from app.conversation.script import patience
from app.conversation.script.commands import spoken_command
from app.core.errors import GatewayError
from app.gateways.speech import believing
from app.gateways.speech.ports import SPEECH_RATE, Transcriber

WORTH_WAITING = 0.6
"""Seconds for the recogniser to say what it has heard; later the answer would come too late to be of use."""
LONGEST_CALL = 8
"""Chunks of an interruption (4 s). Longer ones are not recognised here: the page goes by their length."""

_UNKNOWN = {"patience_ms": None, "at_rest_ms": None, "in_the_air_ms": None}

Sound = Callable[[], bytes | None]


def is_heard_well(transcriber: Transcriber, language: str) -> bool:
    """Whether the words at the end of an answer are worth waiting for."""
    return transcriber.supports(language) and not transcriber.is_demonstration(language)


def pause(
    transcriber: Transcriber, key: str, *, last: int, language: str, begun: bytes = b"", before: str = ""
) -> dict[str, Any]:
    """A pause inside the answer ``key``, whose newest chunk is ``last``, or only ``begun`` by now.

    ``before``: the words of the answer that it continues.
    """
    text = transcriber.peek(key, last=last, language=language, seconds=WORTH_WAITING, begun=begun)
    if text is None:
        return {"text": text, **_UNKNOWN, "counts": None}
    is_more = bool(text) and spoken_command(text, language) is None
    so_far, well = f"{before}\n{text}" if is_more else text, is_heard_well(transcriber, language)
    waits = patience.waits(so_far, language, is_heard_well=well)
    return {"text": text, **waits, "counts": None}


def may_be_over(judged: dict[str, Any], language: str) -> bool:
    """Whether the answer may end in this pause: its words are known, they can end one, and are none to the agent."""
    text, ms = judged["text"], judged["patience_ms"]
    return bool(text) and ms is not None and ms <= patience.SHORT and spoken_command(text, language) is None


def call(
    transcriber: Transcriber, key: str, *, chunks: int, language: str, pcm: Sound, softly: bool = False
) -> dict[str, Any]:
    """Words said over the agent: read apart from the answer's own stream, which is forgotten unless they count.

    ``softly``: much more softly than this candidate speaks. Only what the agent can obey is meant for it then.
    """
    text = _recognised(transcriber, pcm, language=language) if chunks <= LONGEST_CALL else None
    counts = None
    if text is not None:
        is_word = not softly and not patience.is_backchannel(text, language)
        counts = is_word or spoken_command(text, language) is not None
    if not counts:
        transcriber.drop(key)
    return {"text": text, **_UNKNOWN, "counts": counts}


def _recognised(transcriber: Transcriber, pcm: Sound, *, language: str) -> str | None:
    if not transcriber.supports(language):
        return None
    try:
        sound = pcm()
        if sound is None:
            return None
        heard = transcriber.transcribe(sound, rate=SPEECH_RATE, language=language)
    except GatewayError:
        return None
    return heard.text if believing.is_said(heard, sound, language=language) else ""
