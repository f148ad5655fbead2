"""The voices and languages of the interface, and what each engine calls them.

The prefixes `vendora-` and `vendorb-` and the twenty-character ids are the interface's. ElevenLabs takes the raw ids
as they are; named voices fall back to a raw id there and to a well-known voice of the OpenAI protocol, unless the
operator's TTS_VOICE_MAP names another. espeak-ng gets variant, pitch (0..99) and pace (words a minute) for each, so
that the sixteen differ audibly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Gender = Literal["woman", "man"]

DEFAULT_VOICE = "vendora-Kate"
DEFAULT_LANGUAGE = "en-US"


@dataclass(frozen=True, slots=True)
class Voice:
    """One `voice_id` of the interface, the name by which people choose it, and its counterparts."""

    voice_id: str
    name: str
    gender: Gender
    variant: str
    pitch: int
    pace: int
    openai: str
    elevenlabs: str


VOICES = {
    voice.voice_id: voice
    for voice in (
        Voice("vendora-Anna", "Anna", "woman", "f1", 45, 152, "nova", "IPgYtHTNLjC7Bq7IPHrm"),
        Voice("vendorb-Onyx", "Onyx", "man", "mike2", 15, 146, "onyx", "bhJUNIXWQQ94l8eI2VUf"),
        Voice("vendorb-Shimmer", "Shimmer", "woman", "linda", 68, 166, "shimmer", "vUmLiNBm6MDcy1NUHaVr"),
        Voice("vendora-Anthony", "Anthony", "man", "klatt4", 50, 156, "echo", "UOIqAnmS11Reiei1Ytkc"),
        Voice("vendora-Kate", "Kate", "woman", "f2", 50, 158, "alloy", "b3jcIbyC3BSnaRu8avEk"),
        Voice("vendora-Amy", "Amy", "woman", "f3", 64, 192, "coral", "uNsWM1StCcpydKYOjKyu"),
        Voice("vendora-Rahul", "Rahul", "man", "m7", 70, 162, "ash", "xF681s0UeE04gsf0mVsJ"),
        Voice("IPgYtHTNLjC7Bq7IPHrm", "Annie", "woman", "Annie", 36, 134, "nova", "IPgYtHTNLjC7Bq7IPHrm"),
        Voice("UOIqAnmS11Reiei1Ytkc", "Arthur", "man", "m1", 38, 148, "echo", "UOIqAnmS11Reiei1Ytkc"),
        Voice("vUmLiNBm6MDcy1NUHaVr", "Belinda", "woman", "belinda", 52, 158, "shimmer", "vUmLiNBm6MDcy1NUHaVr"),
        Voice("bhJUNIXWQQ94l8eI2VUf", "Adam", "man", "adam", 56, 186, "onyx", "bhJUNIXWQQ94l8eI2VUf"),
        Voice("b3jcIbyC3BSnaRu8avEk", "Stephanie", "woman", "steph2", 60, 164, "alloy", "b3jcIbyC3BSnaRu8avEk"),
        Voice("xF681s0UeE04gsf0mVsJ", "Paul", "man", "pablo", 74, 190, "ash", "xF681s0UeE04gsf0mVsJ"),
        Voice("uNsWM1StCcpydKYOjKyu", "Agnes", "woman", "aunty", 28, 136, "coral", "uNsWM1StCcpydKYOjKyu"),
        Voice("BGEU6wFi2uNm6Kje1Yhk", "Michel", "man", "michel", 25, 180, "fable", "BGEU6wFi2uNm6Kje1Yhk"),
        Voice("4kCDY3HJwvO7Zp3con83", "John", "man", "john", 95, 178, "sage", "4kCDY3HJwvO7Zp3con83"),
    )
}

ESPEAK_LANGUAGES = {
    "en-US": "en-us",
    "de-DE": "de",
    "es-419": "es-419",
    "hi-IN": "hi",
    "ja-JP": "ja",
    "pt-BR": "pt-br",
    "fr-FR": "fr",
    "zh-CN": "cmn",
    "ko-KR": "ko",
    "vi-VN": "vi",
    "ar-AE": "ar",
    "no-NO": "nb",
}
"""espeak-ng's voices; th-TH is missing because its Thai drops the vowels."""

LANGUAGES = (*ESPEAK_LANGUAGES, "th-TH")
UNSPACED_LANGUAGES = frozenset({"ja-JP", "zh-CN", "th-TH"})
"""Written without spaces between words."""


def voice(voice_id: str | None) -> Voice:
    """The catalogue's entry; an absent or unknown id gives the interface's default voice."""
    return VOICES.get(voice_id or DEFAULT_VOICE, VOICES[DEFAULT_VOICE])


def engine_voice(engine: str, voice_id: str | None, voice_map: Mapping[str, str]) -> str:
    """What `engine` (`openai` or `elevenlabs`) calls this voice.

    `voice_map` may name it as `engine:voice_id`, as `voice_id`, or as `*` for all others.
    """
    entry = voice(voice_id)
    for name in (f"{engine}:{entry.voice_id}", entry.voice_id, f"{engine}:*", "*"):
        if name in voice_map:
            return voice_map[name]
    return entry.openai if engine == "openai" else entry.elevenlabs


def iso_language(language: str) -> str:
    """The two letters that speech servers take: `no-NO` is `no`, `zh-CN` is `zh`."""
    return language.split("-", maxsplit=1)[0]


def word_count(text: str, language: str) -> int:
    """Words of a text; where words are not spaced, two letters count as one."""
    if language in UNSPACED_LANGUAGES:
        return (sum(character.isalpha() for character in text) + 1) // 2
    return sum(any(character.isalnum() for character in token) for token in text.split())
