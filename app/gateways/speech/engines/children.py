"""Engines that need a process of their own: started when first needed, ended with their parent, replaced when lost.

A child is a Python program of its own file, so it loads its engine and nothing of Parley. It talks over a socket
pair; it ends when that closes, and Linux ends it too when its parent dies. It is started from a thread that lives
as long as it does, because PDEATHSIG looks at the starting thread. A forked worker forgets its parent's children.
"""

import os
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from app.core.errors import GatewayError
from app.gateways.speech.engines.exchange import ChildFailed, ChildLost, Exchange

__all__ = ["Child", "ChildFailed", "ChildLost", "Children"]

END_PATIENCE = 2.0
_KEPT = ("LD_LIBRARY_PATH", "PATH", "TMPDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_ENVIRONMENT = {name: os.environ[name] for name in _KEPT if name in os.environ}
"""No secret of Parley's reaches an engine, and no place where it would look for other models."""


class Child(Exchange):
    """One running engine process."""

    def __init__(self, program: Path, *, on_news: Callable[..., None] | None = None) -> None:
        super().__init__(on_news=on_news)
        self._started = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self.born = time.monotonic()
        self._keeper = threading.Thread(target=self._keep, args=(program,), name=f"{program.stem}-keeper", daemon=True)
        self._keeper.start()

    @property
    def pid(self) -> int:
        """Process id; 0 if it could not be started."""
        self._started.wait()
        return 0 if self._process is None else self._process.pid

    def end_if_stuck(self, timeout: float) -> None:
        """Kill the process if nothing has come from it for so long."""
        if self.is_silent_for(timeout) and self._process is not None:
            self.lost = True
            self._process.kill()

    def _out_of_time(self, message: tuple[Any, ...], timeout: float) -> None:
        del message
        self.end_if_stuck(timeout)

    def close(self) -> None:
        """End the process and wait for its end."""
        self.hang_up()
        self._keeper.join(END_PATIENCE * 2)

    def _keep(self, program: Path) -> None:
        try:
            process, connection = _start(program)
        except OSError:
            self.give_up()
            self._started.set()
            return
        self._process = process
        self._started.set()
        self.serve(connection, name=program.stem)
        _end(process)


def _start(program: Path) -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", str(program), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            pass_fds=(theirs.fileno(),),
        )
        return process, Connection(ours.detach())


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(END_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Children:
    """At most `most` children of one program; the least busy one serves, a lost one is replaced.

    `on_news` gets what a child tells without being asked; it is called from the child's own thread and must be quick.
    """

    def __init__(self, program: Path, *, most: int = 1, on_news: Callable[..., None] | None = None) -> None:
        self._program, self._on_news = program, on_news
        self._most = most
        self._closed = False
        self._lock = threading.Lock()
        self._running: list[Child] = []
        _owners.add(self)

    def pick(self) -> Child:
        """The child with the fewest open questions, started if there is still room."""
        with self._lock:
            if self._closed:
                raise GatewayError("this speech engine has been closed", retryable=True)
            self._running = [child for child in self._running if not child.lost]
            idle = [child for child in self._running if not child.load]
            if not idle and len(self._running) < self._most:
                self._running.append(Child(self._program, on_news=self._on_news))
                return self._running[-1]
            return min(self._running, key=lambda child: child.load)

    def call(self, *message: Any, timeout: float) -> Any:
        """Ask any child; once more in a new one if the first is lost."""
        for _ in range(2):
            try:
                return self.pick().call(*message, timeout=timeout)
            except ChildLost:
                continue
        raise GatewayError("the embedded engine stopped unexpectedly twice; try again", retryable=True)

    def pids(self) -> list[int]:
        """Process ids of the running children."""
        with self._lock:
            return [child.pid for child in self._running if not child.lost]

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            self._closed = True
            running, self._running = self._running, []
        for child in running:
            child.close()

    def after_fork(self) -> None:
        """In a forked worker: the parent's children are not ours."""
        _inherited.extend(self._running)
        for child in self._running:
            child.forget()
        self._lock = threading.Lock()
        self._running = []


_owners: weakref.WeakSet[Children] = weakref.WeakSet()
_inherited: list[Child] = []  # kept, so that no one waits for processes of another parent


def _forget_all() -> None:
    for owner in list(_owners):
        owner.after_fork()


os.register_at_fork(after_in_child=_forget_all)
