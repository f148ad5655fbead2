"""Which tests share a worker, one after another: those of a module that starts a browser or something else costly once,
and modules that need whole platforms, so that at most four run at the same time: one for members' pages, which share
it, one for processes, one for talks, and that of the accidents in a talk. What takes longest begins first.

The mark ``xdist_group`` says so. pytest-xdist itself adds it to the tests' names where pytest 9.2 no longer looks, and
so every worker set up everything: here it is read from the module's source, and names stay as they are.
"""

import functools
import re
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

ROOT = Path(__file__).resolve().parents[1]
LONGEST = (
    "platform",
    "tests/browser/talks/test_talks.py",
    "pages",
    "tests/browser/test_loss.py",
    "platform-talks",
    "recogniser",
    "one",
)
"""Lanes that take minutes, the longest first: one that began last would keep everybody waiting."""
MARKED = re.compile(r'^pytestmark = (?:\[[^\]]*|.*)\bxdist_group\("([\w-]+)"\)', re.MULTILINE)


@functools.cache
def lane_of(path: str) -> str | None:
    """The lane of a module; None where each test goes to whoever is free."""
    if marked := MARKED.search((ROOT / path).read_text(encoding="utf-8")):
        return marked[1]
    return path if path.startswith("tests/browser/") else None


def place_of(nodeid: str) -> int:
    """Where a test's lane stands in the order in which lanes begin: those that take minutes, others, single tests."""
    lane = lane_of(nodeid.partition("::")[0])
    return LONGEST.index(lane) if lane in LONGEST else len(LONGEST) + (lane is None)


class Lanes(LoadScopeScheduling):
    """Lanes in the order of the collected tests."""

    def _split_scope(self, nodeid: str) -> str:
        return lane_of(nodeid.partition("::")[0]) or nodeid

    def remove_node(self, node: WorkerController) -> str | None:
        """The test that the worker was ended at, if any. xdist would run it once more, and hand out finished lanes."""
        left = {
            lane: open_ones
            for lane, tests in self.assigned_work[node].items()
            if (open_ones := {test: done for test, done in tests.items() if not done})
        }
        ended_at = next((test for tests in left.values() for test in tests), None)
        if ended_at is not None:
            del next(iter(left.values()))[ended_at]
        self.assigned_work[node] = {lane: tests for lane, tests in left.items() if tests}
        super().remove_node(node)
        return ended_at
