"""Whether a recognised text can have been said in the sound that it was recognised in.

Recognisers that were trained on subtitles write whole sentences for silence, a cough or a click. So whatever engine it
was, the voice detector is asked too: no text without speech, and no more words than a mouth can form in that time.
"""

from collections.abc import Callable, Iterable

from app.gateways.speech import silence
from app.gateways.speech.catalogue import word_count
from app.gateways.speech.ports import SAMPLE_BYTES, SPEECH_RATE, Heard

WORDS_PER_SECOND = 6.0
"""Faster speech is not understood; hurried English has about 4.5 words in a second of speech."""
QUICKER = {"vi-VN": 9.0, "th-TH": 10.0}
"""Where every syllable is a word of its own, or has more letters than `word_count` takes for a word."""
SPARE_WORDS = 2
"""Short words run together ("I don't know"), and the detector comes a little late."""
LOOKED_FOR = 3.0
"""Seconds of speech that are looked for at most, since someone waits: what is invented is short or alone."""

Pieces = Callable[[], Iterable[bytes]]


def can_be(text: str, pieces: Pieces, *, seconds: float, language: str) -> bool:
    """Whether ``text`` may have been said in ``seconds`` of 16 kHz sound. GatewayError of ``pieces`` passes through."""
    least = _least_seconds(text, language)
    wanted = min(least, LOOKED_FOR)
    return least <= seconds and (wanted <= 0 or silence.seconds_up_to(pieces(), most=wanted) >= wanted)


def is_said(heard: Heard, pcm: bytes, *, language: str) -> bool:
    """Whether there are words, and the whole sound (16 kHz) holds speech, and enough of it for them."""
    if not heard.text or was_measured(heard, language=language):
        return bool(heard.text)
    seconds = len(pcm) / (SAMPLE_BYTES * SPEECH_RATE)
    return silence.has_speech([pcm]) and can_be(heard.text, lambda: [pcm], seconds=seconds, language=language)


def was_measured(heard: Heard, *, language: str) -> bool:
    """Whether the engine has asked the detector itself, and it found enough speech for the text."""
    return bool(heard.text) and (heard.spoken or 0.0) >= max(silence.LEAST_SPEECH, _least_seconds(heard.text, language))


def _least_seconds(text: str, language: str) -> float:
    return (word_count(text, language) - SPARE_WORDS) / QUICKER.get(language, WORDS_PER_SECOND)
