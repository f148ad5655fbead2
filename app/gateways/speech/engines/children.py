"""Engines that need a process of their own: started when first needed, ended with their parent, replaced when lost.

A child is a Python program of its own file, so it loads its engine and nothing of Parley. It talks over a socket
pair; it ends when that closes, and Linux ends it too when its parent dies. It is started from a thread that lives
as long as it does, because PDEATHSIG looks at the starting thread. A forked worker forgets its parent's children.
"""

import contextlib
import io
import itertools
import os
import pickle
import queue
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from app.core.errors import GatewayError

END_PATIENCE = 2.0
_KEPT = ("LD_LIBRARY_PATH", "PATH", "TMPDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_ENVIRONMENT = {name: os.environ[name] for name in _KEPT if name in os.environ}
"""No secret of Parley's reaches an engine, and no place where it would look for other models."""


class ChildLost(Exception):
    """The process ended before it answered."""


class ChildFailed(Exception):
    """The engine in the process refused; its message is safe to show."""


class _Plain(pickle.Unpickler):
    """Numbers, text, bytes and lists of them: an engine that a recording took over cannot make us run anything."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Refuse whatever is not a plain value."""
        raise pickle.UnpicklingError(f"an engine sent {module_name}.{global_name}")


class Child:
    """One running engine process."""

    def __init__(self, program: Path, *, on_news: Callable[..., None] | None = None) -> None:
        self._on_news = on_news
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._outbox: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        self._started = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._closing = threading.Lock()
        self.lost = False
        self.pending_bytes = 0
        self._last_sign = time.monotonic()
        self._keeper = threading.Thread(target=self._keep, args=(program,), name=f"{program.stem}-keeper", daemon=True)
        self._keeper.start()

    @property
    def pid(self) -> int:
        """Process id; 0 if it could not be started."""
        self._started.wait()
        return 0 if self._process is None else self._process.pid

    @property
    def load(self) -> int:
        """How many answers are being waited for."""
        return len(self._waiting)

    def call(self, *message: Any, timeout: float) -> Any:
        """Send and wait for the answer; raises ChildLost, ChildFailed or a retryable GatewayError when time is over."""
        number = next(self._numbers)
        answer: Future[Any] = Future()
        self._waiting[number] = answer
        if self.lost:
            self._waiting.pop(number, None)
            raise ChildLost
        self._outbox.put((number, *message))
        try:
            return answer.result(timeout)
        except FutureTimeoutError:
            self._end_if_stuck(timeout)
            raise GatewayError(
                f"the embedded engine did not answer within {timeout:.0f} s; try again", retryable=True
            ) from None
        finally:
            self._waiting.pop(number, None)

    def ask(self, *message: Any, timeout: float) -> Any:
        """Like call, for what may be done without: None where there is no answer in time, and nothing is ended."""
        number = next(self._numbers)
        answer: Future[Any] = Future()
        self._waiting[number] = answer
        if not self.lost:
            self._outbox.put((number, *message))
            with contextlib.suppress(FutureTimeoutError, ChildLost, ChildFailed):
                return answer.result(timeout)
        self._waiting.pop(number, None)
        return None

    def post(self, *message: Any, size: int = 0) -> None:
        """Send without waiting; never blocks. `size` counts into `pending_bytes` until it is sent."""
        self.pending_bytes += size
        self._outbox.put((None, *message, size))

    def _end_if_stuck(self, timeout: float) -> None:
        if time.monotonic() - self._last_sign > timeout and self._process is not None:
            self.lost = True
            self._process.kill()

    def close(self) -> None:
        """End the process and wait for its end."""
        self._outbox.put(None)
        self._keeper.join(END_PATIENCE * 2)

    def forget(self) -> None:
        """After a fork: let go of the socket, which belongs to the parent."""
        self.lost = True
        if self._connection is not None:
            self._connection.close()

    def _keep(self, program: Path) -> None:
        try:
            process, connection = _start(program)
        except OSError:
            self._give_up()
            return
        self._process, self._connection = process, connection
        self._started.set()
        sender = threading.Thread(target=self._send, args=(connection,), name=f"{program.stem}-sender", daemon=True)
        sender.start()
        self._receive(connection)
        self._outbox.put(None)
        sender.join(END_PATIENCE)
        connection.close()
        _end(process)

    def _receive(self, connection: Connection) -> None:
        try:
            while True:
                number, problem, result = _Plain(io.BytesIO(connection.recv_bytes())).load()
                self._last_sign = time.monotonic()
                if number is None:
                    self._tell(result)
                    continue
                answer = self._waiting.pop(number, None)
                if answer is None:
                    continue
                if problem is None:
                    answer.set_result(result)
                else:
                    answer.set_exception(ChildFailed(problem))
        except Exception:  # noqa: BLE001 - the end of the socket, or bytes that no engine sends
            self._give_up()

    def _tell(self, news: tuple[Any, ...]) -> None:
        if self._on_news is not None:
            self._on_news(*news)

    def _give_up(self) -> None:
        self.lost = True
        self._started.set()
        for number in list(self._waiting):
            if answer := self._waiting.pop(number, None):
                answer.set_exception(ChildLost())

    def _send(self, connection: Connection) -> None:
        try:
            while (message := self._outbox.get()) is not None:
                if message[0] is None:
                    *message_head, size = message
                    connection.send(tuple(message_head))
                    self.pending_bytes -= size
                else:
                    connection.send(message)
        except OSError:
            self.lost = True
        finally:
            _shut(connection)


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


def _shut(connection: Connection) -> None:
    """Tell both ends that no more comes, which also wakes the receiving thread."""
    try:
        with socket.socket(fileno=os.dup(connection.fileno())) as both:
            both.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other end is gone already


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
