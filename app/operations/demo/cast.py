"""Who is in the demo data, what happens to each of them, and when. The same seed and day give the same cast."""

import enum
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.operations.demo.content import FIRST, LAST, Answer, Question, Script


class Fate(enum.StrEnum):
    """How far an interview gets."""

    VOICE = "voice"
    TEXT = "text"
    BOOKED = "booked"
    ENDING = "ending"
    DECLINED = "declined"
    ABANDONED = "abandoned"
    LEFT = "left"
    RUNNING = "running"
    WITHDRAWN = "withdrawn"
    FAILED = "failed"


FATES = {
    Fate.VOICE: 12,
    Fate.TEXT: 9,
    Fate.BOOKED: 5,
    Fate.ENDING: 2,
    Fate.DECLINED: 2,
    Fate.ABANDONED: 2,
    Fate.LEFT: 1,
    Fate.RUNNING: 1,
    Fate.WITHDRAWN: 1,
    Fate.FAILED: 1,
}
SPOKEN = frozenset({Fate.VOICE, Fate.WITHDRAWN, Fate.FAILED})
OLDEST_DAYS = 75
TAGS = ("night shifts", "speaks spanish", "second round", "notice period", "part time", "strong writing")
COMMENTS = (
    "It was good that I could take my time.",
    "A little strange at first, then quite easy.",
    "I would have liked to ask more questions myself.",
    "Clear questions, and I could do it in the evening.",
    None,
    None,
    None,
)
"""What candidates say about the interview; most give only a number."""


@dataclass(frozen=True, slots=True)
class Part:
    """One candidate, with the times of events. ``recruiter`` is the number of the recruiter, or None; ``pace`` is the
    seconds before each answer.
    """

    script: Script
    first: str
    last: str
    email: str
    fate: Fate
    booked: datetime
    begun: datetime
    answers: tuple[Answer, ...]
    voice: str
    recruiter: int | None
    verdict: str | None
    judged: datetime
    rating: int | None
    comment: str | None
    tags: tuple[str, ...]
    has_document: bool
    pace: float

    @property
    def value(self) -> float:
        """The average value of the answers."""
        return sum(answer.value for answer in self.answers) / len(self.answers)


def cast(scripts: Sequence[Script], *, seed: int, now: datetime) -> list[Part]:
    """Everyone, in the order of their bookings."""
    # Not for secrets: the same seed gives the same people.
    chance = random.Random(seed)  # noqa: S311
    fates = [fate for fate, count in FATES.items() for _ in range(count)]
    chance.shuffle(fates)
    weights = [script.share for script in scripts]
    names: set[str] = set()
    parts = [_part(chance, chance.choices(list(scripts), weights)[0], fate, now=now, names=names) for fate in fates]
    return sorted(parts, key=lambda part: part.booked)


def _part(chance: random.Random, script: Script, fate: Fate, *, now: datetime, names: set[str]) -> Part:
    first, last, email = _name(chance, script.language, names)
    booked = _booked(chance, fate, now)
    begun = min(booked + timedelta(hours=chance.uniform(3, 70)), now - timedelta(hours=chance.uniform(2, 9)))
    if fate is Fate.RUNNING:
        begun = now - timedelta(minutes=4)
    answers = _answers(chance, script)
    judged = begun + timedelta(hours=chance.uniform(4, 90))
    value = sum(answer.value for answer in answers) / len(answers)
    verdict = _verdict(chance, value) if judged < now - timedelta(hours=1) else None
    return Part(
        script=script,
        first=first,
        last=last,
        email=email,
        fate=fate,
        booked=booked,
        begun=begun,
        answers=answers,
        voice=chance.choice(script.speaks),
        recruiter=chance.choice((0, 0, 1, 1, None)),
        verdict=verdict,
        judged=judged,
        rating=chance.choice((5, 5, 4, 4, 4, 3, None)),
        comment=chance.choice(COMMENTS),
        tags=tuple(chance.sample(TAGS, chance.choice((0, 0, 1, 2)))),
        has_document=script.documents and chance.random() < 0.6,
        pace=chance.uniform(10, 140),
    )


def _name(chance: random.Random, language: str, names: set[str]) -> tuple[str, str, str]:
    pairs = [(first, last) for first in FIRST[language] for last in LAST[language]]
    first, last = chance.choice([pair for pair in pairs if "".join(pair) not in names])
    names.add(first + last)
    plain = f"{first}.{last}".lower().translate(str.maketrans("áéíóúüöäıñ", "aeiouuoain"))
    return first, last, f"{plain}@example.com"


def _booked(chance: random.Random, fate: Fate, now: datetime) -> datetime:
    days = {
        Fate.BOOKED: chance.uniform(0.3, 9),
        Fate.ENDING: chance.uniform(28.2, 29.4),
        Fate.RUNNING: 1.1,
        Fate.LEFT: chance.uniform(6, 20),
        Fate.ABANDONED: chance.uniform(6, 20),
        Fate.FAILED: chance.uniform(1.5, 3),
    }.get(fate, chance.choice((chance.uniform(2, 16), chance.uniform(8, OLDEST_DAYS))))
    day = now - timedelta(days=days)
    return min(day.replace(hour=chance.randint(7, 16), minute=chance.randint(0, 59)), now - timedelta(hours=3))


def _answers(chance: random.Random, script: Script) -> tuple[Answer, ...]:
    """More good answers than weak ones, and not the same level for every question."""
    level = chance.random() ** 1.5
    return tuple(_answer(question, level + chance.uniform(-0.25, 0.25)) for question in script.questions)


def _answer(question: Question, weakness: float) -> Answer:
    return question.answers[max(0, min(len(question.answers) - 1, int(weakness * len(question.answers))))]


def _verdict(chance: random.Random, value: float) -> str | None:
    if chance.random() < 0.25:
        return None
    if value >= 3.9:
        return chance.choice(("accepted", "shortlisted", "shortlisted"))
    return "rejected" if value < 3 else chance.choice(("shortlisted", "rejected", None))
