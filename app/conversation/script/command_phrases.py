"""The sayings of commands.toml one by one, for a recogniser that can choose among them (see `Transcriber.choose`)."""

import re
from functools import cache

from app.conversation.script.commands import is_compact, short_of, words_of
from app.gateways.speech.ports import Sayings

FAINT = frozenset(("um", "uh", "hmm", "so", "well", "for me"))
"""Said around commands too, but a rustle before or after one is taken for them."""
_SHORT_FORMS = re.compile(r"\b(\w+) (t|s|d|m)\b")


@cache
def sayings(language: str, *names: str) -> Sayings:
    """Everything that ``repeat``, ``stop``, ``yes`` and so on may be said as; nothing where words are not spaced."""
    if is_compact(language):
        return Sayings(())
    spoken = _in_english if short_of(language) == "en" else str
    whole = dict.fromkeys(said for name in names for pattern in words_of(language, name) for said in spelt_out(pattern))
    before, after = (tuple(words_of(language, name)) for name in ("before", "after"))
    if "yes" in names:  # people do not lead up to a "yes" politely, and many sentences begin like "let us"
        before = ()
    around = [tuple(spoken(words) for words in part if words not in FAINT) for part in (before, after)]
    return Sayings(tuple(spoken(said) for said in whole), *around)


def _in_english(said: str) -> str:
    """With the short forms of English as dictionaries write them: the patterns are matched without apostrophes."""
    return _SHORT_FORMS.sub(r"\1'\2", said)


def spelt_out(pattern: str) -> list[str]:
    """All that a pattern of letters, ``( | )``, ``?`` and ``*`` matches; what may be repeated is said once at most."""
    phrases, end = _choices(pattern, 0)
    if end != len(pattern):
        raise ValueError(f"no pattern of sayings: {pattern}")
    return list(dict.fromkeys(" ".join(one.split()) for one in phrases))


def _choices(pattern: str, at: int) -> tuple[list[str], int]:
    phrases, at = _sequence(pattern, at)
    while pattern[at : at + 1] == "|":
        more, at = _sequence(pattern, at + 1)
        phrases += more
    return phrases, at


def _sequence(pattern: str, at: int) -> tuple[list[str], int]:
    phrases = [""]
    while at < len(pattern) and pattern[at] not in "|)":
        one = [pattern[at]]
        if pattern[at] == "(":
            one, at = _choices(pattern, at + 1)
        at += 1
        if pattern[at : at + 1] in ("?", "*"):
            one, at = ["", *one], at + 1
        phrases = [begun + more for begun in phrases for more in one]
    return phrases, at
