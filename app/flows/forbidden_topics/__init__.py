"""Topics that an interview may not ask about, such as age, family, health and religion: rules of words, no model.

Each language has a file of patterns in ``rules/``. They look for questions about the candidate, not for words alone: a
nurse may be asked about sick patients. A pattern cannot know the law of a country or the reason for a question,
so a person can overrule what it finds.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from app.gateways.speech.catalogue import iso_language

_RULES = Path(__file__).with_name("rules")
_UNBROKEN = frozenset({"ar", "hi", "ja", "ko", "th", "zh"})
"""Languages whose words carry prefixes or endings, or have no spaces: their patterns may begin inside a word."""
_TAKEN_OUT = "\N{MIDDLE DOT}"
_MARKS = {ord(mark): "'" for mark in "\u2018\u2019\u02bc\u00b4`"} | dict.fromkeys(
    [*range(0x064B, 0x0653), 0x0640, 0x093C]
)
"""Apostrophes become one. Arabic vowel signs and stretched letters and the dot of Hindi go: writers use them or not."""
_SARA_AM, _SARA_AM_APART = "\u0e33", "\u0e4d\u0e32"
"""A Thai vowel that compatible normalization takes apart."""
_NAME = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True, slots=True)
class Topic:
    """A forbidden topic: its name on pages, and why it is one, as a sentence."""

    id: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """A topic that a text asks about, with the words that show it, as they are written."""

    topic: Topic
    words: tuple[str, ...]


TOPICS = {
    topic.id: topic
    for topic in (
        Topic(
            "age",
            "age",
            "Age says nothing about how someone works, and selecting candidates on the basis of age is unlawful in "
            "most countries.",
        ),
        Topic(
            "family",
            "family and marital status",
            "Family and marital status are private. Ask about working hours or travel instead.",
        ),
        Topic(
            "pregnancy",
            "pregnancy and family planning",
            "Selecting candidates on the basis of pregnancy or family planning is sex discrimination.",
        ),
        Topic(
            "health",
            "health, disability and physical characteristics",
            "Health is private. Ask whether the candidate can do the tasks of the job.",
        ),
        Topic("religion", "religion", "Belief is private. Ask whether the candidate can work the hours of the job."),
        Topic(
            "origin",
            "origin, nationality and ethnicity",
            "Origin says nothing about how someone works. Ask whether the candidate has the right to work in the "
            "country of the job, or how well they speak a language that the job requires.",
        ),
        Topic(
            "orientation",
            "gender and sexual orientation",
            "Gender and sexual orientation say nothing about how someone works.",
        ),
        Topic("politics", "political opinions", "Political opinions are private and have nothing to do with the work."),
        Topic(
            "union",
            "union membership",
            "Joining a union is a right, and selecting candidates on the basis of union membership is unlawful in most "
            "countries.",
        ),
        Topic(
            "criminal_record",
            "criminal records",
            "Many places forbid this question, or allow it only after an offer and for certain jobs.",
        ),
        Topic(
            "finances",
            "finances and earlier pay",
            "Private finances say nothing about how someone works, and many places forbid questions about earlier pay. "
            "Ask what the candidate expects to earn.",
        ),
    )
}


def check(text: str, language: str) -> tuple[Found, ...]:
    """The forbidden topics that the text asks about, in the order of ``TOPICS``.

    ``language`` is a tag such as ``de-DE``. A language without rules finds nothing; every language of flows has some.
    """
    rules = _rules(iso_language(language))
    plain = rules.without_lawful(_plain(text))
    matches = [(name, match.group().strip()) for name, pattern in rules.topics for match in pattern.finditer(plain)]
    by_topic = groupby(sorted(matches, key=lambda one: list(TOPICS).index(one[0])), key=lambda one: one[0])
    return tuple(Found(TOPICS[name], tuple(dict.fromkeys(words for _, words in found))) for name, found in by_topic)


@dataclass(frozen=True, slots=True)
class _Rules:
    lawful: re.Pattern[str]
    topics: tuple[tuple[str, re.Pattern[str]], ...]

    def without_lawful(self, text: str) -> str:
        return self.lawful.sub(_TAKEN_OUT, text)


@cache
def _rules(short: str) -> _Rules:
    path = _RULES / f"{short}.toml"
    source = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    words: dict[str, str] = source.get("words", {})

    def compiled(patterns: list[str]) -> re.Pattern[str]:
        whole = "|".join(_folded(_filled(pattern, words)) for pattern in patterns) or "(?!)"
        return re.compile(f"(?:{whole})" if short in _UNBROKEN else rf"(?<!\w)(?:{whole})(?!\w)", re.IGNORECASE)

    topics = tuple((name, compiled(patterns)) for name, patterns in source.get("topics", {}).items())
    return _Rules(compiled(source.get("lawful", [])), topics)


def _filled(pattern: str, words: dict[str, str]) -> str:
    """The pattern with each ``{name}`` replaced by its words, which may name others."""
    while name := _NAME.search(pattern):
        pattern = pattern[: name.start()] + words[name[1]] + pattern[name.end() :]
    return pattern


def _folded(text: str) -> str:
    """With one form for each letter and each apostrophe: for texts and patterns alike."""
    return unicodedata.normalize("NFC", text).translate(_MARKS)


def _plain(text: str) -> str:
    """One line without invisible characters, folded; wide letters and digits become plain ones."""
    plain = unicodedata.normalize("NFKC", text).replace(_SARA_AM_APART, _SARA_AM)
    return " ".join("".join(sign for sign in _folded(plain) if unicodedata.category(sign) != "Cf").split())
