"""Collects the figures: those of this process, and those of the whole installation, which are read on request.

The latter cost a few small queries and are kept for some seconds, so that many readers cost no more than one. Figures
that cannot be read are left out, and another figure says so: a failed scrape would say nothing.
"""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version

from flask import current_app
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from app import gateways
from app.core import clock, counters, queue
from app.core.db import db
from app.core.errors import GatewayError
from app.operations.metrics import queries
from app.settings import Settings

log = logging.getLogger(__name__)

KEPT_SECONDS = 5.0

TIMES = {
    "engine": ("Calls to speech and language model engines.", ("part", "engine", "outcome")),
    "turn": ("Turns of interviews, from the candidate's answer to the reply.", ("kind", "outcome")),
    "webhook": ("Webhook delivery attempts.", ("outcome",)),
    "job": ("Background job runs.", ("job", "outcome")),
}
COUNTS = {"database_error": ("Database statements that failed.", ("kind",))}


class Installation(Collector):
    """The figures that are the same in every web process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[Metric] = []
        self._until = 0.0

    def describe(self) -> Iterable[Metric]:
        """Nothing: the figures depend on what can be read."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The figures, refreshed every few seconds at most; other callers wait for a refresh."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._kept = list(_everything())
                self._until = time.monotonic() + KEPT_SECONDS
            metrics = self._kept
        yield from metrics


def add_to(registry: CollectorRegistry) -> None:
    """Add the installation's figures to those of the process."""
    registry.register(Installation())


def text() -> bytes:
    """All figures in the Prometheus format."""
    registry: CollectorRegistry = current_app.extensions["parley.registry"]
    return generate_latest(registry)


def _everything() -> Iterator[Metric]:
    yield _gauge("parley_build", "The running version.", {(version("parley"),): 1}, names=("version",))
    yield from _disk()
    parts: dict[str, Callable[[], list[Metric]]] = {"redis": _shared, "database": _database}
    for name, read in parts.items():
        try:
            metrics = read()
        except (RedisError, SQLAlchemyError) as error:
            log.warning("metrics: %s cannot be read (%s)", name, type(error).__name__)
            metrics = []
        finally:
            db.session.rollback()
        yield _gauge(f"parley_{name}_up", f"Whether the {name} responds.", {(): int(bool(metrics))})
        yield from metrics


def _disk() -> Iterator[Metric]:
    settings: Settings = current_app.extensions["parley.settings"]
    try:
        disk = shutil.disk_usage(settings.data_dir)
    except OSError:
        log.warning("metrics: the disk of DATA_DIR cannot be read")
    else:
        yield _gauge("parley_disk_free_bytes", "Free bytes on the disk of DATA_DIR.", {(): disk.free})
        yield _gauge("parley_disk_bytes", "Its size.", {(): disk.total})
    try:
        roomy = gateways.current().storage.has_room()
    except (OSError, GatewayError):
        roomy = False
    yield _gauge("parley_storage_has_room", "Whether new interviews can start.", {(): int(roomy)})


def _shared() -> list[Metric]:
    """The figures in Redis: the queues, and the counts of all processes."""
    settings: Settings = current_app.extensions["parley.settings"]
    metrics = list(_counted())
    if settings.redis_url:
        redis = queue.connect(settings.redis_url)
        waits = queue.waiting(redis, clock.now())
        jobs = _by({name: wait.jobs for name, wait in waits.items()})
        ages = _by({name: wait.oldest_seconds for name, wait in waits.items()})
        workers = _by({name: wait.workers for name, wait in waits.items()})
        takes = int(not queue.refusal(redis))
        metrics += [
            _gauge(
                "parley_redis_takes", "Whether Redis accepts writes. When it is full, it only responds.", {(): takes}
            ),
            _gauge("parley_queue_jobs", "Jobs waiting in the queue.", jobs, names=("queue",)),
            _gauge("parley_queue_oldest_seconds", "How long the first job has been waiting.", ages, names=("queue",)),
            _gauge("parley_queue_workers", "Workers serving the queue.", workers, names=("queue",)),
        ]
    return metrics


def _counted() -> Iterator[Metric]:
    counts = counters.current()
    counts.flush()
    totals = counts.read()
    for name, (words, labels) in TIMES.items():
        times = HistogramMetricFamily(f"parley_{name}_seconds", words, labels=labels)
        for (counted, values), parts in sorted(totals.items()):
            if counted == name and len(values) == len(labels):
                times.add_metric(list(values), _groups(parts), sum_value=parts.get(counters.SUM, 0.0))
        yield times
    for name, (words, labels) in COUNTS.items():
        counter = CounterMetricFamily(f"parley_{name}s", words, labels=labels)
        for (counted, values), parts in sorted(totals.items()):
            if counted == name and len(values) == len(labels):
                counter.add_metric(list(values), parts.get(counters.COUNT, 0.0))
        yield counter


def _groups(parts: dict[str, float]) -> list[tuple[str, float]]:
    """Each bound with the number that took at most that long."""
    groups, so_far = [], 0.0
    for bound in (*map(str, counters.BUCKETS), "+Inf"):
        so_far += parts.get(bound, 0.0)
        groups.append((bound, so_far))
    return groups


def _database() -> list[Metric]:
    ages = _by(queries.oldest(clock.now()))
    return [
        _gauge(
            "parley_interviews",
            "Interviews that are waiting, in progress or stuck.",
            _by(queries.interviews()),
            names=("stage",),
        ),
        _gauge(
            "parley_videos", "Videos that are waiting, in progress or stuck.", _by(queries.videos()), names=("stage",)
        ),
        _gauge(
            "parley_answers",
            "Answers that are waiting to be recognized again, or are being recognized.",
            _by(queries.answers()),
            names=("hearing",),
        ),
        _gauge("parley_webhooks", "Webhooks not delivered yet.", _by(queries.deliveries()), names=("state",)),
        _gauge(
            "parley_webhook_endpoints", "Webhook endpoints with failures.", _by(queries.endpoints()), names=("trouble",)
        ),
        _gauge("parley_letters", "Mail not sent yet.", _by(queries.letters()), names=("state",)),
        _gauge("parley_waiting_seconds", "How long the oldest of its kind has been waiting.", ages, names=("what",)),
    ]


def _by(counts: Mapping[str, float]) -> dict[tuple[str, ...], float]:
    return {(name,): count for name, count in counts.items()}


def _gauge(name: str, words: str, values: dict[tuple[str, ...], float], *, names: tuple[str, ...] = ()) -> Metric:
    gauge = GaugeMetricFamily(name, words, labels=names)
    for labels, value in values.items():
        gauge.add_metric(list(labels), value)
    return gauge
