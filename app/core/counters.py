"""Counts of all processes of an installation, kept in Redis so that one read shows them all.

A process counts in memory and hands the counts over when a request, a job or a tick ends. If Redis loses them, they
start again at zero, which readers of counters expect. While Redis is down they wait here. Names and labels are fixed
words, never ids.
"""

import json
import os
import threading
import time
from bisect import bisect_left

from flask import current_app
from redis import Redis
from redis.exceptions import RedisError

KEY = "parley:tally"
BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds, in seconds, of the groups that times are counted in. One more group counts longer times."""
PATIENCE = 0.3
"""Seconds that one call to Redis may take: someone may be waiting for the request that hands the counts over."""
PAUSE = 30.0
"""Seconds without another attempt after Redis has failed."""

COUNT, SUM = "count", "sum"
Labels = tuple[str, ...]


def connect(url: str) -> Redis:
    """A client whose calls end soon even if Redis does not respond."""
    return Redis.from_url(url, socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE)


def current() -> "Counters":
    """The counts of the running application; an application without any gets its own."""
    counts: Counters = current_app.extensions.setdefault("parley.counters", Counters())
    return counts


class Counters:
    """Counts by name and labels. Without Redis, ``read`` returns the counts of this process only."""

    def __init__(self, redis: Redis | None = None) -> None:
        self._redis = redis
        self._lock = threading.Lock()
        self._waiting: dict[str, float] = {}
        self._kept: dict[str, float] = {}
        self._not_before = 0.0
        self._process = os.getpid()

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Count something that happened ``by`` times."""
        self._add({_field(name, labels, COUNT): by})

    def time(self, name: str, *labels: str, seconds: float) -> None:
        """Count something that took ``seconds``."""
        group = bisect_left(BUCKETS, seconds)
        bound = str(BUCKETS[group]) if group < len(BUCKETS) else "+Inf"
        self._add({_field(name, labels, COUNT): 1, _field(name, labels, SUM): seconds, _field(name, labels, bound): 1})

    def flush(self) -> None:
        """Hand over the waiting counts. Never raises; counts that Redis does not take wait for the next call."""
        with self._lock:
            self._forget_what_the_parent_counted()
            if not self._waiting or time.monotonic() < self._not_before:
                return
            going, self._waiting = self._waiting, {}
        if self._redis is None:
            self._keep(going)
            return
        try:
            with self._redis.pipeline(transaction=True) as together:
                for field, by in going.items():
                    together.hincrbyfloat(KEY, field, by)
                together.execute()
        except RedisError:
            self._not_before = time.monotonic() + PAUSE
            self._add(going)

    def read(self) -> dict[tuple[str, Labels], dict[str, float]]:
        """By name and labels: ``count``, ``sum``, and the count in the group of each bound. Raises RedisError."""
        if self._redis is None:
            with self._lock:
                totals = dict(self._kept)
        else:
            raw = self._redis.hgetall(KEY)
            totals = {field.decode(): float(value) for field, value in raw.items()}  # type: ignore[union-attr]
        counts: dict[tuple[str, Labels], dict[str, float]] = {}
        for field, value in totals.items():
            name, *labels, part = json.loads(field)
            counts.setdefault((name, tuple(labels)), {})[part] = value
        return counts

    def _add(self, more: dict[str, float]) -> None:
        with self._lock:
            self._forget_what_the_parent_counted()
            for field, by in more.items():
                self._waiting[field] = self._waiting.get(field, 0.0) + by

    def _keep(self, going: dict[str, float]) -> None:
        with self._lock:
            for field, by in going.items():
                self._kept[field] = self._kept.get(field, 0.0) + by

    def _forget_what_the_parent_counted(self) -> None:
        """After a fork: drop the waiting counts, which the parent hands over."""
        if self._process != os.getpid():
            self._process, self._waiting = os.getpid(), {}


def _field(name: str, labels: Labels, part: str) -> str:
    return json.dumps([name, *labels, part])
