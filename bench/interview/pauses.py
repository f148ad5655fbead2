"""What words, melody and Smart Turn say at each pause and at each end, and cut-ins and replies by rule.

    MODELS_DIR=/srv/models .venv/bin/python -m bench.interview.pauses [--every 1] [--each]

The answers, voices, detectors and words are those of curve.py. ``--each`` prints a line for every pause and end.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from app.conversation.script.patience import COMPLETE, SHORT, UNFINISHED
from app.gateways.speech.ports import SPEECH_RATE
from bench.interview import measures
from bench.interview.curve import BEFORE, Answer, heard_answers
from bench.interview.smart_turn import DONE, UNSURE, SmartTurn

NOTICED = 0.2
"""Seconds of silence after which the page asks what it means."""
NEAR = 0.4
WORDS = {COMPLETE: "whole", SHORT: "few", UNFINISHED: "open"}
MELODY = {True: "fell", False: "stayed up", None: "unknown"}


@dataclass(frozen=True)
class Seen:
    """One silence: what it was (``1 s``, ``2 s``, ``end``, ``other``), and what each judge says of it."""

    kind: str
    melody: str
    words: str
    chance: float
    text: str


Rule = Callable[[float, int], int]
"""Milliseconds to wait at least, from the chance that the answer is over and what its words ask for."""


def as_asked(chance: float, words: int) -> int:
    """Done: nothing; unsure: 1.2 s; not done: 3 s unless the words clearly end."""
    if chance > DONE:
        return 0
    if chance >= UNSURE:
        return 1_200
    return 0 if words == COMPLETE else 3_000


def briefly(chance: float, words: int) -> int:
    """1.2 s where it is not done, and the words do not clearly end."""
    return 0 if chance > DONE or words == COMPLETE else 1_200


def distrustful(chance: float, words: int) -> int:
    """3 s where it is not done, whatever the words."""
    return 0 if chance > DONE else 1_200 if chance >= UNSURE else 3_000


RULES: dict[str, Rule | None] = {
    "words and melody": None,
    "and Smart Turn: 1.2 s unsure, 3 s not done unless the words clearly end": as_asked,
    "and Smart Turn: 3 s not done, whatever the words": distrustful,
    "and Smart Turn: 1.2 s not done, unless the words clearly end": briefly,
}


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--every", type=int, default=1, help="of the answers, only each of this number")
    asked.add_argument("--each", action="store_true", help="a line for each pause and end")
    given = asked.parse_args()
    judge = SmartTurn()
    for name, answers, page in heard_answers(every=given.every):
        chances = {
            (answer, lull["to"]): _chance(judge, answer, lull["to"]) for answer in answers for lull in answer.lulls
        }
        found = [one for answer in answers for one in seen(answer, chances)]
        print(f"\n{name}: {len(answers)} answers")
        if given.each:
            for one in found:
                print(f"  {one.kind}: melody {one.melody}, words {one.words}, {one.chance:.2f}: …{one.text[-40:]}")
        print("\n".join(table(found)))
        print("\n".join(by_rule(answers, chances, page)), flush=True)
    return 0


def _chance(judge: SmartTurn, answer: Answer, to: int) -> float:
    return judge.chance(answer.samples[: to + round(NOTICED * SPEECH_RATE)])


def seen(answer: Answer, chances: dict[tuple[Answer, int], float]) -> Iterator[Seen]:
    """The silences of an answer."""
    hints = {hint["to"]: hint for hint in answer.hints}
    for lull in answer.lulls:
        hint = hints.get(lull["to"], {})
        judged = hint.get("judged")
        yield Seen(
            _kind(answer, lull["to"] / SPEECH_RATE - BEFORE),
            MELODY[lull["falls"]],
            WORDS.get(judged["patience_ms"], "unknown") if judged else "unknown",
            chances[answer, lull["to"]],
            hint.get("text") or "",
        )


def _kind(answer: Answer, at: float) -> str:
    if at > answer.sound.seconds - NEAR:
        return "end"
    inside = [ends - begins for begins, ends in answer.sound.pauses if begins - NEAR <= at <= ends]
    return f"{inside[0]:.0f} s" if inside else "other"


def table(found: list[Seen]) -> Iterator[str]:
    """Markdown: how often each judge says what."""
    yield "| Silence | Melody | Words | n | Smart Turn: done | unsure | not done |"
    yield "|---|---|---|---|---|---|---|"
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for one in found:
        kind = "end" if one.kind == "end" else "pause"
        says = "done" if one.chance > DONE else "unsure" if one.chance >= UNSURE else "not done"
        groups.setdefault((kind, one.melody, one.words), Counter())[says] += 1
    for place, says in sorted(groups.items()):
        counts = (says.total(), *(says[one] for one in ("done", "unsure", "not done")))
        yield f"| {' | '.join(place)} | {' | '.join(map(str, counts))} |"


def by_rule(answers: list[Answer], chances: dict[tuple[Answer, int], float], page: Any) -> Iterator[str]:
    """Markdown: cut-ins and replies with each rule."""
    yield from measures.CURVE
    for name, rule in RULES.items():
        talks = []
        for answer in answers:
            hints = [with_rule(hint, chances[answer, hint["to"]], rule) for hint in answer.hints]
            talks.append(answer.talk(page, hints=hints))
        yield measures.point(name, measures.of(talks))


def with_rule(hint: dict[str, Any], chance: float, rule: Rule | None) -> dict[str, Any]:
    """The hint as a server would give it that follows this rule."""
    if rule is None or hint["judged"] is None:
        return hint
    least = rule(chance, hint["judged"]["patience_ms"])
    judged = {name: max(ms, least) for name, ms in hint["judged"].items()}
    return {**hint, "judged": judged, "said": judged}


if __name__ == "__main__":
    sys.exit(main())
