"""One run of a job: inside the application, counted, and only if it is one of Parley's."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from flask import Flask
from redis.client import Pipeline
from rq import Queue
from rq.job import Job as RqJob
from rq.timeouts import JobTimeoutException, UnixSignalDeathPenalty

from app.core import counters, request_id
from app.core.db import row_security
from app.core.errors import place_of
from app.core.queue import REQUEST_ID, Mark
from app.core.rooms import Job, resolve

log = logging.getLogger(__name__)


class UnknownJob(Exception):
    """An unknown job was in the queue."""


def run(app: Flask, job: Job, ids: tuple[str, ...]) -> bool:
    """Run a job that came from no queue. A failure is logged, and the rows say when the job is due again."""
    try:
        limit = UnixSignalDeathPenalty(job.seconds, JobTimeoutException)  # type: ignore[no-untyped-call]
        with limit, _inside(app, job.key, ids):
            resolve(job.function)(*ids)
    except Exception as error:  # noqa: BLE001 - told with its place; the text could quote a person
        log.error("job %s failed: %s at %s", job.key, type(error).__name__, place_of(error))  # noqa: TRY400
        return False
    return True


def job_class(app: Flask, jobs: Mapping[str, Job]) -> type[RqJob]:
    """RQ's job, run inside the application and only if it is one of Parley's: code must not come from Redis."""

    class OurJob(RqJob):
        @property
        def func(self) -> Callable[..., Any]:
            function: Callable[..., Any] = resolve(jobs[str(self.func_name)].function)
            return function

        def perform(self) -> Any:
            if self.func_name not in jobs:
                raise UnknownJob(self.id)
            with _inside(app, str(self.func_name), self.args, caller=self.meta.get(REQUEST_ID)):
                return super().perform()

        def retry(self, queue: Queue, pipeline: Pipeline) -> None:  # noqa: ARG002 - RQ's way to call it
            """Retry after the pause, unless another wake-up for the same ids waits, which is the retry then."""
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
def _inside(app: Flask, path: str, ids: Iterable[str], *, caller: str | None = None) -> Iterator[None]:
    with app.app_context(), row_security.everyone(), request_id.under(caller), _counted(path, ids):
        yield


@contextmanager
def _counted(path: str, ids: Iterable[str]) -> Iterator[None]:
    """How long jobs take, and how many fail."""
    began, outcome, job = time.perf_counter(), "failed", path.removeprefix("app.")
    try:
        yield
        outcome = "done"
    finally:
        seconds = time.perf_counter() - began
        counters.current().time("job", job, outcome, seconds=seconds)
        fields = {"job": job, "ids": " ".join(ids), "outcome": outcome, "ms": round(seconds * 1000)}
        log.info("job %s(%s) %s, %d ms", *fields.values(), extra=fields)
