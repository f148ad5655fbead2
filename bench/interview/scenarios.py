"""Twelve candidates: what each says and does, at which moment. Both drivers play them.

In a text, ``|1|`` is a silence of one second inside what is said. The text is spoken in one go and then moved apart, so
that the voice before the silence has the melody of a sentence that goes on. A move's moment is that of
tests/browser/talks/candidate.js: "turn" (ms since the agent listens), "agent" (ms since it began to sound), "speaking"
(ms since the candidate's own words began).
"""

import re
from dataclasses import dataclass

QUESTIONS = (
    "Please tell me about the last team that you worked in, what it did all day, and what your own part in its work was.",
    "Now think of something at work that was really difficult. What was it, what did you do about it, and how did it end?",
    "What would you like to learn here in the first year, and how would you notice at the end of it that you have learned it?",
)
PLAIN = (
    "I have worked in a small team for three years and I like to help people every day.",
    "Last summer our system was very slow in the morning and I found the reason after two days of work.",
    "We finished the project two weeks early and the whole team went to the sea for a day.",
    "I read a lot of books and I like to walk in the mountains with my family at the weekend.",
    "I would first listen to the customer and then I would look for a way to help her today.",
    "My manager was happy with the price, and in the end the customer was happy with the work.",
    "When I was young I wanted to be a doctor, but later I found that I like numbers and machines.",
    "I can start in the first week of March, or two weeks earlier if you need me then.",
)
"""Answers that come to rest, for everything a scenario does not decide."""
_PAUSE = re.compile(r"\|([\d.]+)\|")


@dataclass(frozen=True)
class Phrase:
    """Words in one breath, and the silence after them in seconds."""

    text: str
    pause: float = 0.0


@dataclass(frozen=True)
class Move:
    """One thing a candidate does. ``kind`` as in measures.py; ``away``: seconds without the page or the network."""

    when: str
    ms: int
    act: str = "say"
    kind: str = "answer"
    text: str = ""
    rests: bool = True
    away: float = 0.0

    @property
    def phrases(self) -> list[Phrase]:
        """What is said, breath by breath."""
        return phrases_of(self.text)


@dataclass(frozen=True)
class Scenario:
    """A candidate. ``noise``: decibels of the room's noise below the voice, None for a quiet room."""

    name: str
    moves: tuple[Move, ...]
    noise: float | None = None


def phrases_of(text: str) -> list[Phrase]:
    """A marked text, breath by breath."""
    parts = _PAUSE.split(text)
    pauses = [*map(float, parts[1::2]), 0.0]
    return [Phrase(said.strip(), pause) for said, pause in zip(parts[::2], pauses, strict=True)]


def plain(text: str) -> str:
    """A marked text without its marks."""
    return " ".join(phrase.text for phrase in phrases_of(text))


def _answers(*texts: str, rests: bool = True) -> tuple[Move, ...]:
    return tuple(Move("turn", 500, text=text, rests=rests) for text in texts)


def _over(kind: str, *texts: str) -> tuple[Move, ...]:
    """Said over each question, which is then answered."""
    return tuple(
        move
        for text, answer in zip(texts, PLAIN, strict=False)
        for move in (Move("agent", 1_500, kind=kind, text=text), Move("turn", 500, text=answer))
    )


SCENARIOS = (
    Scenario(
        "hesitation",
        _answers(
            "I have worked in a |1| small team for three years and I like to help people because |2| they see things in another way.",
            "Last summer our system was very slow, um, |1| and then I decided to |2| look at the tables and I found the reason.",
            "My manager told me that |1| the customer was angry and I said that I would |2| call her because I knew the story.",
        ),
    ),
    Scenario(
        "long think",
        (
            Move(
                "turn", 3_500, text="I would first listen to the customer and then I would look for a way to help her."
            ),
            *_answers(
                "That is a good question. |2| I think that the hardest part was to explain the delay to our customer.",
                "Let me think. |4| I want to see how a good team plans its work for the week.",
            ),
        ),
    ),
    Scenario(
        "restart",
        _answers(
            "We had, |1| no, let me start again. |1| We were eight people and we met every morning to plan the work of the day.",
            "The problem was, |1| well, actually, |1| the real problem was that no one had read the book of the machine.",
            "I would like to, |2| or let me say it in another way, |1| I want to understand the numbers behind the work.",
        ),
    ),
    Scenario(
        "list",
        _answers(
            "I have worked with cranes, |1| with lorries, |1| with forklifts, |2| and with all kinds of tools.",
            "I called the customer, |1| I wrote down what she needed, |2| I found a new date, |1| and I told all the others.",
            "I want to learn about the people, |1| about the machines, |2| and about the way in which you plan your work.",
        ),
    ),
    Scenario("one word", _answers("Sales.", "Nothing.", "Spanish.", rests=False)),
    Scenario(
        "repeat",
        tuple(
            move
            for answer in PLAIN[:3]
            for move in (
                Move("turn", 500, kind="request", text="Could you repeat the question, please?", rests=False),
                Move("turn", 500, text=answer),
            )
        ),
    ),
    Scenario("silence", (Move("turn", 12_000, text=PLAIN[0]), Move("turn", 7_000, text=PLAIN[1]))),
    Scenario("back-channel", _over("back-channel", "Mm-hm.", "Okay.", "Yeah.")),
    Scenario(
        "barge-in",
        tuple(
            Move("agent", 1_500, kind="barge-in", text=f"I can answer that already. {answer}") for answer in PLAIN[:3]
        ),
    ),
    Scenario(
        "side talk",
        _over("side talk", "Put it on the table, please.", "Not now, I am on a call.", "Close the door, please."),
    ),
    Scenario(
        "noise",
        (
            Move("agent", 1_500, kind="noise"),
            Move(
                "turn",
                500,
                text="I have worked in a |1| small team for three years and I like to help people every day.",
            ),
            Move("agent", 1_500, kind="noise"),
            Move("turn", 500, text="We were eight people and we met every morning to |2| plan the work of the day."),
        ),
        noise=15.0,
    ),
    Scenario(
        "loss",
        (
            Move("turn", 500, text=PLAIN[0]),
            Move("speaking", 2_000, act="offline", away=4.0),
            Move("turn", 500, text=PLAIN[1], rests=False),
            Move("speaking", 2_500, act="reload", away=1.5),
            Move("turn", 500, text=PLAIN[2]),
        ),
    ),
)
