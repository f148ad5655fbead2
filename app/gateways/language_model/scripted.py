"""The honest agent without a language model: reads the script, one fixed follow-up, an extract, no invented scores."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from app.gateways.speech import phrases
from app.gateways.speech.calls import Call
from app.gateways.speech.catalogue import UNSPACED_LANGUAGES, word_count
from app.gateways.speech.ports import Exchange, FollowUp, Judgement, Listens, Material

SHORT_ANSWER_WORDS = 8
SUMMARY_SENTENCES = 5
LONGEST_SENTENCE = 300
DAMPING, ROUNDS = 0.85, 50
SENTENCE_END = re.compile(r"(?<=[.!?।؟])\s+|(?<=[。！？])")


class ScriptInterviewer:
    """Judges by length alone, and says the same to everyone."""

    name = "script"

    def decide(self, exchange: Exchange, *, listens: Listens | None = None, call: Call | None = None) -> FollowUp:
        """One `tell me more` after an answer of fewer than eight words."""
        del listens, call  # it is decided at once
        words = word_count(exchange.answer, exchange.language)
        if 0 < words < SHORT_ANSWER_WORDS and not exchange.follow_ups and exchange.limit > 0:
            return FollowUp(phrases.tell_more(exchange.language))
        return FollowUp()

    def close(self) -> None:
        """Nothing to end."""


class ScriptAnalyst:
    """Extracts; judges nothing."""

    name = "script"

    def summarize(self, material: Material) -> str | None:
        """The most central sentences of the answers, in their order, labelled as excerpts."""
        said = (passage.content for passage in material.passages if passage.role == "user")
        parts = (part.strip()[:LONGEST_SENTENCE] for content in said for part in SENTENCE_END.split(content))
        sentences = list(dict.fromkeys(part for part in parts if part))
        if not sentences:
            return phrases.nothing_said(material.language)
        chosen = most_central(sentences, material.language)
        return phrases.excerpts(material.language) + "\n" + "\n".join(f"- {sentences[place]}" for place in chosen)

    def judge(self, material: Material, *, scores: tuple[str, ...]) -> Judgement:
        """No score: none of them can be measured from text without a model."""
        del material, scores
        return Judgement(self.name)

    def close(self) -> None:
        """Nothing to end."""


def most_central(sentences: Sequence[str], language: str) -> list[int]:
    """Places of the best sentences by TextRank (Mihalcea and Tarau 2004), in the order of the text."""
    import numpy as np

    terms = [_terms(sentence, language) for sentence in sentences]
    count = len(sentences)
    alike = np.zeros((count, count))
    for row in range(count):
        for column in range(row):
            alike[row, column] = alike[column, row] = _overlap(terms[row], terms[column])
    sums = alike.sum(axis=0)
    flow = np.divide(alike, sums, out=np.zeros_like(alike), where=sums > 0)
    rank = np.full(count, 1 / count)
    for _ in range(ROUNDS):
        rank = (1 - DAMPING) / count + DAMPING * flow @ rank
    best = sorted(range(count), key=lambda place: (-round(float(rank[place]), 9), -len(terms[place]), place))
    return sorted(best[:SUMMARY_SENTENCES])


def _terms(sentence: str, language: str) -> frozenset[str]:
    if language in UNSPACED_LANGUAGES:
        letters = [character for character in sentence if character.isalpha()]
        return frozenset(first + second for first, second in pairwise(letters))
    return frozenset(re.findall(r"\w+", sentence.casefold()))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    size = math.log(len(one) + 1) + math.log(len(other) + 1)
    return len(one & other) / size if size else 0.0
