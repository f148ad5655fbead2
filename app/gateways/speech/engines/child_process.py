"""What an engine's process does first. Siblings of this file load it by path, so it imports nothing of Parley."""

import contextlib
import ctypes
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

PDEATHSIG = 1

Inbox = queue.SimpleQueue[tuple[Any, ...] | None]


def connected() -> Connection:
    """The socket to the parent, whose number is the first argument. This process ends with the parent."""
    with contextlib.suppress(OSError, AttributeError):  # no Linux: the closed socket ends us
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    return Connection(int(sys.argv[1]))


def trim_memory() -> None:
    """Return freed memory to the system. glibc keeps it otherwise, and a process that speaks grows by 150 MB."""
    with contextlib.suppress(OSError, AttributeError):  # another libc
        ctypes.CDLL(None).malloc_trim(0)


def requests_of(connection: Connection) -> Inbox:
    """Requests as they arrive, while this process works; None once the parent has closed the socket."""
    inbox: Inbox = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, inbox), daemon=True).start()
    return inbox


def _read(connection: Connection, inbox: Inbox) -> None:
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):
        inbox.put(None)
