"""What all processes of an installation count together, kept in Redis, so that one look shows the whole of it.

A process gathers in memory and hands over when a request, a job or a tick ends. Redis may lose the counts: they begin
again, which readers of counters expect. While it is away they wait here. Names and labels are fixed words, never ids.
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
"""Upper bounds, in seconds, of the groups that times are counted in; one more group holds what took longer."""
PATIENCE = 0.3
"""Seconds that one word with Redis may take: someone may be waiting for the request that hands over."""
PAUSE = 30.0
"""Seconds without another try after Redis has failed."""

COUNT, SUM = "count", "sum"
Labels = tuple[str, ...]


def connect(url: str) -> Redis:
    """A client that keeps no one waiting."""
    return Redis.from_url(url, socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE)


def current() -> "Counters":
    """The counts of the running application; one that was given none counts for itself."""
    counts: Counters = current_app.extensions.setdefault("parley.counters", Counters())
    return counts


class Counters:
    """Counts by name and labels. Without Redis it shows what this process alone has counted."""

    def __init__(self, redis: Redis | None = None) -> None:
        self._redis = redis
        self._lock = threading.Lock()
        self._waiting: dict[str, float] = {}
        self._kept: dict[str, float] = {}
        self._not_before = 0.0
        self._process = os.getpid()

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Something happened ``by`` times."""
        self._add({_field(name, labels, COUNT): by})

    def time(self, name: str, *labels: str, seconds: float) -> None:
        """Something took ``seconds``."""
        group = bisect_left(BUCKETS, seconds)
        bound = str(BUCKETS[group]) if group < len(BUCKETS) else "+Inf"
        self._add({_field(name, labels, COUNT): 1, _field(name, labels, SUM): seconds, _field(name, labels, bound): 1})

    def flush(self) -> None:
        """Hand over what waits. Never raises; what Redis does not take waits on."""
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
        """By name and labels: ``count``, ``sum``, and how many lie in the group of each bound. Raises RedisError."""
        if self._redis is None:
            with self._lock:
                found = dict(self._kept)
        else:
            raw = self._redis.hgetall(KEY)
            found = {field.decode(): float(value) for field, value in raw.items()}  # type: ignore[union-attr]
        counts: dict[tuple[str, Labels], dict[str, float]] = {}
        for field, value in found.items():
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
        """After a fork: the parent hands that over itself."""
        if self._process != os.getpid():
            self._process, self._waiting = os.getpid(), {}


def _field(name: str, labels: Labels, part: str) -> str:
    return json.dumps([name, *labels, part])
