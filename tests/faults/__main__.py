"""Runs the cases, each group in a process of its own, and prints the table. Exit status 0 only if all passed."""

import argparse
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.faults.case import CASES, Case
from tests.faults.groups import Found, Order, run_all
from tests.faults.installation import make_template

MODULES = (
    "processes",
    "redis",
    "database",
    "busy",
    "disk",
    "receivers",
    "webhooks",
    "network",
    "candidate",
    "browser",
    "files",
    "releases",
    "load",
    "clock",
)
JOBS = 8
"""Most cases wait for leases and clocks, so that many of them need few processors."""


def main() -> int:
    load()
    arguments = _arguments()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"seed {seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    directory = Path(tempfile.mkdtemp(prefix="parley-faults-"))
    try:
        order = Order(seed, not arguments.all, directory / "template", directory, arguments.jobs)
        return _run(_chosen(arguments), order, arguments)
    finally:
        if arguments.keep:
            print(f"kept: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


def load() -> None:
    """Enter all cases into the list."""
    for name in MODULES:
        import_module(f"tests.faults.cases_{name}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--smoke", action="store_true", help="the quick set with short sweeps, as with every change")
    what.add_argument("--all", action="store_true", help="all cases with full sweeps")
    parser.add_argument("--only", default="", help="cases, comma separated: F03,F12")
    parser.add_argument("--seed", type=int, help="replays a run")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"groups at the same time (default {JOBS})")
    parser.add_argument("--json", type=Path, help="also write the results there")
    parser.add_argument("--keep", action="store_true", help="keep logs, journals and databases")
    return parser.parse_args()


def _chosen(arguments: argparse.Namespace) -> list[Case]:
    wanted = {word.strip().upper() for word in arguments.only.split(",") if word.strip()}
    if unknown := wanted - set(CASES):
        raise SystemExit(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(sorted(CASES))}")
    if wanted:
        return [CASES[number] for number in sorted(wanted)]
    return [found for _number, found in sorted(CASES.items()) if found.is_smoke or arguments.all]


def _run(cases: list[Case], order: Order, arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    make_template(order.template)
    found = run_all(cases, order, say=_say)
    if arguments.smoke:
        _once_more(cases, order, found)
    _print(cases, found.verdicts)
    told = {
        "seed": order.seed,
        "seconds": round(time.monotonic() - began),
        "cases": found.verdicts,
        "processor": found.processor,
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=1))
    results = [verdict["result"] for verdict in found.verdicts.values()]
    passed, failed, not_run = (results.count(word) for word in ("passed", "FAILED", "not run"))
    spent = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"\n{passed} passed, {failed} failed, {not_run} not run, {told['seconds']} s, {spent:.0f} s of processors")
    return 1 if failed or not _may_be_missing(cases, found, arguments) else 0


def _once_more(cases: list[Case], order: Order, found: Found) -> None:
    """As the tests do it: a shared machine may give a process no time for a minute. What fails twice has failed."""
    failed = [one for one in cases if found.verdicts[one.number]["result"] == "FAILED"]
    if not failed:
        return
    _say(f"FAILED AT FIRST, once more, alone: {', '.join(one.number for one in failed)}")
    for one in failed:
        _say("\n".join(f"  {one.number}: {flaw}" for flaw in found.verdicts[one.number]["flaws"][:5]))
    again = order.directory / "again"
    again.mkdir()
    found.verdicts |= run_all(failed, replace(order, jobs=1, directory=again), say=_say).verdicts


def _may_be_missing(cases: list[Case], found: Found, arguments: argparse.Namespace) -> bool:
    """ "Not run" is no pass. Only where a change is looked at may a right be missing: that of root."""
    missing = [one for one in cases if found.verdicts[one.number]["result"] == "not run"]
    return not missing or (arguments.smoke and all(one.needs_root for one in missing))


def _say(words: str) -> None:
    print(words, flush=True)


def _print(cases: list[Case], verdicts: dict[str, dict[str, Any]]) -> None:
    rows = [("case", "fault", "fired", "invariant", "figure", "result")]
    for one in cases:
        found = verdicts[one.number]
        rows.append(
            (
                one.number,
                one.title,
                found["fired"] or "-",
                one.invariants,
                found["figure"] or found["not_run"] or "-",
                found["result"],
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print()
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())
    for one in cases:
        for flaw in verdicts[one.number]["flaws"][:8]:
            print(f"{one.number}: {flaw}")


if __name__ == "__main__":
    sys.exit(main())
