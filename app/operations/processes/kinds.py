"""The two kinds of RQ worker, for short and for long jobs. Both replace RQ's own reconnecting."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from flask import Flask
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker, Worker
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer

from app.core.queue import SHORT_JOBS, Queued
from app.core.rooms import Job
from app.gateways.redis import embedded
from app.operations.processes.runs import job_class

WORKER_TTL = 25
MAINTENANCE_SECONDS = 30


class _Away(Exception):
    """The connection to Redis broke while a worker waited for a job."""


class _Line(Queue):
    """RQ's queue, which raises an error that RQ does not catch when the connection to Redis breaks."""

    @classmethod
    def dequeue_any(cls, *args: Any, **options: Any) -> Any:
        """As RQ."""
        try:
            return super().dequeue_any(*args, **options)
        except RedisError as error:
            raise _Away from error


class _Leaving:
    """What both kinds of worker share: they end silently when Redis goes away, where RQ would log every attempt.

    The next process first checks whether Redis is back, and works from the rows until then.
    """

    broke_off = ""
    """The error that broke the connection to Redis."""

    @contextmanager
    def _leaving(self) -> Iterator[None]:
        try:
            yield
        except (RedisError, _Away) as error:
            self.broke_off = type(error.__cause__ or error).__name__
            raise StopRequested from error

    def subscribe(self) -> None:
        """Take no commands through Redis, which would need another thread and connection."""

    def check_for_suspension(self, burst: bool) -> None:  # noqa: FBT001 - RQ's way to call it
        """Workers cannot be suspended."""

    def run_maintenance_tasks(self) -> None:
        with self._leaving():
            super().run_maintenance_tasks()  # type: ignore[misc]

    def dequeue_job_and_maintain_ttl(self, *args: Any, **options: Any) -> Any:
        with self._leaving():
            return super().dequeue_job_and_maintain_ttl(*args, **options)  # type: ignore[misc]

    def heartbeat(self, *args: Any, **options: Any) -> None:
        with self._leaving():
            super().heartbeat(*args, **options)  # type: ignore[misc]

    def execute_job(self, job: Any, queue: Any) -> None:
        with self._leaving():
            super().execute_job(job, queue)  # type: ignore[misc]

    def set_shutdown_requested_date(self) -> None:
        with suppress(RedisError):
            super().set_shutdown_requested_date()  # type: ignore[misc]

    def register_death(self) -> None:
        with suppress(RedisError):
            super().register_death()  # type: ignore[misc]


class ShortWorker(_Leaving, SimpleWorker):
    """Runs short jobs itself."""


class LongWorker(_Leaving, Worker):
    """Forks for every job, so that a crash affects that job only."""

    def fork_work_horse(self, job: Any, queue: Any) -> None:
        """As RQ, but the fork ends with this worker, so that no orphan continues."""
        self._hold_on = embedded.ends_with_parent(9)
        super().fork_work_horse(job, queue)

    def setup_work_horse_signals(self) -> None:
        """In the fork, before the job."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        if self._hold_on is not None:
            self._hold_on()

    def heartbeat(self, *args: Any, **options: Any) -> None:
        """As RQ; a job that runs goes on without Redis."""
        try:
            super().heartbeat(*args, **options)
        except StopRequested:
            if not self.horse_pid:
                raise

    def maintain_heartbeats(self, job: Any) -> None:
        """As RQ; a job that runs goes on without Redis."""
        with suppress(RedisError):
            super().maintain_heartbeats(job)

    def set_current_job_working_time(self, *args: Any, **options: Any) -> None:
        """As RQ; a job that runs goes on without Redis."""
        with suppress(RedisError):
            super().set_current_job_working_time(*args, **options)


def worker_for(app: Flask, redis: Redis, queue: Queued, *, jobs: Mapping[str, Job]) -> Any:
    """An RQ worker of one queue, of the kind that suits it."""
    known_job = job_class(app, jobs)
    return (ShortWorker if queue.value in SHORT_JOBS else LongWorker)(
        [_Line(queue.value, connection=redis, serializer=JSONSerializer, job_class=known_job)],
        connection=redis,
        queue_class=_Line,
        serializer=JSONSerializer,
        job_class=known_job,
        worker_ttl=WORKER_TTL,
        maintenance_interval=MAINTENANCE_SECONDS,
        job_monitoring_interval=10,
        log_job_description=False,
    )
