"""The sounds that Kokoro was trained with, one letter each: from espeak-ng's IPA and from Japanese readings."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

DIPHTHONGS = {"aɪ": "I", "aʊ": "W", "eɪ": "A", "ɔɪ": "Y", "dʒ": "ʤ", "tʃ": "ʧ", "ts": "ʦ", "dz": "ʣ"}
AMERICAN = {"oʊ": "O", "ɜːɹ": "ɜɹ", "ɜː": "ɜɹ", "ɪə": "iə", "ː": ""}
BRITISH = {"əʊ": "Q", "eə": "ɛː", "iə": "ɪə"}
ENGLISH = {
    "ʔ": "t",
    "əl": "ᵊl",
    "ɚ": "əɹ",
    "r": "ɹ",
    "x": "k",
    "ç": "k",
    "ɐ": "ə",
    "ɬ": "l",
    "ɾ": "T",
    "ʲ": "",
    "e": "A",
    "o": "ɔ",
}
"""Each of Kokoro's English sounds that espeak-ng writes in another way."""
FLAGS = re.compile(r"\([a-z-]+\)")
SYLLABIC, NASAL, TIE = "\u0329", "\u0303", "\u0361"
MARKS = frozenset("ˈˌːˑʲᵊ")

_VOWELS = "aiɯeo"
_ROWS = {
    "アイウエオ": ("", "", "", "", ""),
    "カキクケコ": ("k", "kʲ", "k", "k", "k"),
    "ガギグゲゴ": ("ɡ", "ɡʲ", "ɡ", "ɡ", "ɡ"),
    "サシスセソ": ("s", "ɕ", "s", "s", "s"),
    "ザジズゼゾ": ("ʣ", "ʥ", "z", "ʣ", "ʣ"),
    "タチツテト": ("t", "ʨ", "ʦ", "t", "t"),
    "ダヂヅデド": ("d", "ʥ", "z", "d", "d"),
    "ナニヌネノ": ("n", "ɲ", "n", "n", "n"),
    "ハヒフヘホ": ("h", "ç", "ɸ", "h", "h"),
    "バビブベボ": ("b", "bʲ", "b", "b", "b"),
    "パピプペポ": ("p", "pʲ", "p", "p", "p"),
    "マミムメモ": ("m", "mʲ", "m", "m", "m"),
    "ラリルレロ": ("ɾ", "ɾʲ", "ɾ", "ɾ", "ɾ"),
}
_FRONTED = "スズツヅ"
"""Syllables whose u is spoken further in front."""
KANA = {
    kana: consonant + ("ɨ" if kana in _FRONTED else vowel)
    for row, consonants in _ROWS.items()
    for kana, consonant, vowel in zip(row, consonants, _VOWELS, strict=True)
} | {"ヤ": "ja", "ユ": "jɯ", "ヨ": "jo", "ワ": "βa", "ヲ": "o", "ヴ": "vɯ", "ヰ": "i", "ヱ": "e", "ッ": "ʔ", "ー": "ː"}
SMALL_Y = {"ャ": "a", "ュ": "ɨ", "ョ": "o"}
SMALL_VOWELS = dict(zip("ァィゥェォ", _VOWELS, strict=True))
PUNCTUATION = {"。": ".", "、": ",", "?": "?", "!": "!", "「": "“", "」": "”", "・": " "}
_BEFORE_LIPS, _BEFORE_BACK, _BEFORE_TEETH = frozenset("pbm"), frozenset("kɡ"), frozenset("tdnsʣʥʦʨzɾɕɲ")


def letters(sounds: str) -> str:
    """Only the sounds, without stress, length, spaces and punctuation."""
    return "".join(sound for sound in sounds if sound.isalpha() and sound not in MARKS)


def of_espeak(ipa: str, voice: str) -> str:
    """espeak-ng's IPA, as its `voice` gives it, in Kokoro's letters."""
    text = unicodedata.normalize("NFC", FLAGS.sub("", ipa).replace(TIE, ""))
    tables = [DIPHTHONGS]
    if voice.startswith("en"):
        text = re.sub(rf"(\S){SYLLABIC}", r"ᵊ\1", text).replace(NASAL, "")
        tables = [{**DIPHTHONGS, **(BRITISH if voice == "en-gb" else AMERICAN)}, ENGLISH]
    for table in tables:
        for theirs in sorted(table, key=len, reverse=True):
            text = text.replace(theirs, table[theirs])
    return text.replace(SYLLABIC, "").strip()


def japanese(reading: str) -> str:
    """A reading in katakana in Kokoro's letters."""
    sounds: list[str] = []
    for kana in reading:
        before = sounds[-1] if sounds else ""
        if kana in SMALL_Y and before.endswith("i"):
            sounds[-1] = before[:-1] + SMALL_Y[kana]
        elif kana in SMALL_VOWELS and before:
            sounds[-1] = _joined(before, SMALL_VOWELS[kana])
        elif kana == "ン":
            sounds.append("ɴ")
        elif kana in KANA:
            sounds.append(KANA[kana])
    return _assimilated("".join(sounds))


def _joined(before: str, vowel: str) -> str:
    """A syllable whose vowel a small one replaces: te and i are ti, ku and a are kwa, u and i are wi."""
    consonant = before[:-1]
    if before == "ɯ":
        return f"β{vowel}"
    if consonant in {"k", "ɡ"}:
        return f"{consonant}ᵝ{vowel}"
    if vowel == "i" and consonant in {"t", "d", "ʦ", "ɸ", "v"}:
        return f"{consonant}ʲi"
    return consonant + vowel


def _assimilated(sounds: str) -> str:
    """The syllabic n as it is before what follows."""
    result = []
    for sound, following in zip_longest(sounds, sounds[1:], fillvalue=""):
        if sound != "ɴ" or following == "":
            result.append(sound)
        elif following in _BEFORE_LIPS:
            result.append("m")
        elif following in _BEFORE_BACK:
            result.append("ŋ")
        else:
            result.append("n" if following in _BEFORE_TEETH else "ɴ")
    return "".join(result)


def japanese_sentence(nodes: Sequence[Any]) -> str:
    """Open JTalk's words as sounds: what belongs to one phrase is joined, the others are apart."""
    sentence = ""
    for node in nodes:
        sounds = japanese(node["pron"])
        if not letters(sounds):
            sentence = sentence.rstrip() + "".join(PUNCTUATION.get(sign, "") for sign in node["string"]) + " "
        elif node["chain_flag"] == 1 or not sentence:
            sentence = sentence.rstrip() + sounds
        else:
            sentence = f"{sentence.rstrip()} {sounds}"
    return sentence.strip()
