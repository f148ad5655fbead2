"""Words with their places: cut to the speech, put together across the borders of windows. Pure."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from .detector import Span

BEFORE, AFTER = "\"'“¿([{-«„", "\"'.。,，!！?？:：”)]}、»…;；।؟،"
"""Marks that belong to the word after or before them."""
SAME_PLACE = 0.5
"""Seconds that two windows may differ about the place of one word."""
SHORTEST = 0.02
DETECTED = 0.1
"""Seconds by which the detector hears a voice too late."""


class Word(NamedTuple):
    """One word as it is written, with the space before it; seconds; how sure, 0..1."""

    text: str
    start: float
    end: float
    sure: float

    @property
    def plain(self) -> str:
        """Its letters alone, for comparisons."""
        return "".join(letter for letter in self.text.casefold() if unicodedata.category(letter)[0] in "LMN")


def with_marks(words: Sequence[Word]) -> list[Word]:
    """The words with their punctuation, which the vocabulary counts as words of their own."""
    joined: list[Word] = []
    opening = ""
    for word in words:
        mark = word.text.strip()
        if joined and mark and not opening and not word.text.startswith(" ") and all(sign in AFTER for sign in mark):
            joined[-1] = joined[-1]._replace(text=joined[-1].text + word.text)
        elif mark and word.text.startswith(" ") and all(sign in BEFORE for sign in mark):
            opening = word.text
        else:
            joined.append(word._replace(text=opening + word.text.lstrip() if opening else word.text))
            opening = ""
    return [word for word in joined if word.text.strip()]


def clamped(words: Sequence[Word], speech: Sequence[Span]) -> list[Word]:
    """The words inside the stretches of speech and one after the other: attention wanders into pauses."""
    placed: list[Word] = []
    speech = [Span(max(0.0, span.start - DETECTED), span.end) for span in speech]
    latest = speech[0].start
    for word in words:
        span = max(speech, key=lambda one: _nearness(one, word))
        start = min(max(word.start, span.start, latest), max(span.end - SHORTEST, latest))
        end = max(min(word.end, span.end), start + SHORTEST)
        placed.append(word._replace(start=start, end=end))
        latest = start
    follows = [word.start for word in placed[1:]] + [float("inf")]
    return [
        word._replace(end=max(min(word.end, start), word.start + SHORTEST))
        for word, start in zip(placed, follows, strict=True)
    ]


def _nearness(span: Span, word: Word) -> float:
    """Seconds that they share; below zero: how far apart they are."""
    return min(span.end, word.end) - max(span.start, word.start)


def spliced(left: Sequence[Word], right: Sequence[Word], cut: float) -> list[Word]:
    """The words of two windows that overlap around `cut`, each once."""
    pairs = [
        (abs((one.start + other.start) / 2 - cut), here, there)
        for here, one in enumerate(left)
        for there, other in enumerate(right)
        if one.plain and one.plain == other.plain and abs(one.start - other.start) < SAME_PLACE
    ]
    if pairs:
        _, here, there = min(pairs)
        return [*left[:here], *right[there:]]
    before = [word for word in left if (word.start + word.end) / 2 <= cut]
    latest = before[-1].end if before else 0.0
    return before + [word for word in right if (word.start + word.end) / 2 > cut or word.start >= latest]


def text_of(words: Sequence[Word]) -> str:
    """The words as one text."""
    return " ".join("".join(word.text for word in words).split())
