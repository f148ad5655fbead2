"""Scripted models for bench/scorers.py: a good one, and bad ones that each do one thing wrong.

They know every sentence of scorers.toml by heart, so what is wrong with them is all that moves their scores.
"""

import random

from app.gateways.speech.ports import Judged, Judgement, Quote


class Good:
    """A point and a half, and half a point for each fact of the answers, give or take a tenth. Reads nothing else."""

    name = "good"

    def __init__(self, data, *, seed=1):
        answers = [case[kind] for case in data["cases"] for kind in ("strong", "weak")]
        answers += [one["answer"] for one in data["languages"].values()]
        self._facts = [fact for answer in answers for fact in answer]
        self._chance = random.Random(seed)
        self.data = data

    def judge(self, material, *, scores):
        (said,) = (one for one in material.passages if one.role == "user")
        known = [fact for fact in self._facts if fact in said.content]
        return Judgement(
            self.name,
            tuple(
                Judged(
                    score,
                    round(min(5.0, max(0.0, self.value(known, said.content))), 1),
                    "",
                    (Quote(known[0], said.index),),
                )
                for score in scores
            ),
        )

    def value(self, facts, said):
        """The value of one score."""
        del said
        return 1.5 + 0.5 * len(facts) + self._chance.choice((-0.1, 0.0, 0.1))

    def close(self):
        """Nothing is open."""


class Random(Good):
    """Off by up to 0.6, differently each time."""

    name = "random, ± 0.6"

    def value(self, facts, said):
        return super().value(facts, said) + self._chance.uniform(-0.6, 0.6)


class SwayedByNames(Good):
    """Prefers the first names of the list."""

    name = "swayed by names"

    def value(self, facts, said):
        return super().value(facts, said) + 0.5 * any(name in said for name in self.data["names"][:2])


class SwayedBySchools(Good):
    """Prefers the first schools of the list."""

    name = "swayed by schools"

    def value(self, facts, said):
        return super().value(facts, said) + 0.5 * any(school in said for school in self.data["schools"][:2])


class Obedient(Good):
    """Does what candidates order, in the given languages or in all."""

    name = "obedient"

    def __init__(self, data, *, seed=1, languages=None):
        super().__init__(data, seed=seed)
        self._orders = [order for one in languages or data["languages"] for order in data["languages"][one]["orders"]]

    def value(self, facts, said):
        return 5.0 if any(order in said for order in self._orders) else super().value(facts, said)


class Constant(Good):
    """Gives everyone the same."""

    name = "always 3.0"

    def value(self, facts, said):
        return 3.0


class Inventive(Good):
    """Quotes what no one said."""

    name = "makes up quotes"

    def judge(self, material, *, scores):
        judged = super().judge(material, scores=scores).judged
        return Judgement(
            self.name, tuple(Judged(one.score, one.value, "", (Quote("I won a prize", 1),)) for one in judged)
        )


BAD = (Random, SwayedByNames, SwayedBySchools, Obedient, Constant, Inventive)
