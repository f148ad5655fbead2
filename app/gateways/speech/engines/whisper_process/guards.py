"""What Whisper makes up is no answer: it was trained on subtitles and writes some for noise, too. Pure."""

import re
import unicodedata
import zlib
from collections.abc import Sequence

from .words import Word, text_of

NO_SPEECH, UNSURE, VERY_UNSURE = 0.3, -1.0, -1.4
"""How surely the model says that no one speaks, and how unsure it is of its text (mean logarithm of the chance). For
noise it says at least 0.34 and is no surer than -1.0; for a voice 3 dB above babble, at most 0.16 and at least -0.9."""
COMPRESSION = 2.4
"""Text that packs to less than 1/2.4 repeats itself."""
WORDS_PER_SECOND = 6.0
QUICKER = {"vi": 9.0, "th": 14.0, "zh": 9.0, "ja": 12.0}
"""Where every syllable or sign counts as a word."""
SPARE_WORDS = 2
REPEATS = 4
"""As often in a row no one says the same words; a single word more often than that."""
LONG_SENTENCE = 4
"""Words of a sentence that is said twice only by a recogniser."""
FOREIGN = 0.3
"""Share of letters in other scripts from which on a text is not in its language."""
LATIN_WORDS = 3
"""Words in Latin letters that an answer in another script may consist of: names of products."""

SCRIPTS = {
    "hi": ("DEVANAGARI",),
    "ko": ("HANGUL", "CJK"),
    "zh": ("CJK",),
    "ja": ("HIRAGANA", "KATAKANA", "CJK"),
    "th": ("THAI",),
    "ar": ("ARABIC",),
}
LATIN = ("LATIN",)

CREDITS = re.compile(
    r"amara\.org|subtitles? by|subtitled by|transcri(?:bed|ption) by|legendas? (?:pela|por)"
    r"|subtítulos (?:realizados|por)|sous-titr(?:es|age)|untertitel(?:ung)? (?:der|des|im|von)"
    r"|teksting av|undertekster av|thank(?:s| you) for watching|ご視聴ありがとう|請不吝點贊|请不吝点赞|字幕由"
    r"|시청해 ?주셔서|구독과 좋아요|ترجمة نانسي|اشتركوا في القناة|hãy subscribe|đăng ký kênh|www\.\S+\.(?:com|org|net)",
    re.IGNORECASE,
)
"""Ends of films that it learned from: no one says them in an interview."""
FILLERS = frozenset({"you", "thankyou", "bye", "byebye", "so", "oh", "ah", "uh", "um", "hmm", "mm", "the", "i", "okay"})
"""All that it writes for a breath or a knock, where it is not sure."""
SURE_ENOUGH = 0.5


def is_repeating(text: str) -> bool:
    """Whether it packs so well that it can only be a loop."""
    letters = text.encode()
    return len(letters) / max(1, len(zlib.compress(letters))) > COMPRESSION


def is_too_quick(words: Sequence[Word], seconds: float, language: str) -> bool:
    """Whether a mouth cannot form these words in so much speech."""
    spoken = sum(bool(word.plain) for word in words)
    return (spoken - SPARE_WORDS) / QUICKER.get(language, WORDS_PER_SECOND) > seconds


def is_foreign(text: str, language: str) -> bool:
    """Whether it is written in a script that the language does not use."""
    own = SCRIPTS.get(language, LATIN)
    names = [unicodedata.name(letter, "") for letter in text if letter.isalpha()]
    if not names:
        return False
    native = sum(name.startswith(own) for name in names)
    latin = sum(name.startswith(LATIN) for name in names)
    if own is not LATIN and not native and latin:
        return len(text.split()) > LATIN_WORDS
    return (len(names) - native - (latin if own is not LATIN else 0)) / len(names) >= FOREIGN


def is_made_up(words: Sequence[Word], *, no_speech: float, sure: float, language: str, looped: bool = False) -> bool:
    """Whether the model or the text itself says that no one said it. `sure`: the mean logarithm of the chance;
    `looped`: it repeated itself."""
    text = text_of(words)
    if sure < VERY_UNSURE or (no_speech > NO_SPEECH and (sure < UNSURE or looped)):
        return True
    if CREDITS.search(text) or is_foreign(text, language) or not any(word.plain for word in words):
        return True
    mean = sum(word.sure for word in words) / len(words)
    return "".join(word.plain for word in words) in FILLERS and (mean < SURE_ENOUGH or no_speech > NO_SPEECH)


def without_repeats(words: Sequence[Word]) -> list[Word]:
    """The words without loops, and without a sentence that follows itself."""
    remaining = list(words)
    for length in range(1, 13):
        remaining = _without_loops(remaining, length)
    return _without_doubles(remaining)


def _without_loops(words: list[Word], length: int) -> list[Word]:
    most = REPEATS if length > 1 else 2 * REPEATS
    plain = [word.plain for word in words]
    remaining: list[Word] = []
    place = 0
    while place < len(words):
        times = 1
        while plain[place : place + length] == plain[place + times * length : place + (times + 1) * length]:
            times += 1
        if times >= most and place + length <= len(words):
            remaining += words[place : place + length]
            place += times * length
        else:
            remaining.append(words[place])
            place += 1
    return remaining


def _without_doubles(words: list[Word]) -> list[Word]:
    remaining: list[Word] = []
    latest: list[str] = []
    for sentence in _sentences(words):
        plain = [word.plain for word in sentence]
        if len(plain) < LONG_SENTENCE or plain != latest:
            remaining += sentence
        latest = plain
    return remaining


def _sentences(words: Sequence[Word]) -> list[list[Word]]:
    sentences: list[list[Word]] = [[]]
    for word in words:
        sentences[-1].append(word)
        if word.text[-1] in ".!?。！？।؟":
            sentences.append([])
    return [sentence for sentence in sentences if sentence]
