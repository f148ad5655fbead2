"""Resume: tab, network or server die at ten moments of a spoken interview. Each interview must end complete. Prints a table.

    .venv/bin/python bench/loss.py [--only NAME]

Real Chromium, a real web process that is killed with SIGKILL, and a worker that creates one playable recording and one
transcript of each. The same ten run with the tests (tests/browser/test_loss.py). Needs Chromium; about five minutes on
two cores.
"""

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import loss
from tests.browser.conftest import CHROMIUM
from tests.browser.rehearsal import Platform, platform_in


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--only", default="", help="parts of points' names, separated by commas")
    wanted = asked.parse_args().only.split(",")
    names = [name for name in loss.POINTS if any(part in name for part in wanted)]
    if CHROMIUM is None:
        print("Chromium is missing: apt-get install chromium")
        return 1
    with tempfile.TemporaryDirectory() as folder, platform_in(Path(folder)) as platform, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            return report(playwright, platform, names)


def report(playwright: Any, platform: Platform, names: list[str]) -> int:
    print(f"{'point':36} {'killed':12} {'took s':>6} {'runs':>4} {'chunks':>6} {'answers':>7} {'plays s':>7}  result")
    whole = 0
    for name in names:
        began = time.monotonic()
        try:
            left = loss.taken(playwright, platform, name)
        except Exception as error:  # a table with a hole says more than a stack  # noqa: BLE001
            left = loss.Left([f"{type(error).__name__}: {str(error)[:300]}"])
            if platform.web is None or platform.web.poll() is not None:
                platform.start()
        whole += not left.problems
        print(
            f"{name:36} {loss.POINTS[name][0]:12} {time.monotonic() - began:6.0f} {left.runs:4} {left.chunks:6} "
            f"{left.answers:7} {left.seconds:7.1f}  {'; '.join(left.problems).replace(chr(10), ' ') or 'whole'}",
            flush=True,
        )
    print(f"resume: {whole} of {len(names)} whole: same question, one playable recording, one transcript")
    return 0 if whole == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
