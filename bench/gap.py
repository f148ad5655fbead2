"""Reply gap in a real browser: from the end of speech to the first sound of the reply, as the browser measures it.

    .venv/bin/python bench/gap.py [--interviews 2] [--questions 5] [--quick]

Chromium with a fake microphone that plays self-made short answers, the real platform with the embedded engines. A short
answer gets one follow-up, so scripted replies and follow-ups take turns. Per stage: detection in the browser, reading the
sound, recognition, decision, voice, the whole request, and what is left (network, upload of the last chunk, decoding).
"""

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import loss
from tests.browser.conftest import write_wav
from tests.browser.speech import NOISE, spoken

GOAL = {50: 900, 95: 1500}
STAGES = ("detected_ms", "collected_ms", "recognised_ms", "decided_ms", "spoken_ms", "answered_ms", "heard_ms")
SAID = "I like the people here."


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--interviews", type=int, default=2)
    asked.add_argument("--questions", type=int, default=5)
    asked.add_argument("--quick", action="store_true", help="one interview of three questions")
    given = asked.parse_args()
    if given.quick:
        given.interviews, given.questions = 1, 3
    if loss.CHROMIUM is None:
        print("Chromium is missing: apt-get install chromium")
        return 1
    with tempfile.TemporaryDirectory() as folder, loss.platform_in(Path(folder), with_model=False) as platform:
        turns = talked(platform, microphone_file(Path(folder)), given)
    return report(turns)


def microphone_file(folder: Path) -> Path:
    """Again and again: eight quiet seconds, in which the agent speaks, and a short answer."""
    rng = np.random.default_rng(9)
    samples = np.concatenate([np.zeros(16000 * 8), spoken(SAID), np.zeros(16000)])
    return write_wav(folder / "short.wav", samples + rng.normal(0, NOISE, len(samples)), rate=16000)


def talked(platform: loss.Platform, microphone: Path, given: argparse.Namespace) -> list[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    questions = [f"This is question {number}. What do you say?" for number in range(1, given.questions + 1)]
    with warnings.catch_warnings(), sync_playwright() as playwright:
        warnings.simplefilter("ignore")
        for _ in range(given.interviews):
            one = loss.Candidate(playwright, platform, microphone, questions=questions)
            try:
                one.begin()
                patience = time.monotonic() + 60 * given.questions
                while not one.page.locator("h1", has_text="Thank you").count():
                    if time.monotonic() > patience:
                        print("an interview was not finished:", one.page.inner_text("body")[:300])
                        break
                    one.page.wait_for_timeout(200)
            finally:
                one.close()
    columns = ", ".join(STAGES)
    rows = platform.rows(f"select reply_kind, {columns} from turn where kind = 'answer' order by created_at")
    return [dict(zip(("reply", *STAGES), row, strict=True)) for row in rows]


def report(turns: list[dict[str, Any]]) -> int:
    kinds = {"follow-ups": [one for one in turns if one["reply"] == "follow_up"]}
    kinds["scripted replies"] = [one for one in turns if one["reply"] in {"question", "outro"}]
    kinds["all replies"] = turns
    for name, some in kinds.items():
        heard = [one["heard_ms"] for one in some if one["heard_ms"] is not None]
        if not heard:
            print(f"{name}: none was heard ({len(some)} turns)")
            continue
        print(f"{name}: n {len(heard)}, end of speech to first sound p50 {percentile(heard, 50)}, "
              f"p95 {percentile(heard, 95)}, max {max(heard)} ms")  # fmt: skip
        for stage in STAGES[:-1]:
            figures = [one[stage] or 0 for one in some]
            print(
                f"    {stage.removesuffix('_ms'):10} median {statistics.median(figures):6.0f}, max {max(figures):6.0f} ms"
            )
        rest = [
            one["heard_ms"] - (one["detected_ms"] or 0) - (one["answered_ms"] or 0) for one in some if one["heard_ms"]
        ]
        print(f"    {'the rest':10} median {statistics.median(rest):6.0f}, max {max(rest):6.0f} ms")
    every = [one["heard_ms"] for one in turns if one["heard_ms"] is not None]
    met = bool(every) and all(percentile(every, of) <= goal for of, goal in GOAL.items())
    print(f"goal p50 <= {GOAL[50]} and p95 <= {GOAL[95]} ms: {'reached' if met else 'MISSED'}")
    return 0 if every else 1


def percentile(figures: list[int], of: int) -> int:
    ordered = sorted(figures)
    return ordered[min(len(ordered) - 1, round(of / 100 * (len(ordered) - 1)))]


if __name__ == "__main__":
    sys.exit(main())
