"""The id of what started some work: a request, or a job or tick without one.

It passes from a request to the jobs it enqueues and the webhooks it writes, and every log line has it, so that one
search finds everything that followed from a call.
"""

import logging
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NONE = "-"
SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
"""Form of the ids that are accepted from callers. Anything else could forge log lines."""

_id: ContextVar[str] = ContextVar("request_id", default=NONE)


def current() -> str:
    """The current id, ``-`` if there is none."""
    return _id.get()


def current_or_none() -> str | None:
    """The current id for rows, None if there is none."""
    return None if _id.get() == NONE else _id.get()


def begin(request_id: str | None = None) -> str:
    """Make ``request_id`` the current id, or a new one if it is missing or malformed.

    Returns the previous id, for ``end``.
    """
    before = _id.get()
    _id.set(request_id if request_id and SAFE.match(request_id) else _new())
    return before


def _new() -> str:
    # Guessing one gains nothing, and asking the system for secure bytes makes a thread wait for the others.
    return f"{random.getrandbits(128):032x}"


def end(before: str) -> None:
    """Go back to the id that ``begin`` returned. No context token: a server may end a request in another context."""
    _id.set(before)


@contextmanager
def under(request_id: str | None = None) -> Iterator[None]:
    """``begin`` and ``end`` around a block."""
    before = begin(request_id)
    try:
        yield
    finally:
        end(before)


class RequestIdFilter(logging.Filter):
    """Gives every log record a ``request_id``, unless it has one."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id"):
            record.request_id = current()
        return True
