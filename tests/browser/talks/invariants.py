"""What must be true of every talk, whatever happened in it: of what was heard, what was kept, and what is published."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from app.conversation.models import TurnKind
from app.conversation.script.commands import spoken_command
from app.conversation.script.machine import BEGUN, MOST_ASIDES, Event
from app.interviews.models import Retake, Role, Stage

from .engines import WORD_FRAMES
from .stage import Played

HEARD = 0.6
"""The share of a question's sound that somebody has to hear to know it."""
LONG = 1.0
"""Seconds from which on speech in the agent's silence counts, whether or not the page gave the turn to it."""
WORD_SECONDS = 0.3
OBEYED = {"repeat", "think", "sure", "here", "there", "who", "long"}
"""Kinds of replies that do what was asked, or ask back."""
STEP = 0.1
"""Seconds: how exactly the end of a talk is known."""
UNIQUE = re.compile(r"w\d+")
"""A word that is said once in a talk."""
NEAR = 2.0
"""Seconds: what lies closer together was said in one go."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words said in one breath."""

    kind: str
    words: list[dict[str, Any]]

    @property
    def begins(self) -> float:
        """In seconds of the talk."""
        return float(self.words[0]["at"]) / 1000

    @property
    def ends(self) -> float:
        """In seconds of the talk."""
        return float(self.words[-1]["at"]) / 1000 + WORD_SECONDS

    @property
    def is_given(self) -> bool:
        """Whether the page gave the turn to it."""
        return any(word["given"] for word in self.words)

    @property
    def is_long_and_alone(self) -> bool:
        """Whether nobody else was heard, for long enough to mean something."""
        return len(self.words) * WORD_SECONDS >= LONG and not any(word["agent"] for word in self.words)


def broken(played: Played, checks: Iterable[str] | None = None) -> list[str]:
    """What is wrong with the talk, in words; empty where everything holds."""
    return [f"{name}: {wrong}" for name in (checks or CHECKS) for wrong in CHECKS[name](played)]


def _ended(played: Played) -> Iterator[str]:
    report = played.report
    if report["over"] != "finished":
        yield f"the talk ended as {report['over']} in the phase {report['phase']} {report['errors']}"
    elif played.stage is not Stage.COMPLETED:
        yield f"the interview was not published: it is {played.stage}"


# --- every script question is heard to at least 60 %, or asked again ------------------------------------------------


def _questions(played: Played) -> Iterator[str]:
    if played.report["over"] != "finished" or _is_stopped(played):
        return
    passed_over = {
        before.question_index
        for before, turn in zip(played.turns, played.turns[1:], strict=False)
        if turn.kind is TurnKind.SKIP
    }
    for index, question in enumerate(played.script.questions):
        heard = list(_heard(played, question))
        begun = sum(share >= BEGUN for share in heard)
        is_asked = begun > 1 or len(heard) > MOST_ASIDES or any(share >= HEARD for share in heard)
        if index not in passed_over and not is_asked:
            yield (
                f"question {index + 1} was heard to {heard[0]:.0%}, once"
                if heard
                else f"question {index + 1} is missing"
            )


def _is_stopped(played: Played) -> bool:
    """Whether the candidate asked twice to end the interview, which may be over the greeting."""
    return any(
        before.reply_kind == "sure" and spoken_command(turn.heard_text or "", "en-US") is Event.STOP
        for before, turn in zip(played.turns, played.turns[1:], strict=False)
    )


def _heard(played: Played, question: str) -> Iterator[float]:
    """How much of the question was heard, each time that it was said."""
    for turn in played.turns:
        spans = [
            (one["from"], one["to"]) for one in played.report["heard"] if one["url"].endswith(f"/{turn.number}/audio")
        ]
        for part in turn.parts or []:
            if question not in part["text"]:
                continue
            if turn.number in played.report["shown"] or not part["seconds"]:
                yield 1.0
                continue
            begin, end = part["offset"], part["offset"] + part["seconds"]
            yield _covered(spans, begin, end) / max(part["seconds"], 0.001)


def _covered(spans: list[tuple[float, float]], begin: float, end: float) -> float:
    covered, reached = 0.0, begin
    for start, stop in sorted(spans):
        covered += max(0.0, min(stop, end) - max(start, reached))
        reached = max(reached, min(stop, end))
    return covered


# --- what was said is in exactly one utterance ----------------------------------------------------------------------


def stretches(played: Played) -> list[Stretch]:
    """What the candidate said, breath by breath."""
    return [
        Stretch(words[0]["kind"], words)
        for words in (list(group) for _, group in groupby(played.report["words"], key=lambda word: word["phrase"]))
    ]


def _answers(played: Played) -> Iterator[str]:
    where: dict[str, list[int]] = {}
    for number, segment in enumerate(played.transcript):
        if segment["role"] == "user":
            for text in segment["content"].split():
                where.setdefault(text, []).append(number)
    for stretch in stretches(played):
        if stretch.kind != "answer" or {"ready", "lingering"} & {*stretch.words[0]["phases"]}:
            continue  # said before anything was asked, or when the page says that the interview is over
        texts = [played.script.words[word["id"]] for word in stretch.words]
        twice = [text for text in texts if len(where.get(text, ())) > 1]
        if twice:
            yield f"said once, published more than once: {' '.join(twice)}"
        if not (stretch.is_given or stretch.is_long_and_alone) or not played.transcript:
            continue
        whole = [word for word in stretch.words if word["live"] and word["frames"] == WORD_FRAMES]
        live = [played.script.words[word["id"]] for word in whole]
        lost = [text for text in live if text not in where]
        if lost:
            phases = [phase for word in stretch.words for phase in word["phases"]]
            yield f"said, and not published: {' '.join(lost)} (in {[key for key, _ in groupby(phases)]})"


# --- what only says "I am listening" is in none ---------------------------------------------------------------------


def murmurs(played: Played) -> list[Stretch]:
    """Back-channels over the agent's words, with nothing else said near them."""
    every = stretches(played)
    return [
        stretch
        for before, stretch, after in zip([None, *every], every, [*every[1:], None], strict=False)
        if stretch.kind == "murmur"
        and "ready" not in stretch.words[0]["phases"]
        and not stretch.is_given
        and all(word["live"] for word in stretch.words)  # a candidate who writes is not listened to
        and _is_over_agent(stretch)
        and (before is None or stretch.begins - before.ends > NEAR)
        and (after is None or after.begins - stretch.ends > NEAR)
    ]


def _is_over_agent(stretch: Stretch) -> bool:
    """Whether it began over the agent's words. Where the agent pauses for something else, it belongs to that."""
    return stretch.words[0]["agent"] and all(word["agent"] or "interrupted" in word["phases"] for word in stretch.words)


def _is_over_goodbye(played: Played, stretch: Stretch) -> bool:
    """Whether it began over the last words, which nothing can answer: the agent does not pause for it (0102)."""
    last = played.turns[-1]
    return last.reply_kind == "outro" and stretch.begins > played.report["seconds"] - (last.seconds or 0) - STEP


def _murmurs(played: Played) -> Iterator[str]:
    said = Counter(played.script.words[s.words[0]["id"]] for s in stretches(played) if s.kind == "murmur")
    over_agent = Counter(played.script.words[s.words[0]["id"]] for s in murmurs(played))
    published = Counter(
        text for segment in played.transcript if segment["role"] == "user" for text in segment["content"].split()
    )
    for text, count in over_agent.items():
        if published[text] > said[text] - count:
            yield f"a back-channel counts as something said: {text}"
    counted = sum(turn.murmurs or 0 for turn in played.turns)
    pausing = sum(not _is_over_goodbye(played, stretch) for stretch in murmurs(played))
    if counted < pausing and not played.report["loads"]:
        yield f"of {pausing} back-channels {counted} were counted"


# --- what was obeyed is no answer -----------------------------------------------------------------------------------


def _commands(played: Played) -> Iterator[str]:
    obeyed = Counter(
        turn.heard_text
        for turn in played.turns
        if turn.reply_kind in OBEYED and spoken_command(turn.heard_text or "", "en-US") is not None
    )
    published = Counter(segment["content"] for segment in played.transcript if segment["role"] == "user")
    judged = Counter(passage.content for passage in played.judged if passage.role == "user")
    for text, count in obeyed.items():
        if judged[text] > published[text] - count:
            yield f"obeyed, and judged as an answer: {text}"
        if any(exchange.answer == text for exchange in played.asked):
            yield f"obeyed, and given to the interviewer as an answer: {text}"


# --- of an answer that is said again, the later one counts, and the former one until then ---------------------------


def said_again(played: Played) -> int:
    """The number of answers in whose place others were said."""
    return len({row.question_index for row in played.utterances if row.retake == Retake.FORMER})


def _retakes(played: Played) -> Iterator[str]:
    rows = [row for row in played.utterances if row.role is Role.USER]
    later = {row.question_index for row in rows if row.retake == Retake.LATER}
    judged = {text for passage in played.judged if passage.role == "user" for text in passage.content.split()}
    for row in rows:
        is_former = row.retake == Retake.FORMER
        if is_former and row.question_index not in later:
            yield f"counts no longer, and nothing came in its place: {row.content}"
        if not judged:
            continue
        once = {text for text in (row.content or "").split() if UNIQUE.fullmatch(text)}
        if is_former and once & judged:
            yield f"said again later, and judged: {row.content}"
        if not row.obeyed and once - judged:
            yield f"counts, and is not judged: {row.content}"


CHECKS = {
    "ended": _ended,
    "questions": _questions,
    "answers": _answers,
    "back-channels": _murmurs,
    "commands": _commands,
    "answers said again": _retakes,
}
