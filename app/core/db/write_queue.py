"""The queue for SQLite's one writer: threads of a process wait here for each other.

SQLite itself waits by sleeping ever longer between attempts. With 16 threads that allows 150 transactions a second,
and some wait for seconds; in a queue it is a thousand. The queue is not a guarantee: a thread that has waited too long,
and any other process, goes on to SQLite's own waiting.
"""

import os
import sqlite3
import threading
import weakref
from typing import Any

WAIT_SECONDS = 30.0


class Line:
    """The queue of one database. A forked child begins with an empty one."""

    def __init__(self) -> None:
        self.writer = threading.Lock()
        _lines.add(self)


class Queued(sqlite3.Connection):
    """A connection that is in the queue from before its BEGIN IMMEDIATE until its transaction ends."""

    line: Line | None = None
    _held: Any = None

    def enter(self) -> None:
        """Wait until no other thread writes; a thread that has waited too long goes on anyway."""
        if self.line is not None and self._held is None and self.line.writer.acquire(timeout=WAIT_SECONDS):
            self._held = self.line.writer

    def leave(self) -> None:
        """Let the next thread write. May be called from another thread, and repeatedly."""
        lock, self._held = self._held, None
        if lock is not None:
            lock.release()

    def commit(self) -> None:
        """As usual; if it fails, the transaction continues and keeps its place."""
        super().commit()
        self.leave()

    def rollback(self) -> None:
        """As usual."""
        try:
            super().rollback()
        finally:
            self.leave()

    def close(self) -> None:
        """As usual."""
        try:
            super().close()
        finally:
            self.leave()


_lines: "weakref.WeakSet[Line]" = weakref.WeakSet()


def _forked() -> None:
    for line in list(_lines):
        line.writer = threading.Lock()  # the parent's thread that holds the old lock does not exist here


os.register_at_fork(after_in_child=_forked)
