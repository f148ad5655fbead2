"""Which tests share a worker, one after another: those of a module that starts a browser or something else costly once,
and all modules that start whole platforms, of which a machine stands one at a time.

The mark ``xdist_group`` says so. pytest-xdist itself adds it to the tests' names where pytest 9.2 no longer looks, and
so every worker set up everything: here it is read from the module's source, and names stay as they are.
"""

import functools
import re
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r'^pytestmark = .*\bxdist_group\("([\w-]+)"\)', re.MULTILINE)


@functools.cache
def lane_of(path: str) -> str | None:
    """The lane of a module; None where each test goes to whoever is free."""
    if marked := MARKED.search((ROOT / path).read_text(encoding="utf-8")):
        return marked[1]
    return path if path.startswith("tests/browser/") else None


class Lanes(LoadScopeScheduling):
    """Longest lanes first, then single tests."""

    def _split_scope(self, nodeid: str) -> str:
        return lane_of(nodeid.partition("::")[0]) or nodeid
