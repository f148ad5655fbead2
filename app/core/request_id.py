"""The id of what set work off: a request, or a job or tick that no one asked for.

It goes along from the request to the jobs that it rings for and the webhooks that it writes, and every line of the log
has it, so that one search finds all that came of one call.
"""

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NONE = "-"
SAFE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
"""Ids of others that are taken over; anything else could forge lines of the log."""

_id: ContextVar[str] = ContextVar("request_id", default=NONE)


def current() -> str:
    """The id of what set this off, ``-`` where nothing did."""
    return _id.get()


def known() -> str | None:
    """As ``current``, for rows: None where nothing set it off."""
    return None if _id.get() == NONE else _id.get()


def begin(given: str | None = None) -> str:
    """What follows is work of ``given``, or of a new id when there is none or it has another form; returns the id
    before, for ``end``."""
    before = _id.get()
    _id.set(given if given and SAFE.match(given) else uuid.uuid4().hex)
    return before


def end(before: str) -> None:
    """Back to what ``begin`` has returned. Without a token, because a server may end a request in another context."""
    _id.set(before)


@contextmanager
def under(given: str | None = None) -> Iterator[None]:
    """``begin`` and ``end`` around a block."""
    before = begin(given)
    try:
        yield
    finally:
        end(before)


class RequestIdFilter(logging.Filter):
    """Gives every log record ``request_id``; one that brings its own keeps it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id"):
            record.request_id = current()
        return True
