"""The one source of time: UTC, with time zone, and replaceable as a whole so that a test can span a week.

With PostgreSQL, its clock counts for all processes on all hosts: ``app.core.db.row_security`` reads it at the
beginning of each transaction, and from then on this machine only counts seconds. So a host whose clock is wrong, or
is set while it works, moves no due time. Leases are compared in the database (``app.core.claims.moment``).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LONGEST_TRANSACTION = 60.0
"""Seconds. The database ends a transaction that is idle for this long: if more passed, this machine's clock jumped."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reading of the database's clock, and this machine's monotonic seconds at that moment."""

    at: datetime
    seconds: float


class _Here(threading.local):
    """The reading at the beginning of this thread's transaction, while it is open."""

    reading: _Reading | None = None


_source: Callable[[], datetime] | None = None
_last: _Reading | None = None
_here = _Here()


def now() -> datetime:
    """The present moment in UTC, with its time zone."""
    if _source is not None:
        return _source()
    reference = _here.reading or _last
    if reference is None:
        return datetime.now(UTC)
    passed = time.monotonic() - reference.seconds
    if reference is _here.reading and not 0 <= passed <= LONGEST_TRANSACTION:
        return reference.at
    return reference.at + timedelta(seconds=passed)


def begun(at: datetime) -> None:
    """This thread has begun a transaction; ``at`` is the database's time."""
    global _last  # noqa: PLW0603 - time is global
    _last = _here.reading = _Reading(at.astimezone(UTC), time.monotonic())


def ended() -> None:
    """This thread's transaction is over."""
    _here.reading = None


def is_replaced() -> bool:
    """Whether time comes from elsewhere than this machine."""
    return _source is not None


@contextmanager
def replaced(source: Callable[[], datetime]) -> Iterator[None]:
    """Use ``source`` as the clock of all threads of this process until the block ends."""
    global _source  # noqa: PLW0603 - time is global; this is the one place that may say otherwise
    before, _source = _source, source
    try:
        yield
    finally:
        _source = before


def rfc3339(moment: datetime) -> str:
    """``2026-01-31T09:15:00Z``: whole seconds, UTC, in the format of RFC 3339 and ``/v1``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
