"""Figures of spoken interviews, from a stereo recording and an event log of each. README.md has the definitions.

    .venv/bin/python -m bench.interview.measures FOLDER

Reads every NAME.wav with its NAME.json in the folder and prints the figures. Nothing here knows Parley: a recording of
any interviewer will do.
"""

import json
import sys
import wave
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

FRAME = 0.01
AUDIBLE = -40.0
"""dBFS of a frame in which the agent is heard."""
GAP = 0.5
"""Seconds of silence that end a stretch of the agent's speech."""
REACTS = 0.2
"""Seconds after a pause in which a reply still counts as cut into it: no one can know yet that the candidate continued."""
STOPS, CONTINUES = 1.0, 2.0
"""Seconds after a sound that is no answer: within the first the agent falls silent because of it, within the second it goes on."""
TOO_LONG = 4.0
"""Seconds of silence that are dead air."""
HEARD = 0.6
"""The share of a question that has to be heard."""
LENGTHS = (0.5, 1.0, 2.0, 4.0)
ANSWERED = {"answer", "request", "barge-in"}
"""Kinds of what is said that want a reply."""
WANTED = {"answer", "barge-in"}
"""Kinds whose words belong into the transcript."""
STRAY = {"back-channel", "side talk", "noise"}
"""Kinds that must not stop the agent."""
Span = tuple[float, float]
percentile = partial(np.percentile, method="nearest")


@dataclass(frozen=True)
class Said:
    """Something that the candidate's script said: seconds of the recording. ``words``: (word, begins, ends)."""

    kind: str
    begins: float
    ends: float
    pauses: tuple[Span, ...] = ()
    words: tuple[tuple[str, float, float], ...] = ()
    rests: bool = False
    """Whether it ends like the end of a sentence, so that no listener could expect more."""
    is_cut: bool = False
    """Whether something that is not the agent ended it early, as a reload does: no reply is expected."""


@dataclass(frozen=True)
class Talk:
    """One interview: where the agent is heard, and the log. ``taken``: the sound that it keeps as the candidate's."""

    name: str
    agent: tuple[Span, ...]
    said: tuple[Said, ...]
    seconds: float
    questions: int = 0
    asked: tuple[dict[str, Any], ...] = ()
    taken: tuple[Span, ...] | None = None


@dataclass
class Figures:
    """What was counted in some talks. Times in seconds."""

    replies: list[float] = field(default_factory=list)
    rested: list[float] = field(default_factory=list)
    """Replies to what ended like the end of a sentence."""
    unanswered: int = 0
    pauses: dict[float, list[bool]] = field(default_factory=lambda: {length: [] for length in LENGTHS})
    """By length: whether the agent spoke into it."""
    dead: list[float] = field(default_factory=list)
    """Silences after an answer that are dead air."""
    alone: list[float] = field(default_factory=list)
    """Silences of a candidate who was asked and says nothing, until either is heard."""
    stops: list[float] = field(default_factory=list)
    kept_on: int = 0
    """Interruptions that did not stop the agent."""
    strays: list[bool] = field(default_factory=list)
    """For each sound that must not stop the agent: whether it did."""
    holes: list[float] = field(default_factory=list)
    """Silences of an agent that paused for such a sound and went on."""
    words: int = 0
    spoken: float = 0.0
    untaken: float = 0.0
    """Seconds of scripted words, and of those that are in no utterance."""
    at_borders: int = 0
    questions: int = 0
    lost: int = 0
    twice: int = 0

    def add(self, talk: Talk) -> None:
        """Count one talk more."""
        self._add_replies(talk)
        self._add_silences(talk)
        self._add_stops(talk)
        self._add_words(talk)
        self._add_questions(talk)

    def _add_replies(self, talk: Talk) -> None:
        for place, said in enumerate(talk.said):
            for begins, ends in said.pauses:
                length = min(LENGTHS, key=lambda one: abs(one - (ends - begins)))
                self.pauses[length].append(any(begins <= start < ends + REACTS for start, _ in talk.agent))
            if said.kind not in ANSWERED or said.is_cut:
                continue
            if any(start <= said.ends < stop for start, stop in talk.agent) and said.pauses:
                continue  # it spoke into a pause and is still speaking: counted there
            later = [other.begins for other in talk.said[place + 1 :] if other.kind in ANSWERED]
            start = next((start for start, _ in talk.agent if start >= said.ends - FRAME), None)
            if start is None or (later and start >= min(later)):
                self.unanswered += 1
                continue
            self.replies.append(max(0.0, start - said.ends))
            if said.rests:
                self.rested.append(self.replies[-1])

    def _add_silences(self, talk: Talk) -> None:
        agent = [(begins, ends, self.alone) for begins, ends in talk.agent]
        own = [(said.begins, said.ends, [] if said.is_cut else self.dead) for said in talk.said]
        reached, found = talk.seconds, None
        for begins, ends, after in sorted([*agent, *own], key=lambda one: one[:2]):
            if found is not None and begins - reached > TOO_LONG:
                found.append(begins - reached)
            if found is None or ends >= reached:
                reached, found = ends, after

    def _add_stops(self, talk: Talk) -> None:
        for said in talk.said:
            under = next((stop for start, stop in talk.agent if start < said.begins < stop), None)
            if under is None:
                continue
            if said.kind == "barge-in":
                if under > said.ends:
                    self.kept_on += 1
                else:
                    self.stops.append(under - said.begins)
            elif said.kind in STRAY:
                again = next((start for start, _ in talk.agent if start > under), talk.seconds)
                fell_silent = under < said.ends + STOPS
                is_stopped = fell_silent and again > said.ends + CONTINUES
                self.strays.append(is_stopped)
                if fell_silent and not is_stopped:
                    self.holes.append(again - under)

    def _add_words(self, talk: Talk) -> None:
        if talk.taken is None:
            return
        for said in talk.said:
            if said.kind not in WANTED:
                continue
            shares = [covered((begins, ends), talk.taken) for _, begins, ends in said.words]
            self.words += len(shares)
            for (_, begins, ends), share in zip(said.words, shares, strict=True):
                self.spoken += ends - begins
                self.untaken += (ends - begins) * (1 - share)
            if any(share > 0.5 for share in shares):
                self.at_borders += sum(share <= 0.5 for share in shares)

    def _add_questions(self, talk: Talk) -> None:
        for number in range(1, talk.questions + 1):
            times = [one for one in talk.asked if one["question"] == number]
            self.questions += 1
            self.lost += len(times) < 2 and not any(one["share"] >= HEARD for one in times)
            heard = False
            for one in times:
                self.twice += heard and not one["wanted"]
                heard = heard or one["share"] >= HEARD

    def cut(self, length: float) -> float | None:
        """The share of pauses of this length that the agent spoke into; None where there were none."""
        pauses = self.pauses[length]
        return sum(pauses) / len(pauses) if pauses else None


def of(talks: Iterable[Talk]) -> Figures:
    """The figures of all these talks together."""
    figures = Figures()
    for talk in talks:
        figures.add(talk)
    return figures


def covered(word: Span, spans: Iterable[Span]) -> float:
    """How much of a word lies in any of these spans, 0 to 1."""
    begins, ends = word
    total, reached = 0.0, begins
    for start, stop in sorted(spans):
        total += max(0.0, min(stop, ends) - max(start, reached))
        reached = max(reached, min(stop, ends))
    return total / max(ends - begins, 1e-9)


# --- recordings -------------------------------------------------------------------------------------------------------


def audible(samples: np.ndarray, rate: int) -> tuple[Span, ...]:
    """Stretches in which a channel is heard, in seconds. ``samples``: -1 to 1."""
    size = round(rate * FRAME)
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    power = (frames.astype(np.float64) ** 2).mean(axis=1)
    places = np.flatnonzero(power > 10 ** (AUDIBLE / 10))
    if not len(places):
        return ()
    breaks = np.flatnonzero(np.diff(places) > GAP / FRAME)
    firsts, lasts = np.r_[places[0], places[breaks + 1]], np.r_[places[breaks], places[-1]] + 1
    seconds = size / rate  # of a frame: at 22,050 Hz not exactly FRAME, which adds up to 0.14 s in a minute
    return tuple((float(first) * seconds, float(last) * seconds) for first, last in zip(firsts, lasts, strict=True))


def read(path: Path) -> Talk:
    """A talk from its WAV file (left: candidate, right: agent; 16 bit) and the log of the same name.

    Raises ValueError if the file is not stereo with 16 bits.
    """
    with wave.open(str(path)) as file:
        if (file.getnchannels(), file.getsampwidth()) != (2, 2):
            raise ValueError(f"{path.name}: two channels of 16 bits are needed")
        rate, pcm = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2")
    log = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    right = pcm.reshape(-1, 2)[:, 1] / 32_768
    taken = log.get("taken")
    return Talk(
        path.stem,
        audible(right, rate),
        tuple(sorted((_said(one) for one in log["said"]), key=lambda one: one.begins)),
        seconds=len(right) / rate,
        questions=log.get("questions", 0),
        asked=tuple(log.get("asked", ())),
        taken=None if taken is None else tuple((one["begins"], one["ends"]) for one in taken),
    )


def _said(one: dict[str, Any]) -> Said:
    return Said(
        one["kind"],
        one["begins"],
        one["ends"],
        tuple((begins, ends) for begins, ends in one.get("pauses", ())),
        tuple((word, begins, ends) for word, begins, ends in one.get("words", ())),
        rests=one.get("rests", False),
        is_cut=one.get("cut", False),
    )


# --- the table --------------------------------------------------------------------------------------------------------


def table(figures: Figures) -> Iterator[str]:
    """Markdown: each figure, its count, and the goal with whether it is reached."""
    yield "| Figure | n | Measured | Goal | |"
    yield "|---|---|---|---|---|"
    yield _times("replies to answers that come to rest", figures.rested, p50=0.85, p95=1.5)
    yield _times("replies, all", figures.replies, p50=1.0, p95=2.8)
    yield f"| answers without a reply | {len(figures.replies) + figures.unanswered} | {figures.unanswered} | | |"
    goals = {1.0: 0.02, 2.0: 0.08}
    for length, pauses in figures.pauses.items():
        if pauses:
            yield _shares(f"cut-ins, pauses of {length:g} s", pauses, goals.get(length))
    yield f"| dead air after an answer (over {TOO_LONG:g} s) | {len(figures.replies)} | {len(figures.dead)} | | |"
    longest = max(figures.alone, default=0.0)
    yield f"| longest silence after a question | {len(figures.alone)} | {longest:.1f} s | | |"
    yield _times("stop after an interruption", figures.stops, p95=0.18)
    yield f"| interruptions that did not stop the agent | {len(figures.stops) + figures.kept_on} | {figures.kept_on} | | |"
    yield _shares("false stops", figures.strays, 0.05)
    longest = max(figures.holes, default=0.0)
    yield f"| pauses for a sound that is not an answer | {len(figures.strays)} | {len(figures.holes)}, at most {longest:.2f} s | | |"
    yield _row(
        "scripted speech in no utterance",
        f"{figures.spoken:.0f} s",
        f"{figures.untaken:.2f} s",
        "0 s",
        figures.untaken < 0.005 if figures.words else None,
    )
    lost = figures.at_borders / figures.words if figures.words else 0.0
    is_met = lost <= 0.005 if figures.words else None
    yield _row("words lost at borders", str(figures.words), f"{figures.at_borders} ({lost:.1%})", "≤ 0.5%", is_met)
    met = figures.lost == 0 if figures.questions else None
    yield _row("questions lost", str(figures.questions), str(figures.lost), "0", met)
    yield f"| questions asked twice | {figures.questions} | {figures.twice} | | |"


CURVE = (
    "| patience or rule | cut-ins 1 s | cut-ins 2 s | replies to answers that come to rest, p50 / p95 ms | all replies |",
    "|---|---|---|---|---|",
)
"""The head of a table of `point`."""


def point(name: str, figures: Figures) -> str:
    """A row of the curve: the figures with one patience, or one rule."""
    cuts = (f"{sum(figures.pauses[length])} of {len(figures.pauses[length])}" for length in (1.0, 2.0))
    spans = []
    for seconds in (figures.rested, figures.replies):
        middle, late = (1000 * float(percentile(seconds, of)) for of in (50, 95)) if seconds else (0, 0)
        spans.append(f"{middle:.0f} / {late:.0f} (n {len(seconds)})" if seconds else "–")
    return f"| {name} | {' | '.join([*cuts, *spans])} |"


def _times(name: str, seconds: list[float], *, p50: float | None = None, p95: float | None = None) -> str:
    goal = ", ".join(f"p{of} ≤ {1000 * ms:.0f}" for of, ms in ((50, p50), (95, p95)) if ms) + " ms"
    if not seconds:
        return _row(name, "0", "", goal, None)
    middle, late = (float(percentile(seconds, of)) for of in (50, 95))
    is_met = (p50 is None or middle <= p50) and (p95 is None or late <= p95)
    return _row(name, str(len(seconds)), f"p50 {1000 * middle:.0f}, p95 {1000 * late:.0f} ms", goal, is_met)


def _shares(name: str, cases: list[bool], goal: float | None) -> str:
    if not cases:
        return _row(name, "0", "", f"≤ {goal:.0%}" if goal else "", None)
    share = sum(cases) / len(cases)
    is_met = share <= goal if goal is not None else None
    return _row(name, str(len(cases)), f"{sum(cases)} ({share:.1%})", f"≤ {goal:.0%}" if goal else "", is_met)


def _row(name: str, count: str, measured: str, goal: str, is_met: bool | None) -> str:
    verdict = "" if not goal else "not measured" if is_met is None else "reached" if is_met else "**missed**"
    return f"| {name} | {count} | {measured} | {goal} | {verdict} |"


def main() -> int:
    talks = [read(path) for path in sorted(Path(sys.argv[1]).glob("*.wav"))] if len(sys.argv) == 2 else []
    if not talks:
        print(__doc__)
        return 1
    print("\n".join(table(of(talks))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
