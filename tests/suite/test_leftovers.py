"""A run of tests that leaves a process behind fails, names it and ends it."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

LEAVING = """
    import subprocess, sys

    def test_leaves_a_process():
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        print("left", child.pid)
        {rest}
"""


def run(folder: Path, rest: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(textwrap.dedent(LEAVING).format(rest=rest))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rP",
        "-c",
        os.devnull,
        "--rootdir",
        str(folder),
        "-p",
        "tests.leftovers",
    ]
    given = {**os.environ, "PYTHONPATH": str(ROOT), "PARLEY_TEST_PATIENCE": "1"}
    return subprocess.run(
        [*command, *arguments, str(folder)], cwd=folder, env=given, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(),
    reason="the environment of a process can only be read on systems with /proc",
)
@pytest.mark.parametrize(
    "arguments", [("-p", "no:randomly"), ("-p", "no:randomly", "-n", "1")], ids=["alone", "workers"]
)
def test_a_run_that_leaves_a_process_fails_and_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    ended = run(tmp_path, "", *arguments)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "1 processes that tests started were still there" in ended.stdout
    left = int(ended.stdout.partition("left ")[2].split()[0])
    assert not Path(f"/proc/{left}").exists() or "Z" in Path(f"/proc/{left}/stat").read_text()


def test_a_run_that_leaves_nothing_passes(tmp_path: Path) -> None:
    ended = run(tmp_path, "child.kill(); child.wait()")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "were still there" not in ended.stdout
