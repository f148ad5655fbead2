"""Runs the cases, each group in a process of its own, and prints the table. Exit status 0 only if all passed."""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.faults.case import CASES, Case, Lab, NotRun, Verdict
from tests.faults.processes import ROOT, descendants, ends_with_us

MODULES = (
    "processes", "redis", "database", "disk", "receivers", "webhooks", "network", "candidate", "browser", "files",
    "releases", "load",
)  # fmt: skip
CI = ("F01", "F02", "F05", "F12", "F21", "F26", "F34", "F38", "F40", "F41", "F43", "F44")
"""With every change: one case of each kind, none of which needs to be root, that take the least time together."""
LONGEST = 900
LONGEST_SMOKE = 240


def main() -> int:
    arguments = _arguments()
    for name in MODULES:
        import_module(f"tests.faults.cases_{name}")
    if arguments.child:
        return _child(arguments)
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"seed {seed}", flush=True)
    directory = Path(tempfile.mkdtemp(prefix="parley-faults-"))
    try:
        return _run(_chosen(arguments), arguments, seed=seed, directory=directory)
    finally:
        if arguments.keep:
            print(f"kept: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--smoke", action="store_true", help="the quick set with short sweeps")
    what.add_argument("--ci", action="store_true", help=f"a dozen of it: {', '.join(CI)}")
    what.add_argument("--all", action="store_true", help="all cases with full sweeps")
    parser.add_argument("--only", default="", help="cases, comma separated: F03,F12")
    parser.add_argument("--seed", type=int, help="replays a run")
    parser.add_argument("--jobs", type=int, default=3, help="groups at the same time (default 3)")
    parser.add_argument("--json", type=Path, help="also write the results there")
    parser.add_argument("--keep", action="store_true", help="keep logs, journals and databases")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _chosen(arguments: argparse.Namespace) -> list[Case]:
    wanted = {word.strip().upper() for word in arguments.only.split(",") if word.strip()}
    if unknown := wanted - set(CASES):
        raise SystemExit(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(sorted(CASES))}")
    if wanted or arguments.ci:
        return [CASES[number] for number in sorted(wanted or CI)]
    return [found for _number, found in sorted(CASES.items()) if found.is_smoke or arguments.all]


def _run(cases: list[Case], arguments: argparse.Namespace, *, seed: int, directory: Path) -> int:
    from tests.faults.installation import make_template

    began = time.monotonic()
    arguments.template = directory / "template"
    make_template(arguments.template)
    verdicts = _verdicts(cases, arguments, seed=seed, directory=directory)
    failed = [one for one in cases if verdicts[one.number]["result"] == "FAILED"]
    if failed and arguments.ci:  # as the tests do it: a shared machine may give a process no time for a minute
        print(f"FAILED AT FIRST, once more, alone: {', '.join(one.number for one in failed)}", flush=True)
        for one in failed:
            print("\n".join(f"  {one.number}: {flaw}" for flaw in verdicts[one.number]["flaws"][:5]))
        arguments.jobs = 1
        (directory / "again").mkdir()
        verdicts |= _verdicts(failed, arguments, seed=seed, directory=directory / "again")
    _print(cases, verdicts)
    told = {"seed": seed, "seconds": round(time.monotonic() - began), "cases": verdicts}
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=1))
    return _summary(verdicts.values(), seconds=told["seconds"], is_full=not (arguments.smoke or arguments.ci))


def _verdicts(
    cases: list[Case], arguments: argparse.Namespace, *, seed: int, directory: Path
) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Case]] = {}
    for one in cases:
        groups.setdefault(one.group, []).append(one)
    verdicts: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(_group, names, arguments, seed, directory) for names in groups.values()]
        for done in as_completed(running):
            for number, verdict in done.result().items():
                verdicts[number] = verdict
                print(f"  {number} {verdict['result']} ({verdict['seconds']:.0f} s)", flush=True)
    return verdicts


def _group(cases: list[Case], arguments: argparse.Namespace, seed: int, directory: Path) -> dict[str, dict[str, Any]]:
    place = directory / cases[0].group
    place.mkdir()
    job = place / "job.json"
    job.write_text(json.dumps({
        "cases": [one.number for one in cases], "seed": seed, "smoke": not arguments.all,
        "template": str(arguments.template),
    }))  # fmt: skip
    with (place / "harness.log").open("wb") as log:
        command = [sys.executable, "-m", "tests.faults", "--child", str(job)]
        child = subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True,
            preexec_fn=ends_with_us(signal.SIGTERM),  # noqa: PLW1509 - one call of prctl
        )  # fmt: skip
    try:
        child.wait(LONGEST if arguments.all else LONGEST_SMOKE)
    except subprocess.TimeoutExpired:
        _end(child)
    found = {}
    for one in cases:
        path = place / f"{one.number}.json"
        lost = Verdict(flaws=[f"the case did not end: {(place / 'harness.log').read_text()[-600:]}"]).to_json()
        found[one.number] = json.loads(path.read_text()) if path.exists() else lost
    return found


def _end(child: subprocess.Popen[bytes]) -> None:
    """SIGTERM lets the child give back mounts and namespaces; what is left of its own family is ended by pid."""
    family = descendants(child.pid)
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(40)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    for pid in family:
        if f"{os.sep}python" in _command(pid) or "parley" in _command(pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _child(arguments: argparse.Namespace) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    job = json.loads(arguments.child.read_text())
    place = arguments.child.parent
    lab = Lab(place, seed=job["seed"], is_smoke=job["smoke"], template=Path(job["template"]))
    with lab.resources:
        for number in job["cases"]:
            verdict = _verdict(CASES[number], lab)
            (place / f"{number}.json").write_text(json.dumps(verdict.to_json()))
    return 0


def _verdict(one: Case, lab: Lab) -> Verdict:
    began = time.monotonic()
    lab.random.seed(f"{lab.seed} {one.number}")
    try:
        verdict = one.run(lab)
    except NotRun as missing:
        verdict = Verdict(not_run=str(missing))
    except Exception as error:  # noqa: BLE001 - a case that breaks has failed, the others go on
        traceback.print_exc()
        last = traceback.extract_tb(error.__traceback__)[-1]
        verdict = Verdict(flaws=[f"the case broke: {type(error).__name__}: {str(error)[:300]} at line {last.lineno}"])
    verdict.seconds = round(time.monotonic() - began, 1)
    return verdict


def _print(cases: list[Case], verdicts: dict[str, dict[str, Any]]) -> None:
    rows = [("case", "fault", "fired", "invariant", "figure", "result")]
    for one in cases:
        found = verdicts[one.number]
        rows.append((
            one.number, one.title, found["fired"] or "-", one.invariants, found["figure"] or found["not_run"] or "-",
            found["result"],
        ))  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print()
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())
    for one in cases:
        for flaw in verdicts[one.number]["flaws"][:8]:
            print(f"{one.number}: {flaw}")


def _summary(verdicts: Iterable[dict[str, Any]], *, seconds: int, is_full: bool) -> int:
    results = [verdict["result"] for verdict in verdicts]
    passed, failed, not_run = (results.count(word) for word in ("passed", "FAILED", "not run"))
    print(f"\n{passed} passed, {failed} failed, {not_run} not run, {seconds} s")
    return 1 if failed or (is_full and not_run) else 0


if __name__ == "__main__":
    sys.exit(main())
