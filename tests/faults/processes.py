"""Starts real processes and ends them by their own ids, finds their children, and puts strace on them."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.faults.case import Lab, NotRun, eventually

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def parley(*arguments: str, cwd: Path = ROOT) -> list[str]:
    """The command of the code at ``cwd``; releases before rooms were grouped have it elsewhere."""
    module = "app.operations.cli" if (cwd / "app" / "operations").is_dir() else "app.cli"
    return [sys.executable, "-m", module, *arguments]


def ends_with_us(number: int) -> Callable[[], None]:
    """For ``preexec_fn``: the child gets this signal when the thread that started it ends."""
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(1, number)


class Process:
    """One child; stopped at the end of the lab at the latest."""

    def __init__(
        self,
        lab: Lab,
        command: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        name: str = "process",
        stop_with: int = signal.SIGTERM,
        cwd: Path = ROOT,
        **options: Any,
    ) -> None:
        self.log = lab.directory / f"{name}.log"
        self._stop_with = stop_with
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                list(command),
                env={**os.environ, **(env or {})},
                stdout=log,
                stderr=log,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                preexec_fn=ends_with_us(stop_with),  # noqa: PLW1509 - one call of prctl
                **options,
            )
        self.pid = self._popen.pid
        lab.resources.callback(self.stop)

    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def kill(self) -> bool:
        """SIGKILL; True when it was alive and is dead now."""
        was_alive = self.is_alive()
        self._popen.kill()
        return self._popen.wait() == -signal.SIGKILL and was_alive

    def ended_by(self, *, seconds: float) -> int | None:
        """Exit status, negative for a signal; None while it lives on."""
        with suppress(subprocess.TimeoutExpired):
            return self._popen.wait(seconds)
        return None

    def stop(self, patience: float = 30.0) -> int:
        """End it as an operator does; returns the exit status."""
        if self.is_alive():
            with suppress(ProcessLookupError):
                self._popen.send_signal(signal.SIGCONT)
                self._popen.send_signal(self._stop_with)
        try:
            return self._popen.wait(patience)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            return self._popen.wait()


def children(pid: int) -> list[int]:
    """Direct children, by the kernel's own list."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in task.read_text().split()]
    return found


def descendants(pid: int) -> list[int]:
    below = children(pid)
    return below + [deeper for child in below for deeper in descendants(child)]


def is_running(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def holder_of_port(pids: Sequence[int], port: int) -> int | None:
    """Which of ``pids`` has a TCP connection with this local port."""
    inodes = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if int(words[1].split(":")[1], 16) == port:
            inodes.add(f"socket:[{words[9]}]")
    for pid in pids:
        with suppress(OSError):
            if any(str(fd.readlink()) in inodes for fd in Path(f"/proc/{pid}/fd").iterdir()):
                return pid
    return None


class Strace:
    """strace on a running process: counts its calls, or does something to the Nth."""

    def __init__(self, lab: Lab, pid: int, *options: str, calls: str, name: str = "strace") -> None:
        self.out = lab.directory / f"{name}.out"
        self.out.unlink(missing_ok=True)
        command = ["strace", "-f", "-p", str(pid), "-o", str(self.out), "-e", f"trace={calls}", *options]
        try:
            self._process = Process(lab, command, name="strace", stop_with=signal.SIGTERM)
        except FileNotFoundError:
            raise NotRun("strace is not installed") from None
        if not eventually(lambda: _is_traced(pid), seconds=10, every=0.01):
            raise NotRun("strace may not attach here")
        time.sleep(0.05)

    def stop(self) -> str:
        """Detach; returns what was written."""
        self._process.stop(patience=10)
        return self.out.read_text(errors="replace")


def _is_traced(pid: int) -> bool:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return bool(tasks) and all("TracerPid:\t0\n" not in (task / "status").read_text() for task in tasks)
    except OSError:
        return False
