"""``DATA_DIR`` is held by one process, also where its lock is deleted or replaced while another waits for it."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.core import data_dir
from app.core.data_dir import LOCK, InUse, held_alone

HOLD = """
import pathlib, sys
from app.core.data_dir import held_alone
with held_alone(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def before_locking(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Make something happen once, between opening the file and locking it."""

    def arrange(happens: Callable[[], Any]) -> None:
        lockf, waiting = fcntl.lockf, [happens]

        def late(file: Any, flags: int) -> None:
            if waiting:
                waiting.pop()()
            lockf(file, flags)

        monkeypatch.setattr(data_dir.fcntl, "lockf", late)

    return arrange


def refusal(path: Path) -> str:
    """What another process gets. Reading the file in this one would end its lock."""
    ran = subprocess.run([sys.executable, "-c", HOLD, path], input="", capture_output=True, text=True, check=False)
    return ran.stderr


def replaced(lock: Path) -> None:
    new = lock.with_name("new")
    new.touch()
    new.rename(lock)


@pytest.mark.parametrize("happens", [Path.unlink, replaced], ids=["deleted", "replaced"])
def test_the_file_at_the_path_is_the_one_that_counts(
    tmp_path: Path, before_locking: Callable[[Callable[[], Any]], None], happens: Callable[[Path], None]
) -> None:
    lock = tmp_path / LOCK
    before_locking(lambda: happens(lock))
    with held_alone(tmp_path):
        assert f"InUse: Another parley up or parley restore (process {os.getpid()}) is using" in refusal(tmp_path)
    assert refusal(tmp_path) == ""


def test_who_holds_it_is_named_although_the_file_is_deleted_meanwhile(
    tmp_path: Path, before_locking: Callable[[Callable[[], Any]], None]
) -> None:
    command = [sys.executable, "-c", HOLD, tmp_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        before_locking((tmp_path / LOCK).unlink)
        with pytest.raises(InUse, match=rf"\(process {other.pid}\) is using {tmp_path}"), held_alone(tmp_path):
            pass
        other.communicate()
