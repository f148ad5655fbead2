"""Tests that start something costly together stay on one worker, and all others go to whoever is free."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lanes import LONGEST, ROOT, lane_of, place_of

CONFTEST = """
from pathlib import Path
from tests import lanes

lanes.ROOT = Path(__file__).parent

def pytest_xdist_make_scheduler(config, log):
    return lanes.Lanes(config, log)
"""

LANE = """
import os, pytest, time
pytestmark = pytest.mark.xdist_group("one")

@pytest.mark.parametrize("number", range({count}))
def test_it(number):
    with open(os.environ["RAN"], "a") as ran:
        ran.write(f"{name} {{number}}\\n")
    if number == {hangs_at}:
        time.sleep(60)
"""


def test_modules_that_share_a_platform_are_one_lane_and_other_browsers_share_nothing() -> None:
    assert lane_of("tests/browser/test_people.py") == lane_of("tests/browser/test_board.py") == "pages"
    assert lane_of("tests/platform/test_up.py") == "platform"
    assert lane_of("tests/browser/test_dock.py") == "tests/browser/test_dock.py"
    assert lane_of("tests/web/test_body.py") is None


def test_lanes_that_take_minutes_begin_first_and_all_of_them_exist() -> None:
    ordered = sorted(
        ["tests/web/test_body.py::a", "tests/browser/test_dock.py::b", "tests/browser/test_loss.py::c"], key=place_of
    )
    assert ordered == ["tests/browser/test_loss.py::c", "tests/browser/test_dock.py::b", "tests/web/test_body.py::a"]
    lanes = {lane_of(str(path.relative_to(ROOT))) for path in (ROOT / "tests").rglob("test_*.py")}
    assert lanes >= {*LONGEST}


@pytest.mark.parametrize(("hangs_at", "others"), [(0, 20), (1, 1), (2, 0)])
def test_a_test_that_hangs_is_ended_and_told_of_and_all_others_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs_at: int, others: int
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_lane.py").write_text(LANE.format(count=3, hangs_at=hangs_at, name="lane"))
    (tmp_path / "test_single.py").write_text(LANE.format(count=others, hangs_at=None, name="single"))
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "2",
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            ".",
            "-o",
            "faulthandler_timeout=1",
            "-o",
            "faulthandler_exit_on_timeout=true",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert re.search(rf"crashed while running .*test_lane.py::test_it\[{hangs_at}\]", ended.stdout), ended.stdout
    assert "Timeout (0:00:01)!" in ended.stderr
    ran = (tmp_path / "ran").read_text().splitlines()
    assert sorted(ran) == sorted([f"lane {n}" for n in range(3)] + [f"single {n}" for n in range(others)])
