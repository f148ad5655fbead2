"""The line before SQLite's one writer: threads of a process wait here for each other.

SQLite's own way of waiting is to sleep for longer and longer and to ask whether the writer is gone. Among 16 threads
that let 150 transactions a second through, and some waited for seconds; in line it is a thousand. The line is a
courtesy: a thread that has waited long enough, and another process, still gets SQLite's own answer.
"""

import os
import sqlite3
import threading
import weakref
from typing import Any

WAIT_SECONDS = 30.0


class Line:
    """Where the writers of one database wait. A forked child begins with an empty one."""

    def __init__(self) -> None:
        self.writer = threading.Lock()
        _lines.add(self)


class Queued(sqlite3.Connection):
    """A connection that is in line from before its BEGIN IMMEDIATE until its transaction is over."""

    line: Line | None = None
    _held: Any = None

    def enter(self) -> None:
        """Wait until no other thread writes; a thread that has waited too long goes on all the same."""
        if self.line is not None and self._held is None and self.line.writer.acquire(timeout=WAIT_SECONDS):
            self._held = self.line.writer

    def leave(self) -> None:
        """Let the next one write. May be called from another thread, and again."""
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def commit(self) -> None:
        """As usual; if it fails, the transaction goes on and so does the place in line."""
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
        line.writer = threading.Lock()  # its holder is not here


os.register_at_fork(after_in_child=_forked)
