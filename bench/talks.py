"""Generated interviews: how many break one of the promises that must hold in each (0240), and how long they take.

    .venv/bin/python bench/talks.py [--talks 2000] [--seed N] [--quick] [--drops | --again]

Plays tests/browser/talks with other interviews: without --seed, different ones each time. It prints the seed. With it,
the test plays the same interviews again (TALKS, TALKS_SEED) and reports what broke, in the shortest one that it finds.
With --drops the line breaks for 0.5 to 5 seconds, every 8 to 20 seconds, and what is on its way is lost (TALKS_DROPS).
With --again the flow lets candidates say their answers again, and they do (TALKS_AGAIN).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUICK = 300


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--talks", type=int, default=2000)
    given.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    given.add_argument("--quick", action="store_true", help=f"{QUICK} talks")
    kinds = given.add_mutually_exclusive_group()
    kinds.add_argument("--drops", action="store_true", help="only talks over a line that breaks")
    kinds.add_argument("--again", action="store_true", help="only talks in which answers are said again")
    args = given.parse_args()
    talks = QUICK if args.quick else args.talks
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory() as place:
        figures = Path(place) / "figures"
        env = {**os.environ, "TALKS": str(talks), "TALKS_SEED": str(args.seed), "TALKS_FIGURES": str(figures)}
        for name in ("drops", "again"):
            if getattr(args, name):
                env[f"TALKS_{name.upper()}"] = "1"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n0",
            "-p",
            "no:randomly",
            "-o",
            "faulthandler_timeout=3600",  # a series takes minutes where the machine is busy
            "tests/browser/talks/test_talks.py",
        ]
        ended = subprocess.run(command, cwd=ROOT, env=env, check=False)
        lines = figures.read_text(encoding="utf-8").splitlines() if figures.exists() else []
    parts = [json.loads(line) for line in lines]
    total = {
        name: sum(part.get(name, 0) for part in parts)
        for name in ("talks", "seconds", "back_channels", "drops", "said again", "failed", "took")
    }
    print(
        f"{total['talks']} talks of together {total['seconds'] / 3600:.1f} h with {total['back_channels']} back-channels "
        f"over the agent's words, {total['drops']} drops of the line and {total['said again']} answers said again: {total['failed']} of {len(parts)} series failed, in {total['took']:.0f} s"
    )
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
