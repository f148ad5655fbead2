"""The few things a candidate can say to the agent instead of an answer, in every language of the interface.

Only a whole short utterance counts: "next question, I said to the nurse, is ..." is an answer. What alone could be an
answer ("again", "wiederholen") needs the words that make it a request. The words are in commands.toml.
"""

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

from app.conversation.script.machine import Event

_WORDS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_COMPACT = frozenset(("ja", "zh", "th", "ko"))
"""Compared without spaces: unspaced, or spaced by taste."""
_FOLDED = frozenset(("en", "de", "es", "pt", "fr", "no"))
"""Compared without accents."""
_EVENTS = {
    Event.REPEAT: "repeat",
    Event.SKIP: "skip",
    Event.THINK: "think",
    Event.STOP: "stop",
    Event.HELLO: "hello",
    Event.THERE: "there",
    Event.WHO: "who",
    Event.LONG: "long",
}

LONGEST = 80
"""Characters; whatever is longer is an answer."""

_ARABIC = str.maketrans("أإآٱةى", "ااااهي", "ـ")
_HINDI = str.maketrans({"ँ": "ं", "़": None})
_MARKS_OF_ARABIC = re.compile("[\u064b-\u0652\u0670]")


def spoken_command(text: str, language: str) -> Event | None:
    """What the whole utterance asks for in ``language`` (``en-US`` and so on): REPEAT, SKIP, HELLO and so on."""
    patterns = _patterns(short_of(language))
    said = plain(text, language) if patterns and len(text) <= LONGEST else ""
    return next((event for event, pattern in patterns.items() if said and pattern.fullmatch(said)), None)


def confirmed(text: str, language: str) -> bool | None:
    """Whether the whole utterance says yes or no to "do you want to end?"; None where it says something else.

    What could be either ("dạ không") is a no, because an end cannot be undone.
    """
    short = short_of(language)
    said = plain(text, language) if short in _WORDS and len(text) <= LONGEST else ""
    if said and _whole(short, "no").fullmatch(said):
        return False
    return True if said and _whole(short, "yes").fullmatch(said) else None


def words_of(language: str, name: str) -> list[str]:
    """The patterns of commands.toml under ``repeat``, ``yes``, ``before`` and so on."""
    return _WORDS.get(short_of(language), {}).get(name, [])


def is_compact(language: str) -> bool:
    """Whether texts of the language are compared without spaces."""
    return short_of(language) in _COMPACT


def short_of(language: str) -> str:
    """The two letters of a language such as `en-US`."""
    return language.split("-", maxsplit=1)[0]


def _patterns(short: str) -> dict[Event, re.Pattern[str]]:
    return {event: _whole(short, name) for event, name in _EVENTS.items()} if short in _WORDS else {}


@cache
def _whole(short: str, name: str) -> re.Pattern[str]:
    """What is meant, between any number of words of politeness; people who are not heard say it up to three times."""
    gap = "" if short in _COMPACT else " "
    words = _WORDS[short]
    before, core, after = (
        _any_of(part, short) for part in (words["greeting"] + words["before"], words[name], words["after"])
    )
    once = f"(?:{before}{gap})*{core}(?:{gap}{after})*"
    return re.compile(f"{once}(?:{gap}{once}){{0,2}}")


def _any_of(choices: list[str], short: str) -> str:
    return "(?:" + "|".join(f"(?:{alike(choice, short)})" for choice in choices) + ")"


def alike(text: str, language: str) -> str:
    """In one spelling: case, accents and vowel marks as far as recognisers and hurried typists differ in them."""
    short = short_of(language)
    text = unicodedata.normalize("NFKC", text).lower()
    if short in _FOLDED:
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    if short == "ar":
        text = _MARKS_OF_ARABIC.sub("", text).translate(_ARABIC)
    if short == "hi":
        text = unicodedata.normalize("NFD", text).translate(_HINDI)
    return text.replace(" ", "") if short in _COMPACT else text


def plain(text: str, language: str) -> str:
    """Letters and digits, with single spaces where the language has any."""
    letters = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in alike(text, language))
    return ("" if is_compact(language) else " ").join(letters.split())
