"""``parley worker``: one child per queue, and one that looks for overdue work every few seconds.

Each RQ worker has one queue, because a worker of two queues loses a job for good if it dies between taking and starting
it. The application is loaded before anything is forked. Rows hold the truth, so a dead worker costs only time.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from flask import Flask
from redis import Redis
from redis.exceptions import RedisError
from rq.scheduler import RQScheduler
from rq.serializers import JSONSerializer

from app import create_app
from app.core import request_id, rooms
from app.core.data_dir import close_to_others
from app.core.db import row_security
from app.core.errors import place_of
from app.core.queue import Outage, Queued, RedisWaker, connect, due, refusal
from app.core.rooms import Job
from app.gateways.redis import embedded
from app.gateways.speech_check import report
from app.operations.processes.family import Family
from app.operations.processes.kinds import worker_for
from app.operations.processes.rows import Finder, work_from_rows
from app.settings import Settings

log = logging.getLogger(__name__)

JOBS_PER_LIFE = 5_000
AT_ONCE = 1.0
"""Seconds. A worker that loses Redis sooner than this would otherwise be restarted again and again silently."""


def run_worker(
    settings: Settings,
    *,
    application: Callable[[Settings], Flask] = create_app,
    ticks: Iterable[str] | None = None,
    jobs: Mapping[str, Job] | None = None,
    find: Finder = due,
) -> None:
    """Work until SIGTERM or SIGINT. Starts the embedded Redis if none runs and there is no REDIS_URL.

    ``ticks`` and ``jobs`` default to those of all rooms. ``find`` returns the due work of a queue while Redis is down.
    """
    close_to_others(settings.data_dir)
    url, server = embedded.found_or_started(settings.data_dir, settings.redis_url)
    connected = replace(settings, redis_url=url)
    app = application(connected)
    waker = app.extensions.get("parley.bell")
    if isinstance(waker, RedisWaker):
        waker.outage.is_told = False  # the ticking process logs it for all
    known_jobs = rooms.jobs() if jobs is None else jobs
    works: dict[str, Callable[[], None]] = {
        queue.value: _work_of(app, connected, queue, jobs=known_jobs, find=find) for queue in Queued
    }
    works["tick"] = lambda: tick_forever(app, connected, list(rooms.sweeps() if ticks is None else ticks))
    try:
        Family(works).run(every_second=None if server is None else keeper_of(server))
    finally:
        if server is not None:
            server.stop()


def keeper_of(server: embedded.EmbeddedRedis) -> Callable[[], None]:
    """A function to call every second: restarts a dead Redis, with pauses if that fails."""
    due = 0.0

    def keep() -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + 1
        try:
            if server.keep_alive():
                log.warning("the embedded Redis stopped unexpectedly and was restarted")
        except embedded.NoServer as error:
            log.error("%s", error)  # noqa: TRY400 - the sentence says it all
            due = time.monotonic() + 5

    return keep


def tick_forever(app: Flask, settings: Settings, ticks: list[str]) -> None:
    """Call each of ``ticks`` every SWEEP_SECONDS, and put RQ's delayed retries back into their queues.

    At the start, a thread tests the configured recognition engines and logs the outcome.
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
    """Run one tick. A failure is logged and does not affect the others."""
    try:
        with app.app_context(), row_security.everyone(), request_id.under():
            rooms.resolve(path)()
    except Exception as error:  # noqa: BLE001 - told with its place; the text could quote a person
        log.error("tick %s failed: %s at %s", path, type(error).__name__, place_of(error))  # noqa: TRY400
        return False
    return True


class Scheduler:
    """RQ's scheduler for all queues inside the ticking process, instead of one more process per queue."""

    def __init__(self, redis_url: str, interval: int) -> None:
        self._url = redis_url
        self._interval = interval
        self._outage = Outage()
        self._scheduler: RQScheduler | None = None

    def turn(self) -> None:
        """Enqueue due retries, if no other worker's scheduler does. Logs once that Redis is down, and once that it
        is back.
        """
        if not self._url:
            return
        try:
            if self._scheduler is None:
                redis = Redis.from_url(self._url, socket_timeout=2, socket_connect_timeout=2)
                names = [queue.value for queue in Queued]
                self._scheduler = RQScheduler(
                    names, connection=redis, interval=self._interval, logging_level="WARNING", serializer=JSONSerializer
                )
            self._outage.note(refusal(self._scheduler.connection))
            self._scheduler.acquire_locks()  # type: ignore[no-untyped-call]
            self._scheduler.enqueue_scheduled_jobs()  # type: ignore[no-untyped-call]
        except RedisError as error:
            self._outage.note(type(error).__name__)


def _work_of(
    app: Flask, settings: Settings, queue: Queued, *, jobs: Mapping[str, Job], find: Finder
) -> Callable[[], None]:
    def work() -> None:
        """Runs until Redis goes away or comes back; the next process starts fresh and does what fits then."""
        asking = connect(settings.redis_url)
        if refusal(asking):
            work_from_rows(app, asking, queue, pause=settings.sweep_seconds, find=find)
            return
        began = time.monotonic()
        worker = worker_for(app, Redis.from_url(settings.redis_url, socket_connect_timeout=2), queue, jobs=jobs)
        with suppress(RedisError):
            worker.work(logging_level="WARNING", max_jobs=JOBS_PER_LIFE)
        if worker.broke_off and time.monotonic() - began < AT_ONCE:
            log.warning("%s: Redis accepts wake-ups but returns no jobs (%s)", queue, worker.broke_off)
            time.sleep(AT_ONCE)

    return work
