"""``parley worker``: one child per queue, and one that looks every few seconds for what is overdue.

One queue per RQ worker, because a worker of two queues loses a job for good when it dies between taking and starting
it. The application is loaded before anything is forked. Rows hold the truth, so a worker that dies costs time only.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

from flask import Flask
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker, Worker
from rq.job import Job as RqJob
from rq.scheduler import RQScheduler
from rq.serializers import JSONSerializer

from app import create_app, db_wall, embedded, tally, trace
from app.errors import place_of
from app.private import close_to_others
from app.processes.family import Family
from app.queue import REQUEST_ID, SHORT_JOBS, Job, Mark, Queued
from app.settings import Settings
from app.speech.probing import report

log = logging.getLogger(__name__)

WORKER_TTL = 25
MAINTENANCE_SECONDS = 30
LONGEST_RECONNECT = 5.0
JOBS_PER_LIFE = 5_000

TICKS = (
    "app.webhooks.jobs.tick",
    "app.webhooks.jobs.tell",
    "app.interviews.jobs.sweep",
    "app.interviews.jobs_reading.sweep",
    "app.interviews.jobs_revoked.sweep",
    "app.recordings.jobs.sweep_waveforms",
    "app.voice.jobs.sweep_sittings",
    "app.outreach.jobs.sweep",
    "app.flowlinks.jobs.sweep",
    "app.letters.jobs.sweep",
    "app.compliance.jobs.sweep",
    "app.compliance.jobs.keep_journal",
    "app.compliance.jobs.apply_retention",
    "app.usage.jobs.tell",
    "app.accounts.jobs.check_audit_logs",
    "app.accounts.jobs.watch_old_keys",
)
"""Looked up when first called, so that a worker knows no room."""


OUR_JOBS = frozenset(job.value.path for job in Job)


class UnknownJob(Exception):
    """Something that is none of our jobs lay in the queue."""


class _Lasting:
    """What both kinds of worker share: they come back soon after Redis does."""

    max_connection_wait_time = LONGEST_RECONNECT


class ShortWorker(_Lasting, SimpleWorker):
    """Runs short jobs itself."""


class LongWorker(_Lasting, Worker):
    """Forks for every job, so that a risky one takes only itself down."""

    def fork_work_horse(self, job: Any, queue: Any) -> None:
        """As RQ, but the fork ends when this worker does, so that no orphan works on."""
        self._hold_on = embedded.ends_with_parent(9)
        super().fork_work_horse(job, queue)

    def setup_work_horse_signals(self) -> None:
        """In the fork, before the job."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        if self._hold_on is not None:
            self._hold_on()


def run_worker(
    settings: Settings,
    *,
    application: Callable[[Settings], Flask] = create_app,
    ticks: Iterable[str] = TICKS,
    jobs: frozenset[str] = OUR_JOBS,
) -> None:
    """Work until SIGTERM or SIGINT. Starts the embedded Redis when there is none and no REDIS_URL."""
    close_to_others(settings.data_dir)
    url, server = embedded.found_or_started(settings.data_dir, settings.redis_url)
    known = replace(settings, redis_url=url)
    app = application(known)
    works: dict[str, Callable[[], None]] = {queue.value: _work_of(app, known, queue, jobs=jobs) for queue in Queued}
    works["tick"] = lambda: tick_forever(app, known, list(ticks))
    try:
        Family(works).run(every_second=None if server is None else keeper_of(server))
    finally:
        if server is not None:
            server.stop()


def keeper_of(server: embedded.EmbeddedRedis) -> Callable[[], None]:
    """To be called every second: starts a Redis that has died again, with pauses when that fails."""
    due = 0.0

    def keep() -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + 1
        try:
            if server.keep_alive():
                log.warning("the embedded Redis had died and was started again")
        except embedded.NoServer as error:
            log.error("%s", error)  # noqa: TRY400 - the sentence says it all
            due = time.monotonic() + 5

    return keep


def worker_for(app: Flask, redis: Redis, queue: Queued, *, ours: frozenset[str] = OUR_JOBS) -> Any:
    """An RQ worker of one queue, of the kind that suits it."""
    known_job = job_class(app, ours)
    return (ShortWorker if queue.value in SHORT_JOBS else LongWorker)(
        [Queue(queue.value, connection=redis, serializer=JSONSerializer, job_class=known_job)],
        connection=redis,
        serializer=JSONSerializer,
        job_class=known_job,
        worker_ttl=WORKER_TTL,
        maintenance_interval=MAINTENANCE_SECONDS,
        job_monitoring_interval=10,
        log_job_description=False,
    )


def job_class(app: Flask, ours: frozenset[str] = OUR_JOBS) -> type[RqJob]:
    """RQ's job, run inside the application, and only when it is one of ours: Redis is no place to take code from."""

    class OurJob(RqJob):
        def perform(self) -> Any:
            if self.func_name not in ours:
                raise UnknownJob(self.id)
            given = self.meta.get(REQUEST_ID)
            with app.app_context(), db_wall.everyone(), trace.under(given), _counted(self.func_name, self.args):
                return super().perform()

        def retry(self, queue: Queue, pipeline: Pipeline) -> None:  # noqa: ARG002 - RQ's way to call it
            """Once more after its pause, unless another wake-up for the same ids waits: that is its once more."""
            mark, left = Mark(queue, str(self.func_name), self.args), self.retries_left

            def put(together: Pipeline) -> None:
                other_waits = mark.names_one_that_waits(together, besides=self.id)
                together.multi()
                if other_waits:
                    self.delete(pipeline=together, remove_from_queue=False)
                    return
                self.retries_left = left  # RQ counts it down, and this may be tried again
                super(OurJob, self).retry(queue, together)
                mark.set(together, self.id)

            self.connection.transaction(put, mark.key)

    return OurJob


@contextmanager
def _counted(path: str, ids: Iterable[str]) -> Iterator[None]:
    """How long jobs take, and how many fail."""
    began, outcome, job = time.perf_counter(), "failed", path.removeprefix("app.")
    try:
        yield
        outcome = "done"
    finally:
        seconds = time.perf_counter() - began
        tally.current().time("job", job, outcome, seconds=seconds)
        fields = {"job": job, "ids": " ".join(ids), "outcome": outcome, "ms": round(seconds * 1000)}
        log.info("job %s(%s) %s, %d ms", *fields.values(), extra=fields)


def tick_forever(app: Flask, settings: Settings, ticks: list[str]) -> None:
    """Call each of ``ticks`` every SWEEP_SECONDS, and put RQ's own delayed retries back into their queues.

    First of all it is tried, aside, what configured recognisers are able to, and the log says so.
    """
    scheduler = Scheduler(settings.redis_url, round(settings.sweep_seconds) + 1)
    threading.Thread(target=report, args=(settings,), daemon=True).start()  # a server may be slow to answer
    while True:
        began = time.monotonic()
        scheduler.turn()
        for path in ticks:
            tick_once(app, path)
        pause = settings.sweep_seconds * random.uniform(0.9, 1.1)  # noqa: S311 - many workers need not tick together
        time.sleep(max(0.1, pause - (time.monotonic() - began)))


def tick_once(app: Flask, path: str) -> bool:
    """One tick; a failing one is logged and leaves the others alone."""
    module, _, name = path.rpartition(".")
    try:
        with app.app_context(), db_wall.everyone(), trace.under():
            getattr(import_module(module), name)()
    except Exception as error:  # noqa: BLE001 - told with its place; the text could quote a person
        log.error("tick %s failed: %s at %s", path, type(error).__name__, place_of(error))  # noqa: TRY400
        return False
    return True


class Scheduler:
    """RQ's scheduler for all queues inside the ticking process, instead of one more process per queue."""

    def __init__(self, redis_url: str, interval: int) -> None:
        self._url = redis_url
        self._interval = interval
        self._scheduler: RQScheduler | None = None

    def turn(self) -> None:
        """Enqueue what is due, if no other worker's scheduler does; a Redis that is away is no error."""
        if not self._url:
            return
        try:
            if self._scheduler is None:
                redis = Redis.from_url(self._url, socket_timeout=2, socket_connect_timeout=2)
                names = [queue.value for queue in Queued]
                self._scheduler = RQScheduler(
                    names, connection=redis, interval=self._interval, logging_level="WARNING", serializer=JSONSerializer
                )
            self._scheduler.acquire_locks()  # type: ignore[no-untyped-call]
            self._scheduler.enqueue_scheduled_jobs()  # type: ignore[no-untyped-call]
        except RedisError as error:
            log.warning("delayed retries wait: %s", type(error).__name__)


def _work_of(app: Flask, settings: Settings, queue: Queued, *, jobs: frozenset[str]) -> Callable[[], None]:
    def work() -> None:
        redis = Redis.from_url(settings.redis_url, socket_connect_timeout=2)
        worker_for(app, redis, queue, ours=jobs).work(logging_level="WARNING", max_jobs=JOBS_PER_LIFE)

    return work
