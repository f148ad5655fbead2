"""Reply gap in a real browser: from the end of speech to the first sound of the reply.

    .venv/bin/python bench/gap.py [--interviews 2] [--questions 5] [--quick]

Chromium, the real platform with the embedded engines, and a candidate who speaks through ``tests/browser/mouth.js``. So
the end of each answer's last sound is known from outside, and so is the moment at which the speaker gets the reply's
first sound. A short answer gets one follow-up. The output also has what the page itself measured (stored with each
turn, shown to recruiters) and the stages that the server knows. The floor of the same run is the pause that each reply
had to wait for, because the candidate might continue. Anything beyond it is the platform's.
"""

import argparse
import os
import statistics
import sys
import tempfile
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.candidate import Candidate
from tests.browser.conftest import CHROMIUM
from tests.browser.rehearsal import Platform, platform_in

GOAL = {50: 900, 95: 1500}
percentile = partial(np.percentile, method="nearest")
STAGES = ("detected_ms", "collected_ms", "recognised_ms", "decided_ms", "spoken_ms", "answered_ms", "heard_ms")
LONG = (
    "I have worked in a small team for three years and I like to help people every day.",
    "Last summer our system was very slow in the morning and I was the one who found the reason.",
    "We were eight people and we met every morning at nine to plan the work of the day.",
)
SHORT = "I like the people here."
SCRIPTED = {"question", "outro"}


@dataclass
class Gap:
    """One answer: how it was replied to, milliseconds measured outside and inside, and the server's stages."""

    reply: str
    outside: float | None
    patience: float | None
    """Milliseconds of silence that the server asked for before this reply."""
    stages: dict[str, int | None]


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--interviews", type=int, default=2)
    asked.add_argument("--questions", type=int, default=5)
    asked.add_argument("--quick", action="store_true", help="one interview of three questions")
    given = asked.parse_args()
    if given.quick:
        given.interviews, given.questions = 1, 3
    if CHROMIUM is None:
        print("Chromium is missing: apt-get install chromium")
        return 1
    print(f"{given.interviews} interviews of {given.questions} questions; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder, platform_in(Path(folder), with_model=False) as platform:
        gaps = talked(platform, given)
    return report(gaps)


def talked(platform: Platform, given: argparse.Namespace) -> list[Gap]:
    from playwright.sync_api import sync_playwright

    questions = [f"This is question {number}. What do you say?" for number in range(1, given.questions + 1)]
    answers = {str(at + 1): SHORT if at % 4 == 1 else LONG[at % 3] for at in range(given.questions)}
    gaps: list[Gap] = []
    with warnings.catch_warnings(), sync_playwright() as playwright:
        warnings.simplefilter("ignore")
        for _ in range(given.interviews):
            one = Candidate(playwright, platform, executable=CHROMIUM, answers=answers, questions=questions)
            try:
                one.begin()
                one.thanked(120.0 * given.questions)
                gaps += gaps_of(platform, one)
            finally:
                one.close()
    return gaps


def gaps_of(platform: Platform, one: Candidate) -> list[Gap]:
    """The answers in order; each answer's outside gap ends with the first sound of the agent after it."""
    columns = ", ".join(STAGES)
    rows = platform.rows(
        f"select reply_kind, {columns} from turn where kind = 'answer' and sitting_id = "
        "(select id from sitting where interview_id = :i) order by number",
        i=one.interview_id,
    )
    heard = heard_gaps(one.remembered)
    if len(heard) != len(rows):
        print(
            f"{len(heard)} answers were said, {len(rows)} were taken: the outside gaps of this interview are left out"
        )
        heard = [(None, None)] * len(rows)
    return [
        Gap(row[0], *gap, stages=dict(zip(STAGES, row[1:], strict=True))) for row, gap in zip(rows, heard, strict=True)
    ]


def heard_gaps(events: list[dict[str, Any]]) -> list[tuple[float | None, float | None]]:
    """For each answer: until the agent's next sound, and the patience of the reply that this sound belongs to."""
    found: list[tuple[float | None, float | None]] = []
    said = [(at, one) for at, one in enumerate(events) if one["kind"] == "said" and one["name"] != "hello"]
    for at, one in said:
        after = [later for later in events[at + 1 :] if later["kind"] in {"agent", "said", "reply"}]
        sound = next((later for later in after if later["kind"] != "reply"), None)
        if sound is None or sound["kind"] == "said":
            found.append((None, None))
            continue
        reply = next((later for later in reversed(after[: after.index(sound)]) if later["kind"] == "reply"), None)
        found.append((sound["sounds"] - one["ends"], float(reply["patience"]) if reply else None))
    return found


def report(gaps: list[Gap]) -> int:
    shown = {
        "follow-ups": [one for one in gaps if one.reply == "follow_up"],
        "scripted replies": [one for one in gaps if one.reply in SCRIPTED],
        "all replies": gaps,
    }
    for name, some in shown.items():
        line("outside", name, [one.outside for one in some if one.outside is not None])
        line("page's own", name, [float(own) for one in some if (own := one.stages["heard_ms"]) is not None])
    waits = [one for one in gaps if one.outside is not None and one.patience is not None]
    line("the patience asked for", "all replies", [one.patience or 0.0 for one in waits])
    line("beyond that patience", "all replies", [(one.outside or 0.0) - (one.patience or 0.0) for one in waits])
    for stage in STAGES[:-1]:
        figures = [float(one.stages[stage] or 0) for one in gaps]
        print(
            f"    {stage.removesuffix('_ms'):10} median {statistics.median(figures):6.0f}, max {max(figures):6.0f} ms"
        )
    every = [one.outside for one in gaps if one.outside is not None]
    if asked := [one.patience for one in waits if one.patience]:
        print(f"reply gap / patience (floor): median {statistics.median(every) / statistics.median(asked):.2f}")
    met = bool(every) and all(percentile(every, of) <= goal for of, goal in GOAL.items())
    print(f"reply gap: goal p50 <= {GOAL[50]} and p95 <= {GOAL[95]} ms: {'reached' if met else 'MISSED'}")
    return 0 if every else 1


def line(measured: str, name: str, figures: list[float]) -> None:
    if not figures:
        print(f"reply gap, {measured}, {name}: none")
        return
    print(
        f"reply gap, {measured}, {name}: n {len(figures)}, p50 {percentile(figures, 50):.0f}, "
        f"p95 {percentile(figures, 95):.0f}, max {max(figures):.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
