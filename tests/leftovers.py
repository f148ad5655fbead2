"""Processes that tests start end with them, whatever happens: ``end`` for one and its descendants, and a look at the
end of the whole run for all. A process is recognised by a variable that it inherits, so that the look needs no list: a
worker that was killed could not have kept one. Needs /proc; elsewhere the look finds nothing."""

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.faults.processes import descendants

MARK = "PARLEY_TEST_RUN"
PATIENT = float(os.environ.get("PARLEY_TEST_PATIENCE", "20"))
"""Seconds in which processes that were told to end may do so."""


def end(process: subprocess.Popen[bytes], *, seconds: float = 60) -> None:
    """Ask ``process`` to end, then force it and whatever it has started."""
    family = descendants(process.pid)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        _kill(family)


def left(mark: str) -> dict[int, str]:
    """Processes of a run that still live, by id, with their commands; this process is none of them."""
    mine = f"{MARK}={mark}".encode()
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if int(path.name) != os.getpid() and mine in (path / "environ").read_bytes().split(b"\0"):
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                found[int(path.name)] = command[:200]
        except OSError:
            continue  # it has ended meanwhile, or belongs to somebody else
    return {pid: command for pid, command in found.items() if command}  # what has no command line any more is a zombie


def _kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the workers of a run inherit its mark
        os.environ[MARK] = uuid.uuid4().hex


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    yield
    if hasattr(session.config, "workerinput"):
        return
    mark, deadline = os.environ[MARK], time.monotonic() + PATIENT
    while (still := left(mark)) and time.monotonic() < deadline:
        time.sleep(0.2)
    if still:
        print(f"\n{len(still)} processes that tests started were still there, and were ended:")
        print(*(f"  {pid} {command}" for pid, command in still.items()), sep="\n")
        _kill(list(still))
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
