"""Resume: tab, network or server die at ten moments of a spoken interview; each must end whole. Prints a table.

    .venv/bin/python bench/loss.py [--only NAME] [--quick]

Real Chromium with a fake microphone, a real web process that is killed with SIGKILL, and a worker that processes all
interviews at the end: one playable recording and one transcript each. Needs Chromium; about six minutes on two cores.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import loss

QUICK = ("before Start's answer arrives", "in mid-answer", "during finish")


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--only", default="", help="parts of points' names, with commas between")
    asked.add_argument("--quick", action="store_true", help="three of the ten")
    given = asked.parse_args()
    wanted = given.only.split(",")
    names = [n for n in loss.POINTS if any(part in n for part in wanted) and (not given.quick or n in QUICK)]
    if loss.CHROMIUM is None:
        print("Chromium is missing: apt-get install chromium")
        return 1
    with tempfile.TemporaryDirectory() as folder, loss.platform_in(Path(folder)) as platform, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            return report(playwright, platform, names, loss.microphone_file(Path(folder)))


def report(playwright: object, platform: loss.Platform, names: list[str], microphone: Path) -> int:
    print(f"{'point':36} {'killed':8} {'seconds':>7} {'runs':>4} {'chunks':>6} {'answers':>7}  result", flush=True)
    taken, whole = {}, 0
    for name in names:
        began = time.monotonic()
        try:
            one, left = loss.taken(playwright, platform, microphone, name)
            problems, counts = left.problems, (left.runs, left.chunks, left.answers)
            taken[name] = one
        except Exception as error:  # a table with a hole says more than a stack  # noqa: BLE001
            problems, counts = [f"{type(error).__name__}: {str(error)[:300]}"], (0, 0, 0)
            if platform.web is None or platform.web.poll() is not None:
                platform.start()
        row = f"{name:36} {loss.POINTS[name][0]:8} {time.monotonic() - began:7.0f} {counts[0]:4} {counts[1]:6} {counts[2]:7}"
        print(row, " ", "whole" if not problems else "; ".join(problems).replace("\n", " "), flush=True)
        whole += not problems
    print(f"{whole} of {len(names)} interviews ended whole", flush=True)
    playable = processed(platform, taken)
    print(f"{playable} of {len(names)} have one playable recording and one transcript")
    return 0 if whole == playable == len(names) else 1


def processed(platform: loss.Platform, taken: dict[str, loss.Candidate]) -> int:
    """Let a worker process them; count those with a recording that plays and one transcript that fits it."""
    with (platform.folder / "worker.log").open("ab") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "worker"], env=platform.env, cwd=ROOT, stdout=log, stderr=log
        )
    try:
        return sum(is_whole(platform, name, one) for name, one in taken.items())
    finally:
        worker.terminate()
        try:
            worker.wait(40)
        except subprocess.TimeoutExpired:
            worker.kill()


def is_whole(platform: loss.Platform, name: str, one: loss.Candidate) -> bool:
    data = wait_for_data(platform, one.interview_id)
    if data is None:
        print(f"  {name}: was not processed in time")
        return False
    seconds = loss.playable_seconds(requests.get(data["audio_url"], timeout=60).content)
    lines = data["transcript_with_timestamp"]
    answers = [line for line in lines if line["role"] == "user"]
    ends = max((word["end"] for line in lines for word in line["words"]), default=0.0)
    good = len(answers) >= len(loss.QUESTIONS) and seconds + 0.5 >= ends > 0
    print(
        f"  {name}: plays {seconds:.1f} s, last word at {ends:.1f} s, {len(answers)} answers{'' if good else ': NOT WHOLE'}"
    )
    return good


def wait_for_data(platform: loss.Platform, interview_id: str, seconds: float = 240) -> dict | None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        listed = platform.api("GET", "/interviews", params={"transcript": "full", "limit": 100})["interviews"]
        found = next(dict(one) for one in listed if one["interview_id"] == interview_id)
        if found["status"] == "completed" and (found["interview_data"] or {}).get("audio_url"):
            return found["interview_data"]
        time.sleep(1)
    return None


if __name__ == "__main__":
    sys.exit(main())
