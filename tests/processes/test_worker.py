"""The workers as a process: jobs run where they should, and everything that is killed comes back."""

import os
import signal
import time

import pytest
from redis import Redis
from rq import Queue, Retry
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer

from app.core.queue import Queued
from app.gateways.redis.embedded import EmbeddedRedis, found_alive
from tests.faults.processes import descendants, is_running

from .conftest import until


@pytest.fixture
def own_worker(start):
    """Workers that the test may stop."""
    program = start("tests.processes.small", "worker")
    until(lambda: program.notes("tick"))
    return program


@pytest.fixture(scope="module")
def worker(start_once):
    """The workers that the tests of this file share; whatever a test kills has to come back."""
    program = start_once("tests.processes.small", "worker")
    until(lambda: program.notes("tick"))
    return program


def redis_of(program) -> Redis:
    return Redis.from_url(until(lambda: found_alive(program.data_dir, "")))


def put(program, queue: Queued, name: str, *args: str, **options) -> None:
    with redis_of(program) as redis:
        Queue(queue.value, connection=redis, serializer=JSONSerializer).enqueue_call(
            f"tests.processes.small.{name}", args=args, result_ttl=0, **options
        )


def test_every_queue_is_worked_on_by_a_process_of_its_own(worker):
    for queue in Queued:
        put(worker, queue, "note", queue.value)
    ran = {queue.value: until(lambda queue=queue: worker.notes(queue.value))[0] for queue in Queued}
    assert len({note["pid"] for note in ran.values()}) == len(Queued)
    supervisor = worker.process.pid
    for queue in (Queued.WEBHOOKS, Queued.SPEECH):
        assert ran[queue.value]["parent"] == supervisor
    for queue in (Queued.INTERVIEWS, Queued.MEDIA):
        assert ran[queue.value]["parent"] != supervisor  # a fork of the queue's process


def test_a_tick_that_fails_does_not_stop_the_others(worker):
    seen = len(worker.notes("tick"))
    until(lambda: len(worker.notes("tick")) > seen + 1)
    told = worker.output.read_text()
    assert "broken_tick failed: RuntimeError at" in told  # its place, and not its words: they could quote a person
    assert "broken on purpose" not in told


def test_a_name_that_is_no_job_of_ours_is_not_run(worker, tmp_path):
    with redis_of(worker) as redis:
        queue = Queue(Queued.WEBHOOKS.value, connection=redis, serializer=JSONSerializer)
        queue.enqueue_call("os.mkdir", args=(str(tmp_path / "made"),))
        until(lambda: FailedJobRegistry(queue=queue).get_job_ids())
    put(worker, Queued.WEBHOOKS, "note", "after the stranger")
    until(lambda: worker.notes("after the stranger"))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("queue", [Queued.WEBHOOKS, Queued.MEDIA])
def test_a_killed_worker_is_started_again(worker, queue):
    put(worker, queue, "note", f"before {queue}")
    note = until(lambda: worker.notes(f"before {queue}"))[0]
    victim = note["pid"] if queue is Queued.WEBHOOKS else note["parent"]
    os.kill(victim, signal.SIGKILL)
    until(lambda: not is_running(victim))
    # Redis may still hand the job to the dead one; RQ finds it a minute later and tries it again, as all our jobs.
    put(worker, queue, "note", f"after {queue}", retry=Retry(max=2))
    assert until(lambda: worker.notes(f"after {queue}"), 120)[0]["pid"] != victim


def test_the_fork_of_a_killed_worker_does_not_work_on_alone(worker):
    put(worker, Queued.MEDIA, "linger", "orphan", "60")
    began = until(lambda: worker.notes("orphan began"))[0]
    os.kill(began["parent"], signal.SIGKILL)
    until(lambda: not is_running(began["pid"]))


def test_a_failed_job_is_tried_again_after_its_pause(worker):
    put(worker, Queued.SPEECH, "linger", "failing", "no number", retry=Retry(max=1, interval=1))
    until(lambda: len(worker.notes("failing began")) == 2)


def test_redis_may_be_killed_and_everything_comes_back(worker):
    with redis_of(worker) as redis:
        server = int(redis.info("server")["process_id"])
    os.kill(server, signal.SIGKILL)
    seen = len(worker.notes("tick"))
    until(lambda: len(worker.notes("tick")) > seen)
    for queue in (Queued.WEBHOOKS, Queued.MEDIA):
        until(lambda: found_alive(worker.data_dir, ""))
        put(worker, queue, "note", f"back {queue.value}")
        until(lambda queue=queue: worker.notes(f"back {queue.value}"), 60)


def test_sigterm_lets_the_running_job_finish_and_leaves_no_process(own_worker):
    put(own_worker, Queued.MEDIA, "linger", "last", "2")
    until(lambda: own_worker.notes("last began"))
    family = descendants(own_worker.process.pid)
    assert len(family) >= len(Queued) + 2
    began = time.monotonic()
    assert own_worker.end(signal.SIGTERM) == 0
    assert time.monotonic() - began < 30
    assert own_worker.notes("last ended")
    assert not any(is_running(pid) for pid in family)


def test_everything_ends_when_the_supervisor_is_killed(own_worker):
    family = descendants(own_worker.process.pid)
    own_worker.process.kill()
    own_worker.process.wait()
    until(lambda: not any(is_running(pid) for pid in family), 40)


def test_a_redis_of_someone_else_is_not_touched(start, tmp_path):
    theirs = EmbeddedRedis(tmp_path / "theirs")
    try:
        program = start("tests.processes.small", "worker", REDIS_URL=theirs.start(), SECRET_KEY="k" * 40)
        until(lambda: program.notes("tick"))
        assert program.end() == 0
        assert theirs.is_alive()
        assert not (program.data_dir / "redis").exists()
    finally:
        theirs.stop()


@pytest.fixture
def theirs(tmp_path):
    """A Redis of someone else, which the test may stop."""
    server = EmbeddedRedis(tmp_path / "theirs")
    server.start()
    yield server
    server.stop()


def owe(program, queue: Queued, word: str) -> None:
    """Write a row that is due."""
    folder = program.data_dir / "due" / queue.value
    folder.mkdir(parents=True, exist_ok=True)
    (folder / word).write_text("")


GONE, BACK = "Redis accepts no wake-ups (", "Redis accepts wake-ups again"


def test_without_redis_every_queue_finds_its_work_in_the_rows_and_one_line_says_so(start, theirs):
    program = start("tests.processes.small", "worker", REDIS_URL=theirs.url, SECRET_KEY="k" * 40)
    until(lambda: program.notes("tick"))
    theirs.stop()
    for queue in Queued:
        owe(program, queue, f"owed {queue}")
    for queue in Queued:
        until(lambda queue=queue: program.notes(f"owed {queue}"))
    until(lambda: GONE in program.output.read_text())
    theirs.start()
    until(lambda: BACK in program.output.read_text())
    for queue in (Queued.WEBHOOKS, Queued.MEDIA):
        with Redis.from_url(theirs.url) as redis:
            line = Queue(queue.value, connection=redis, serializer=JSONSerializer)
            line.enqueue_call("tests.processes.small.note", args=(f"back {queue}",), result_ttl=0)
        until(lambda queue=queue: program.notes(f"back {queue}"))
    theirs.stop()
    owe(program, Queued.LETTERS, "owed again")
    until(lambda: program.notes("owed again"))
    until(lambda: program.output.read_text().count(GONE) == 2)
    assert program.end() == 0
    told = program.output.read_text().replace("ConnectionError)", "")
    said = [one for one in told.splitlines() if "broken_tick" not in one]
    assert not [
        one for one in said if "Traceback" in one or "ERROR" in one or "Error" in one.replace("ConnectionError)", "")
    ]
    assert len([one for one in said if GONE in one or BACK in one]) == 3


def test_a_job_that_runs_while_redis_goes_is_finished(start, theirs):
    program = start("tests.processes.small", "worker", REDIS_URL=theirs.url, SECRET_KEY="k" * 40)
    until(lambda: program.notes("tick"))
    with Redis.from_url(theirs.url) as redis:
        line = Queue(Queued.MEDIA.value, connection=redis, serializer=JSONSerializer)
        line.enqueue_call("tests.processes.small.linger", args=("long", "12"), result_ttl=0)
    until(lambda: program.notes("long began"))
    theirs.stop()
    until(lambda: program.notes("long ended"))
    owe(program, Queued.MEDIA, "next")
    until(lambda: program.notes("next"))
    assert program.end() == 0
    assert "Traceback" not in program.output.read_text()


def test_a_job_from_the_rows_that_kills_its_worker_does_not_hold_up_the_others(start, theirs):
    theirs.stop()
    program = start("tests.processes.small", "worker", REDIS_URL=theirs.url, SECRET_KEY="k" * 40)
    for number in range(3):
        owe(program, Queued.INTERVIEWS, f"fatal {number}")
    owe(program, Queued.INTERVIEWS, "harmless")
    until(lambda: program.notes("harmless"))
    assert program.end() == 0
