"""Runs groups of cases side by side, each in a child of its own, forked when everything is already imported."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tests.faults.case import CASES, Case, Lab, NotRun, Verdict
from tests.faults.processes import descendants, ends_with_us

LONGEST = 3_000
LONGEST_SMOKE = 240
NAMESPACES = Path("/var/run/netns")
RESOLVERS = Path("/etc/netns")


@dataclass(frozen=True)
class Order:
    """What all groups of a run have in common. ``directory`` is where each makes a place of its own."""

    seed: int
    is_smoke: bool
    template: Path
    directory: Path
    jobs: int


@dataclass
class Found:
    """Verdicts by case, and the processor seconds of each group with all that it started and saw end."""

    verdicts: dict[str, dict[str, Any]]
    processor: dict[str, float]


def run_all(cases: list[Case], order: Order, *, say: Callable[[str], None]) -> Found:
    """Each group once, ``order.jobs`` at a time, those that take longest first."""
    groups: dict[str, list[Case]] = {}
    for one in cases:
        groups.setdefault(one.group, []).append(one)
    waiting = sorted(groups.values(), key=lambda group: -sum(one.takes for one in group))
    working: list[_Group] = []
    found = Found({}, {})
    try:
        while waiting or working:
            while waiting and len(working) < order.jobs:
                working.append(_Group(waiting.pop(0), order))
            time.sleep(0.1)
            for group in [one for one in working if one.is_over()]:
                working.remove(group)
                found.processor[group.name] = group.processor
                for number, verdict in group.verdicts().items():
                    found.verdicts[number] = verdict
                    say(f"  {number} {verdict['result']} ({verdict['seconds']:.0f} s)")
    finally:
        for group in working:
            group.tell()  # all at once: each takes its time to give back what it holds
        for group in working:
            group.end()
    return found


class _Group:
    """One child at work."""

    def __init__(self, cases: list[Case], order: Order) -> None:
        self._cases, self._order = cases, order
        self.name = cases[0].group
        self._place = order.directory / self.name
        self._place.mkdir()
        self._deadline = time.monotonic() + (LONGEST_SMOKE if order.is_smoke else LONGEST)
        self.processor = 0.0
        sys.stdout.flush()
        self._pid = os.fork()
        if not self._pid:
            self._work()

    def _work(self) -> NoReturn:
        """In the child."""
        status = 1
        try:
            os.setsid()
            ends_with_us(signal.SIGTERM)()
            with (self._place / "harness.log").open("wb") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            self._perform()
            status = 0
        except BaseException:  # noqa: BLE001 - SystemExit as well: nothing may go on as if it were the parent
            traceback.print_exc()
        finally:
            with suppress(OSError):
                sys.stderr.flush()
                sys.stdout.flush()
            os._exit(status)

    def _perform(self) -> None:
        order = self._order
        lab = Lab(self._place, seed=order.seed, is_smoke=order.is_smoke, template=order.template)
        with lab.resources:
            for one in self._cases:
                verdict = _verdict(CASES[one.number], lab)
                (self._place / f"{one.number}.json").write_text(json.dumps(verdict.to_json()))

    def is_over(self) -> bool:
        """Whether the child has ended; one that takes too long is told to."""
        if time.monotonic() > self._deadline:
            self.end()
            return True
        return self._has_ended()

    def tell(self) -> None:
        """Ask the child to end."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)

    def end(self) -> None:
        """SIGTERM lets the child give back mounts and namespaces; what is left of its own family is ended by pid."""
        family = descendants(self._pid)
        for number, patience in ((signal.SIGTERM, 40), (signal.SIGKILL, 10)):
            os.kill(self._pid, number)
            deadline = time.monotonic() + patience
            while not (ended := self._has_ended()) and time.monotonic() < deadline:
                time.sleep(0.1)
            if ended:
                break
        for pid in family:
            if "python" in _command(pid) or "parley" in _command(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _has_ended(self) -> bool:
        pid, _status, usage = os.wait4(self._pid, os.WNOHANG)
        if not pid:
            return False
        self.processor = usage.ru_utime + usage.ru_stime
        _give_back(self._pid, self._place)
        return True

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """What the child wrote down; a case of which it wrote nothing has failed."""
        found = {}
        for one in self._cases:
            path = self._place / f"{one.number}.json"
            if path.exists():
                found[one.number] = json.loads(path.read_text())
            else:
                told = (self._place / "harness.log").read_text(errors="replace")[-600:]
                found[one.number] = Verdict(flaws=[f"the case did not end: {told}"]).to_json()
        return found


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


def _give_back(pid: int, place: Path) -> None:
    """What a child that was killed could not give back: mounts below its place, and namespaces with its number."""
    for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
        target = line.split()[1]
        if target.startswith(f"{place}/") or f"-{pid}-" in target:
            subprocess.run(["umount", "-l", target], check=False)
    if NAMESPACES.is_dir():
        for name in [entry.name for entry in NAMESPACES.iterdir() if str(pid) in entry.name.split("-")]:
            subprocess.run(["ip", "netns", "del", name], check=False)
            shutil.rmtree(RESOLVERS / name, ignore_errors=True)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
