"""What a case is: a named fault, what must hold, the proof that it was injected, and everything it has to give back."""

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")


class NotRun(Exception):
    """A tool or a right is missing; this never counts as passed."""


@dataclass
class Verdict:
    """What a case found. ``fired`` is the proof of injection; ``flaws`` are the invariants that did not hold."""

    fired: str = ""
    figure: str = ""
    flaws: list[str] = field(default_factory=list)
    seconds: float = 0.0
    not_run: str = ""

    def holds(self, condition: object, otherwise: str) -> None:
        """Note a flaw unless ``condition``; a case goes on, so that the rest of the history is checked as well."""
        if not condition:
            self.flaws.append(otherwise)

    @property
    def result(self) -> str:
        """``passed``, ``FAILED`` or ``not run``; a fault that did not fire proves nothing and fails."""
        if self.not_run:
            return "not run"
        return "passed" if self.fired and not self.flaws else "FAILED"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "result": self.result}


class Lab:
    """One child process of the suite: its chance, its directory, and resources that are removed whatever happens."""

    def __init__(self, directory: Path, *, seed: int, is_smoke: bool, template: Path) -> None:
        self.directory, self.seed, self.is_smoke, self.template = directory, seed, is_smoke, template
        self.random = random.Random(seed)
        self.resources = ExitStack()
        self._shared: dict[str, Any] = {}

    def shared(self, name: str, make: Callable[[], Made]) -> Made:
        """The same thing for all cases of a group, made by the first."""
        if name not in self._shared:
            self._shared[name] = make()
        made: Made = self._shared[name]
        return made

    def amount(self, *, smoke: int, full: int) -> int:
        """How many rounds: few on every run, many in the full set."""
        return smoke if self.is_smoke else full

    def sample(self, total: int, *, smoke: int) -> list[int]:
        """Numbers from 1 to ``total``: all in the full set; some in the smoke set, always with both ends."""
        if not self.is_smoke or total <= smoke:
            return list(range(1, total + 1))
        return sorted({1, total, *self.random.sample(range(1, total + 1), smoke - 2)})


Run = Callable[[Lab], Verdict]


@dataclass(frozen=True)
class Case:
    """``group``: cases that share an installation run one after the other in one process.

    ``takes``: about how many seconds with short sweeps, so that the longest can begin first.
    """

    number: str
    title: str
    invariants: str
    group: str
    is_smoke: bool
    run: Run
    takes: int
    needs_root: bool


CASES: dict[str, Case] = {}


def case(
    number: str,
    title: str,
    *,
    invariants: str,
    group: str = "",
    smoke: bool = False,
    takes: int = 10,
    root: bool = False,
) -> Callable[[Run], Run]:
    """Enter a function into the list of cases."""

    def enter(run: Run) -> Run:
        CASES[number] = Case(number, title, invariants, group or number, smoke, run, takes, root)
        return run

    return enter


def eventually(holds: Callable[[], Made], *, seconds: float, every: float = 0.1) -> Made:
    """Poll until ``holds()`` is true, and return it; its last value when the time is over."""
    deadline = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < deadline:
        time.sleep(every)
    return found


def percentile(values: list[float], share: float) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))] if ordered else 0.0
