"""The one source of time: UTC, aware, and replaceable as a whole so that a test can live through a week.

Where there is a PostgreSQL its clock counts, for all processes on all hosts: ``app.core.db.row_security`` asks it
at the beginning of each transaction, and from there on this machine only counts the seconds. A host whose
clock is wrong, or is set
while it works, thereby moves no due time and no lease (those are compared in the database, ``app.core.claims.moment``).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LONGEST_TRANSACTION = 60.0
"""Seconds, and the database ends what is idle for so long. Where more have passed it was this machine that jumped."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What the database's clock said, and what our own seconds were then."""

    at: datetime
    seconds: float


class _Here(threading.local):
    """The clock at the beginning of this thread's transaction, while it is open."""

    told: _Told | None = None


_source: Callable[[], datetime] | None = None
_last: _Told | None = None
_here = _Here()


def now() -> datetime:
    """The present moment in UTC, with its time zone."""
    if _source is not None:
        return _source()
    told = _here.told or _last
    if told is None:
        return datetime.now(UTC)
    passed = time.monotonic() - told.seconds
    if told is _here.told and not 0 <= passed <= LONGEST_TRANSACTION:
        return told.at
    return told.at + timedelta(seconds=passed)


def begun(at: datetime) -> None:
    """This thread has begun a transaction, and ``at`` is what the database's clock said."""
    global _last  # noqa: PLW0603 - time is global
    _last = _here.told = _Told(at.astimezone(UTC), time.monotonic())


def ended() -> None:
    """This thread's transaction is over."""
    _here.told = None


def is_replaced() -> bool:
    """Whether time comes from somewhere else than this machine."""
    return _source is not None


@contextmanager
def replaced(source: Callable[[], datetime]) -> Iterator[None]:
    """Let ``source`` tell the time for all threads of this process until the block ends."""
    global _source  # noqa: PLW0603 - time is global; this is the one place that may say otherwise
    before, _source = _source, source
    try:
        yield
    finally:
        _source = before


def rfc3339(moment: datetime) -> str:
    """``2026-01-31T09:15:00Z``: seconds, UTC, as RFC 3339 and ``/v1`` write it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
