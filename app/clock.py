"""The one source of time: UTC, aware, and replaceable as a whole so that a test can live through a week.

Leases and due times are compared in the database (``app.claims.moment``), which follows a replaced clock.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

_source: Callable[[], datetime] | None = None


def now() -> datetime:
    """The present moment in UTC, with its time zone."""
    return _source() if _source is not None else datetime.now(UTC)


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
