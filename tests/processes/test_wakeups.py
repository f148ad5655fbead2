"""However often it is rung: one wake-up waits for each job and its ids, and none that is needed gets lost."""

import threading
import time

import pytest
from flask import Flask
from redis import Redis
from rq import Queue
from rq.registry import FailedJobRegistry, ScheduledJobRegistry
from rq.serializers import JSONSerializer

from app.core import queue, rooms
from app.core.queue import Queued, RedisWaker
from app.gateways.redis.embedded import EmbeddedRedis
from app.mail_outbox import SEND_MAIL
from app.operations.processes.kinds import worker_for

JOB, IDS = SEND_MAIL, ("one",)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = EmbeddedRedis(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def redis(server):
    client = queue.connect(server.url)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def waker(redis: Redis) -> RedisWaker:
    return RedisWaker(redis)


def line(redis: Redis) -> Queue:
    return Queue(JOB.queue, connection=redis, serializer=JSONSerializer)


def work_off(redis: Redis, job_path: str, monkeypatch: pytest.MonkeyPatch, work) -> None:
    """Run what waits with ``work`` in the place of the job, as the worker of the queue does."""
    monkeypatch.setattr(job_path, work)
    worker = worker_for(Flask("small"), redis, Queued(JOB.queue), jobs=rooms.jobs())
    worker.work(burst=True, logging_level="CRITICAL")


def test_one_wake_up_waits_however_often_it_is_rung(redis: Redis, waker: RedisWaker) -> None:
    assert all(waker.enqueue(JOB, IDS) for _ in range(20))
    assert waker.enqueue(JOB, ("two",))
    assert sorted(job.args for job in line(redis).jobs) == [["one"], ["two"]]


def test_many_processes_that_ring_at_once_leave_one_wake_up(server: EmbeddedRedis, redis: Redis) -> None:
    together = threading.Barrier(8)

    def enqueue() -> None:
        waker = RedisWaker(queue.connect(server.url))
        for number in range(25):
            together.wait()
            waker.enqueue(JOB, (str(number),))

    threads = [threading.Thread(target=enqueue) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(job.args[0]) for job in line(redis).jobs) == list(range(25))


def test_what_is_rung_during_a_run_makes_exactly_one_more(
    redis: Redis, waker: RedisWaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []

    def work(letter_id: str) -> None:
        runs.append(letter_id)
        if len(runs) == 1:  # it has read its row; what changes from now on needs another run
            waker.enqueue(JOB, IDS)
            waker.enqueue(JOB, IDS)
            assert line(redis).count == 1

    waker.enqueue(JOB, IDS)
    work_off(redis, JOB.function, monkeypatch, work)
    assert runs == ["one", "one"]


def test_a_retry_that_is_scheduled_counts_as_waiting(
    redis: Redis, waker: RedisWaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(_letter_id: str) -> None:
        raise ValueError

    waker.enqueue(JOB, IDS)
    work_off(redis, JOB.function, monkeypatch, work)
    scheduled = ScheduledJobRegistry(queue=line(redis))
    assert scheduled.count == 1
    assert waker.enqueue(JOB, IDS)
    assert line(redis).count == 0
    redis.zadd(scheduled.key, {scheduled.get_job_ids()[0]: time.time() - 31})  # the scheduler has died with its lock
    assert waker.enqueue(JOB, IDS)
    assert line(redis).count == 1


def test_a_run_that_fails_while_another_waits_is_not_retried_as_well(
    redis: Redis, waker: RedisWaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []

    def work(letter_id: str) -> None:
        runs.append(letter_id)
        if len(runs) == 1:
            waker.enqueue(JOB, IDS)
            raise ValueError

    waker.enqueue(JOB, IDS)
    work_off(redis, JOB.function, monkeypatch, work)
    assert runs == ["one", "one"]
    assert ScheduledJobRegistry(queue=line(redis)).count == 0
    assert FailedJobRegistry(queue=line(redis)).count == 0


def test_a_redis_that_forgets_everything_is_rung_again(redis: Redis, waker: RedisWaker) -> None:
    waker.enqueue(JOB, IDS)
    redis.flushall()
    waker.enqueue(JOB, IDS)
    assert line(redis).count == 1


def test_what_was_lost_between_taking_and_beginning_is_rung_again_at_once(redis: Redis, waker: RedisWaker) -> None:
    waker.enqueue(JOB, IDS)
    redis.lmove(line(redis).key, line(redis).intermediate_queue_key, "LEFT", "RIGHT")  # and its worker dies
    waker.enqueue(JOB, IDS)
    assert line(redis).count == 1


def test_wake_ups_of_the_release_before_run_and_need_no_mark(
    redis: Redis, waker: RedisWaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    line(redis).enqueue_call(JOB.key, args=IDS, timeout=60, result_ttl=0, failure_ttl=3600)
    waker.enqueue(JOB, IDS)
    work_off(redis, JOB.function, monkeypatch, runs.append)
    assert runs == ["one", "one"]
    assert waker.enqueue(JOB, IDS)
    assert line(redis).count == 1


def test_a_redis_that_answers_but_takes_nothing_is_told_of_once(
    redis: Redis, waker: RedisWaker, caplog: pytest.LogCaptureFixture
) -> None:
    waker.enqueue(JOB, IDS)
    try:
        redis.config_set("maxmemory", "1")
        for number in range(3):
            assert waker.enqueue(JOB, IDS), "it waits already"
            assert not waker.enqueue(JOB, (f"other {number}",))
    finally:
        redis.config_set("maxmemory", "0")
    assert waker.enqueue(JOB, ("last",))
    told = [one.getMessage().partition(";")[0] for one in caplog.records if one.name == "app.core.queue"]
    assert told == ["Redis accepts no wake-ups (OutOfMemoryError)", "Redis accepts wake-ups again"]
