"""Finds mentions in a text: ``@`` and a name or an address. Pure."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nameable:
    """A member who can be mentioned: id, full name if there is one, address."""

    id: str
    name: str | None
    email: str


def handles(people: Iterable[Nameable]) -> dict[str, str]:
    """Id to a unique handle: the name, or the address where two members share a name."""
    everyone = list(people)
    count = Counter(_folded(one.name) for one in everyone if one.name)
    addresses = {_folded(one.email) for one in everyone}
    return {
        one.id: " ".join(one.name.split())
        if one.name and one.name.strip() and count[_folded(one.name)] == 1 and _folded(one.name) not in addresses
        else one.email
        for one in everyone
    }


def named(text: str, people: Iterable[Nameable]) -> dict[str, str]:
    """Id to the handle in the text, for each of ``people`` who is mentioned by address or unique name."""
    if "@" not in text:
        return {}
    everyone = list(people)
    ids = {_folded(one.email): one.id for one in everyone}
    ids |= {_folded(words): who for who, words in handles(everyone).items()}
    names: dict[str, str] = {}
    for said in _pattern(ids).findall(text):
        names.setdefault(ids[_folded(said)], said)
    return names


def pieces(text: str, said: Iterable[str]) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is one of the mentions ``said``."""
    words = [one for one in said if one]
    if not words:
        return [(text, False)]
    parts, at = [], 0
    for match in _pattern(words).finditer(text):
        parts += [(text[at : match.start()], False), (match.group(), True)]
        at = match.end()
    return [piece for piece in [*parts, (text[at:], False)] if piece[0]]


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """``@`` and one of the handles, the longest that matches; never within a word or an address."""
    longest_first = sorted(words, key=len, reverse=True)
    either = "|".join(r"\s+".join(re.escape(part) for part in one.split()) for one in longest_first)
    return re.compile(rf"(?<![\w@.+-])@({either})(?![\w@]|[.-]\w)", re.IGNORECASE)


def _folded(words: str | None) -> str:
    return " ".join((words or "").casefold().split())
