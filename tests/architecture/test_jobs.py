"""Every job resolves, and the workers listen to its queue."""

from importlib import import_module

import pytest
from flask import Flask

from app.core import queue, rooms
from app.core.queue import Queued
from app.core.rooms import Job


@pytest.mark.parametrize("job", list(rooms.jobs().values()))
def test_a_job_resolves_to_a_function(job: Job) -> None:
    module, name = job.function.rsplit(".", 1)
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("job", list(rooms.jobs().values()))
def test_a_worker_listens_to_the_queue_of_a_job(job: Job) -> None:
    assert job.queue in {queue.value for queue in Queued}
    assert 0 < job.seconds <= 7200


@pytest.mark.parametrize("job", [job for job in rooms.jobs().values() if job.overdue])
def test_rows_name_what_is_due_for_a_job(app: Flask, job: Job) -> None:
    assert queue.overdue(job) == []
