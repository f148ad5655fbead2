"""Wake-ups ring after the outer commit only, and a Redis that is away loses nothing but time."""

from flask import Flask

from app.core import queue
from app.core.db import db
from app.core.queue import RedisWaker, SilentWaker
from app.flows.models import InterviewFlow
from app.interviews import PROCESS_INTERVIEW
from app.webhooks import DRAIN_WEBHOOKS
from tests.factories import Made


def test_a_job_is_rung_after_the_commit_and_once(app: Flask, waker: SilentWaker) -> None:
    queue.after_commit(PROCESS_INTERVIEW, "one")
    queue.after_commit(PROCESS_INTERVIEW, "one")
    assert waker.enqueued == []
    db.session.commit()
    assert waker.enqueued == [(PROCESS_INTERVIEW, ("one",))]
    db.session.commit()
    assert len(waker.enqueued) == 1


def test_a_rollback_forgets_the_wake_up(make_flow: Made, waker: SilentWaker) -> None:
    flow = make_flow()
    waker.enqueued.clear()
    flow.title = "changed"
    queue.after_commit(PROCESS_INTERVIEW, "one")
    db.session.rollback()
    db.session.commit()
    assert waker.enqueued == []
    assert db.session.get_one(InterviewFlow, flow.id).title != "changed"


def test_a_released_savepoint_is_no_commit(app: Flask, waker: SilentWaker) -> None:
    with db.session.begin_nested():
        queue.after_commit(PROCESS_INTERVIEW, "one")
    assert waker.enqueued == []
    db.session.commit()
    assert waker.enqueued == [(PROCESS_INTERVIEW, ("one",))]


def test_a_redis_that_cannot_be_reached_is_no_error(free_port: int) -> None:
    waker = RedisWaker(queue.connect(f"redis://127.0.0.1:{free_port}/0"))
    waker.enqueue(DRAIN_WEBHOOKS, ())
    waker.enqueue(PROCESS_INTERVIEW, ("one",))
