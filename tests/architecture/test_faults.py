"""Which fault cases there are, and which of them run with every change."""

from tests.faults.__main__ import load
from tests.faults.case import CASES

from .source import ROOT

load()
PROMISED = {
    "F01",
    "F02",
    "F03",
    "F04",
    "F05",
    "F06",
    "F12",
    "F18",
    "F21",
    "F27",
    "F30",
    "F31",
    "F36",
    "F40",
    "F43",
    "F49",
}
"""With every change at least these."""


def test_every_case_of_the_list_exists() -> None:
    assert sorted(CASES) == [f"F{number:02d}" for number in range(1, 54)]


def test_the_quick_set_holds_what_was_promised_and_runs_with_every_change() -> None:
    quick = {number for number, one in CASES.items() if one.is_smoke}
    assert quick >= PROMISED
    assert "make --no-print-directory faults-smoke" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_only_cases_that_mount_or_divide_the_network_may_be_missing_there() -> None:
    excused = {number for number, one in CASES.items() if one.is_smoke and one.needs_root}
    assert excused & PROMISED == {"F27", "F36"}
    assert excused == {"F25", "F27", "F36"}
