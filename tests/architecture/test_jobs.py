"""Every job resolves, and the workers listen to its queue."""

from importlib import import_module

import pytest
from flask import Flask

from app.core import queue
from app.core.queue import Job, Queued
from app.interviews import SWEEP


@pytest.mark.parametrize("job", list(Job))
def test_a_job_resolves_to_a_function(job: Job) -> None:
    module, name = job.value.function.rsplit(".", 1)
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("job", list(Job))
def test_a_worker_listens_to_the_queue_of_a_job(job: Job) -> None:
    assert job.value.queue in {queue.value for queue in Queued}
    assert 0 < job.value.seconds <= 7200


@pytest.mark.parametrize("job", [job for job in Job if job is not SWEEP])
def test_rows_name_what_is_due_for_a_job(app: Flask, job: Job) -> None:
    assert queue.overdue(job) == []
