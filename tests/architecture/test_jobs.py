"""Every job resolves, and the workers listen to its queue."""

from importlib import import_module

import pytest

from app.queue import Job, Queued


@pytest.mark.parametrize("job", list(Job))
def test_a_job_resolves_to_a_function(job: Job) -> None:
    module, name = job.value.path.rsplit(".", 1)
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("job", list(Job))
def test_a_worker_listens_to_the_queue_of_a_job(job: Job) -> None:
    assert job.value.queue in {queue.value for queue in Queued}
    assert 0 < job.value.seconds <= 7200
