"""Wakes the workers up. Rows hold the truth; RQ carries only the name of a job and ids.

A lost wake-up only delays the job until the next sweep, so it is no error if Redis cannot be reached.
"""

import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from flask import current_app
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Retry, Worker
from rq.exceptions import DeserializationError
from rq.job import Job as RqJob
from rq.registry import FailedJobRegistry, ScheduledJobRegistry
from rq.serializers import JSONSerializer
from sqlalchemy import event
from sqlalchemy.orm import Session, SessionTransaction

from app.core import request_id, rooms
from app.core.db import db, reading
from app.core.rooms import Job

log = logging.getLogger(__name__)

_WAITING = "parley.after_commit"
REQUEST_ID = "request_id"
"""Under this name a wake-up carries the id of what rang."""


class Queued(StrEnum):
    """Queues and the kind of worker each gets: short jobs run in the worker itself, long and risky ones in a fork."""

    WEBHOOKS = "webhooks"
    SPEECH = "speech"
    INTERVIEWS = "interviews"
    MEDIA = "media"
    LETTERS = "letters"


SHORT_JOBS = frozenset({"webhooks", "speech", "letters"})


class Waker(Protocol):
    """Wakes a worker up. ``ring`` returns whether one was woken up or will be."""

    def enqueue(self, job: Job, ids: tuple[str, ...]) -> bool: ...


class SilentWaker:
    """Collects the jobs instead of waking workers up: for tests, and for commands that run no workers."""

    def __init__(self) -> None:
        self.enqueued: list[tuple[Job, tuple[str, ...]]] = []

    def enqueue(self, job: Job, ids: tuple[str, ...]) -> bool:
        self.enqueued.append((job, ids))
        return True


class RedisWaker:
    """Puts the job on its RQ queue, unless one for the same ids waits there already."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.outage = Outage()
        self._lines = {name.value: Queue(name.value, connection=redis, serializer=JSONSerializer) for name in Queued}

    def enqueue(self, job: Job, ids: tuple[str, ...]) -> bool:
        line = self._lines[job.queue]
        mark = Mark(line, job.key, ids)

        def put(together: Pipeline) -> None:
            if mark.names_one_that_waits(together):
                return
            together.multi()
            again = Retry(max=2, interval=[5, 30])
            run = line.enqueue_call(
                job.key,
                args=ids,
                timeout=job.seconds,
                result_ttl=0,
                failure_ttl=3600,
                retry=again,
                meta={REQUEST_ID: request_id.current()},
                pipeline=together,
            )
            mark.set(together, run.id)

        try:
            if mark.names_one_that_waits(self._redis):
                return True  # read, not written: whether Redis takes anything is not known
            self._redis.transaction(put, mark.key)
        except RedisError as error:
            self.outage.note(type(error).__name__)
            return False
        self.outage.note("")
        return True


class Outage:
    """Logs once that Redis takes no wake-ups, and once that it does again."""

    def __init__(self) -> None:
        self.is_told = True
        self._is_on = False

    def note(self, reason: str) -> None:
        """Note the outcome of the last call to Redis: ``reason`` is empty if it succeeded."""
        was_on, self._is_on = self._is_on, bool(reason)
        if not self.is_told or was_on == self._is_on:
            return
        if reason:
            log.warning("Redis accepts no wake-ups (%s); workers look for jobs in the database until it does", reason)
        else:
            log.warning("Redis accepts wake-ups again")


class Mark:
    """Names the RQ job that was enqueued last for a job and its ids, so that no second one waits beside it.

    It needs no removal: it counts only while the RQ job is in its queue, or among the retries that are due or recently
    were. One that has started or got lost no longer waits. Change it in a transaction that watches ``key``.
    """

    KEPT = 24 * 3600
    """Seconds after which it expires: a wake-up that waits longer may get a second one beside it."""
    OVERDUE = 30.0
    """Seconds after which a due retry no longer counts: the process that enqueues retries may be gone."""

    def __init__(self, line: Queue, path: str, ids: Iterable[str]) -> None:
        self.key = f"parley:rung:{path}({' '.join(ids)})"
        self._line = line.key
        self._retries = ScheduledJobRegistry(queue=line).key  # type: ignore[no-untyped-call]

    def names_one_that_waits(self, redis: "Redis | Pipeline", *, besides: str = "") -> bool:
        """Whether a job other than ``besides`` waits. In this order the checks miss no retry enqueued meanwhile."""
        value = redis.get(self.key)
        last = value.decode() if isinstance(value, bytes) else ""
        if last in {"", besides}:
            return False
        due = redis.zscore(self._retries, last)
        return (due is not None and due > time.time() - self.OVERDUE) or redis.lpos(self._line, last) is not None

    def set(self, together: Pipeline, run_id: str) -> None:
        together.set(self.key, run_id, ex=self.KEPT)


def connect(url: str) -> Redis:
    """A client whose calls take at most a second, so that a dead Redis slows nothing down."""
    return Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1)


def refusal(redis: Redis) -> str:
    """Why Redis takes no wake-up; empty if it does. Tries a write, because a full Redis still answers reads."""
    try:
        redis.set("parley:asked", "1", ex=10)
    except RedisError as error:
        return type(error).__name__
    return ""


def after_commit(job: Job, *ids: str) -> None:
    """Enqueue ``job`` once the outer transaction has committed; a rollback drops it."""
    waiting: list[tuple[Job, tuple[str, ...]]] = db.session().info.setdefault(_WAITING, [])
    if (job, ids) not in waiting:
        waiting.append((job, ids))


def enqueue_now(job: Job, *ids: str) -> bool:
    """Enqueue ``job`` at once: for the sweep and the tick, which change nothing. False if Redis does not take it."""
    waker: Waker = current_app.extensions["parley.bell"]
    return waker.enqueue(job, ids)


def overdue(job: Job) -> list[tuple[str, ...]]:
    """Ids for which ``job`` is due and not claimed. They come from the rows, whatever Redis lost."""
    with reading():
        due = rooms.resolve(job.overdue)()
        db.session.rollback()
    return [ids if isinstance(ids, tuple) else (ids,) for ids in due]


def enqueue_overdue(*jobs: Job) -> None:
    """Enqueue everything that is due; called by the worker's tick. Without Redis, workers find due work themselves."""
    for job in jobs:
        if not all(enqueue_now(job, *ids) for ids in overdue(job)):
            return


def due(queue: Queued) -> list[tuple[Job, tuple[str, ...]]]:
    """All overdue work of one queue."""
    jobs = [job for job in rooms.jobs().values() if job.queue == queue and job.overdue]
    return [(job, ids) for job in jobs for ids in overdue(job)]


@event.listens_for(Session, "after_commit")
def _enqueue_all(session: Session) -> None:
    if session.in_nested_transaction():
        return  # a released SAVEPOINT is no commit
    for job, ids in session.info.pop(_WAITING, []):
        enqueue_now(job, *ids)


@event.listens_for(Session, "after_soft_rollback")
def _forget_all(session: Session, previous: SessionTransaction) -> None:
    if previous.parent is None:
        session.info.pop(_WAITING, None)


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many jobs wait in a queue, how long the oldest has waited (s), and how many workers serve it."""

    jobs: int
    oldest_seconds: float
    workers: int


def waiting(redis: Redis, now: datetime) -> dict[str, Waiting]:
    """The state of each queue. Raises RedisError."""
    return {name.value: _waiting(redis, name.value, now) for name in Queued}


def _waiting(redis: Redis, name: str, now: datetime) -> Waiting:
    queue = Queue(name, connection=redis, serializer=JSONSerializer)
    ids = queue.get_job_ids(0, 1)
    first = queue.fetch_job(ids[0]) if ids else None
    since = first.enqueued_at if first is not None else None
    oldest = max(0.0, (now - since).total_seconds()) if since is not None else 0.0
    workers = Worker.all_keys(queue=queue)
    alive = int(redis.exists(*workers)) if workers else 0  # a killed worker stays on the list
    return Waiting(queue.count, oldest, alive)


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that RQ gave up: its job, its ids, and when. The worker's log has the reason."""

    job: Job
    ids: tuple[str, ...]
    at: datetime | None


def failed(redis: Redis, *, limit: int = 200) -> list[Failed]:
    """Runs that RQ gave up within the last hour, the newest first; unknown jobs are left out."""
    jobs_by_name = rooms.jobs()
    failures: list[Failed] = []
    for name in Queued:
        registry = FailedJobRegistry(name.value, connection=redis, serializer=JSONSerializer)
        newest = registry.get_job_ids(0, limit - 1, desc=True)
        for run in RqJob.fetch_many(newest, connection=redis, serializer=JSONSerializer):
            with suppress(DeserializationError):
                if run is not None and run.func_name in jobs_by_name:
                    ids = tuple(str(one) for one in run.args)
                    failures.append(Failed(jobs_by_name[run.func_name], ids, _aware(run.ended_at)))
    return sorted(failures, key=lambda one: one.at or datetime.min.replace(tzinfo=UTC), reverse=True)


def given_up(url: str) -> list[Failed]:
    """As ``failed``; empty if there are no queues or they do not respond."""
    if not url:
        return []
    redis = connect(url)
    try:
        return failed(redis)
    except RedisError:
        return []
    finally:
        redis.close()


def workers(redis: Redis) -> int:
    """The number of workers of all queues. A killed one counts for a while."""
    keys = Worker.all_keys(connection=redis)
    return int(redis.exists(*keys)) if keys else 0


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
