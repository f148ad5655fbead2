"""When to retry, when to give up an endpoint, and whose turn it is. Pure: time and randomness come as arguments."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Protocol

DELAYS: tuple[timedelta, ...] = (
    timedelta(0),
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
"""The delay before each attempt, counted from the previous failure."""
JITTER = 0.2
THROTTLED = frozenset({429, 502, 503, 504})
LEAST_WHEN_THROTTLED = timedelta(seconds=60)

PROBE_AFTER = 3
PROBE_EVERY = timedelta(seconds=60)
PACE = timedelta(milliseconds=100)
"""Shortest time between sends to an endpoint that catches up after it was enabled again."""

NOTICED_AT = 4
DISABLED_AFTER = timedelta(hours=120)
WARNED_FOR = timedelta(hours=24)

PER_ORGANIZATION = 8


class Waits(Protocol):
    """An endpoint with something due, as ``app.webhooks.queries`` reads it."""

    @property
    def endpoint_id(self) -> str: ...
    @property
    def organization_id(self) -> str: ...
    @property
    def timeouts(self) -> int: ...
    @property
    def due_at(self) -> datetime: ...


class Health(Protocol):
    """Failures of an endpoint since its last success."""

    @property
    def failing_since(self) -> datetime | None: ...
    @property
    def exhausted_at(self) -> datetime | None: ...
    @property
    def warned_at(self) -> datetime | None: ...


def next_delay(
    attempts: int, *, throttled: bool, wanted: timedelta | None = None, chance: Callable[[], float]
) -> timedelta | None:
    """How long to wait after the ``attempts``-th failure, or None when the attempts are used up.

    ``chance`` returns a number from 0 to 1. Jitter is only added, so no attempt is early. ``throttled`` means a
    time-out, 429, 502, 503 or 504. ``wanted`` is the receiver's Retry-After, kept between one and two planned delays.
    """
    if attempts >= len(DELAYS):
        return None
    planned = DELAYS[attempts] * (1 + JITTER * chance())
    if not throttled:
        return planned
    planned = max(planned, LEAST_WHEN_THROTTLED)
    return planned if wanted is None else min(max(wanted, planned), 2 * planned)


def wanted_delay(retry_after: str | None, *, now: datetime) -> timedelta | None:
    """The delay in ``Retry-After``, given in seconds or as an HTTP date. None if invalid, negative or in the past."""
    text = (retry_after or "").strip()
    if not text or not text.isascii():
        return None
    if text.isdecimal():
        return timedelta(seconds=min(int(text[:12]), 10**9))
    try:
        at = parsedate_to_datetime(text)
        delay = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    except (ValueError, TypeError, OverflowError):
        return None
    return delay if delay > timedelta(0) else None


def not_before(timeouts: int, *, now: datetime, paced_until: datetime | None) -> datetime | None:
    """Until when nothing is sent to an endpoint after an attempt that ended ``now``; None for no pause."""
    if timeouts >= PROBE_AFTER:
        return now + PROBE_EVERY
    return now + PACE if paced_until is not None and now < paced_until else None


def is_given_up(health: Health, *, now: datetime) -> bool:
    """Whether a failure at ``now`` disables it: 120 h without success, a delivery exhausted, a warning 24 h ago."""
    if health.failing_since is None or health.exhausted_at is None or health.warned_at is None:
        return False
    return now - health.failing_since >= DISABLED_AFTER and now - health.warned_at >= WARNED_FOR


def fair(waiting: Iterable[Waits], *, busy: Mapping[str, int], slots: int) -> list[str]:
    """Ids of at most ``slots`` endpoints to send to now. Organizations take turns, each up to ``PER_ORGANIZATION``.

    Endpoints that have just timed out come last, so that they do not take slots from those that answer.
    """
    turns: dict[str, count[int]] = {}
    ranked = []
    for one in sorted(waiting, key=lambda one: (one.timeouts > 0, one.due_at, one.endpoint_id)):
        turn = next(turns.setdefault(one.organization_id, count(busy.get(one.organization_id, 0))))
        if turn < PER_ORGANIZATION:
            ranked.append((one.timeouts > 0, turn, one.due_at, one.endpoint_id))
    return [endpoint_id for *_, endpoint_id in sorted(ranked)[:slots]]
