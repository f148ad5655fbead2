"""Questions and answers over a connection: pickled plain values, numbered, answered in any order.

A question is `(number, *message)` and its answer `(number, problem, result)`. Without a number nothing is answered, and
what the other side tells without being asked is `(None, None, news)`.
"""

import contextlib
import io
import itertools
import os
import pickle
import queue
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from multiprocessing.connection import Connection
from typing import Any

from app.core.errors import GatewayError

END_PATIENCE = 2.0


class ChildLost(Exception):
    """The other side ended before it answered."""


class ChildFailed(Exception):
    """The engine refused; its message is safe to show."""


class HostAway(GatewayError):
    """The host, or the engine's process in it, cannot be reached: what it had heard is lost, and may be sent again."""

    def __init__(self, message: str = "the speech host cannot be reached; try again") -> None:
        super().__init__(message, retryable=True)


class TooLate(GatewayError):
    """The engine has too much to do to answer a candidate in time. Another engine would only add to the work."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


class _Plain(pickle.Unpickler):
    """Numbers, text, bytes and lists of them: an engine that a recording took over cannot make us run anything."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Refuse whatever is not a plain value."""
        raise pickle.UnpicklingError(f"an engine sent {module_name}.{global_name}")


def plain(sent: bytes) -> Any:
    """The plain value in these bytes. Raises UnpicklingError, EOFError, ValueError or others for anything else."""
    return _Plain(io.BytesIO(sent)).load()


class Exchange:
    """One side of a connection, the one that asks. `serve` runs it; messages that come before wait for that."""

    def __init__(self, *, on_news: Callable[..., None] | None = None) -> None:
        self._on_news = on_news
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._outbox: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        self._connection: Connection | None = None
        self._last_sign = time.monotonic()
        self.lost = False
        self.pending_bytes = 0

    @property
    def load(self) -> int:
        """How many answers are being waited for."""
        return len(self._waiting)

    def later(self, *message: Any, size: int = 0) -> "Future[Any]":
        """Send, and give the future answer: a result, ChildFailed or ChildLost."""
        _, answer = self._sent(message, size)
        return answer

    def call(self, *message: Any, timeout: float) -> Any:
        """Send and wait for the answer; raises ChildLost, ChildFailed or a retryable GatewayError when time is over."""
        number, answer = self._sent(message)
        try:
            return answer.result(timeout)
        except FutureTimeoutError:
            self._out_of_time(message, timeout)
            raise GatewayError(
                f"the embedded engine did not respond within {timeout:.0f} s; try again", retryable=True
            ) from None
        finally:
            self._waiting.pop(number, None)

    def ask(self, *message: Any, timeout: float) -> Any:
        """Like call, for what may be done without: None where there is no answer in time, and nothing is ended."""
        number, answer = self._sent(message)
        with contextlib.suppress(FutureTimeoutError, ChildLost, ChildFailed, GatewayError):
            return answer.result(timeout)
        self._waiting.pop(number, None)
        return None

    def post(self, *message: Any, size: int = 0) -> None:
        """Send without waiting; never blocks. `size` counts into `pending_bytes` until it is sent."""
        self.pending_bytes += size
        self._outbox.put((None, *message, size))

    def is_silent_for(self, seconds: float) -> bool:
        """Whether an answer has been due for so long, and nothing at all has come from the other side."""
        return time.monotonic() - self._last_sign > seconds

    def hang_up(self) -> None:
        """Send what waits, then close."""
        self._outbox.put(None)

    def forget(self) -> None:
        """After a fork: let go of the socket, which belongs to the parent."""
        self.lost = True
        if self._connection is not None:
            self._connection.close()

    def serve(self, connection: Connection, *, name: str) -> None:
        """Send and receive until either side ends it; the connection is closed then."""
        self._connection = connection
        sender = threading.Thread(target=self._send, args=(connection,), name=f"{name}-sender", daemon=True)
        sender.start()
        self._receive(connection)
        self._outbox.put(None)
        sender.join(END_PATIENCE)
        connection.close()

    def give_up(self) -> None:
        """No answer comes any more: fail what waits."""
        self.lost = True
        for number in list(self._waiting):
            if answer := self._waiting.pop(number, None):
                answer.set_exception(ChildLost())

    def _sent(self, message: tuple[Any, ...], size: int = 0) -> "tuple[int, Future[Any]]":
        number = next(self._numbers)
        answer: Future[Any] = Future()
        if not self._waiting:
            self._last_sign = time.monotonic()  # no sign was due before
        self._waiting[number] = answer
        if self.lost:
            if self._waiting.pop(number, None):
                answer.set_exception(ChildLost())
        else:
            self.pending_bytes += size
            self._outbox.put((number, *message, size))
        return number, answer

    def _out_of_time(self, message: tuple[Any, ...], timeout: float) -> None:
        """A call was not answered in time."""

    def _problem(self, problem: Any) -> Exception:
        return ChildFailed(problem)

    def _receive(self, connection: Connection) -> None:
        try:
            while True:
                number, problem, result = plain(connection.recv_bytes())
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
                    answer.set_exception(self._problem(problem))
        except Exception:  # noqa: BLE001 - the end of the socket, or bytes that no engine sends
            self.give_up()

    def _tell(self, news: tuple[Any, ...]) -> None:
        if self._on_news is not None:
            self._on_news(*news)

    def _send(self, connection: Connection) -> None:
        try:
            while (message := self._outbox.get()) is not None:
                *sent, size = message
                connection.send(tuple(sent))
                self.pending_bytes -= size
        except OSError:
            self.lost = True
        finally:
            shut(connection)


def shut(connection: Connection) -> None:
    """Tell both ends that no more comes, which also wakes the receiving thread."""
    try:
        with socket.socket(fileno=os.dup(connection.fileno())) as both:
            both.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other end is gone already
