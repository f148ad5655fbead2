"""Claims: who sends what, and what becomes of a worker that died or came back late."""

import threading
from dataclasses import replace
from datetime import timedelta

from app.core import clock
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.webhooks import actions
from app.webhooks.delivery import Outcome
from app.webhooks.models import DeliveryState

URL = "http://127.0.0.1:1/hook"


def outcome(turn, **values):
    return Outcome(clock.now(), 0.01, turn.message.url, **{"status": 200, **values})


def take(slots=10):
    turns = actions.take(slots)
    db.session.commit()
    return turns


def record(*results):
    actions.record(list(results))
    db.session.commit()


def test_a_delivery_is_claimed_once(office):
    office.processed(office.flow(URL))
    assert len(take()) == 1
    assert take() == []


def test_an_endpoint_sends_one_event_at_a_time(office):
    flow = office.flow(URL)
    first, second = office.processed(flow), office.processed(flow)
    (turn,) = take()
    assert turn.subject == first
    assert take() == []
    record((turn, outcome(turn)))
    assert take()[0].subject == second


def test_at_most_eight_sends_of_an_organization_are_under_way_at_once(office):
    for number in range(12):
        office.processed(office.flow(f"{URL}/{number}"))
    turns = take(100)
    assert len(turns) == 8
    assert take(100) == []
    record(*[(turn, outcome(turn)) for turn in turns[:3]])
    assert len(take(100)) == 3


def test_the_slots_of_a_process_are_a_cap(office):
    for number in range(5):
        office.processed(office.flow(f"{URL}/{number}"))
    assert len(take(2)) == 2


def test_what_a_dead_worker_had_is_due_again_when_its_lease_is_over(office, stopped):
    office.processed(office.flow(URL))
    (dead,) = take()
    stopped.move(seconds=59)
    assert take() == []
    stopped.move(seconds=2)
    (mine,) = take()
    assert mine.delivery_id == dead.delivery_id
    assert mine.fence > dead.fence
    assert replace(mine.message, at=dead.message.at) == dead.message
    assert office.delivery().recoveries == 1


def test_a_worker_that_lost_its_lease_writes_nothing(office, stopped):
    office.processed(office.flow(URL))
    (late,) = take()
    stopped.move(seconds=61)
    (mine,) = take()
    record((late, outcome(late)))
    assert office.delivery().state is DeliveryState.SENDING
    assert office.attempts() == []
    assert office.endpoint().lease_until is not None
    record((mine, outcome(mine, status=500, error="http")))
    assert office.states() == ["pending"]
    record((late, outcome(late)))
    assert office.states() == ["pending"]
    assert len(office.attempts()) == 1


def test_a_late_failure_changes_neither_delivery_nor_endpoint(office, stopped):
    office.processed(office.flow(URL))
    (late,) = take()
    stopped.move(seconds=61)
    (mine,) = take()
    record((mine, outcome(mine)))
    record((late, outcome(late, status=None, error="timeout")))
    assert office.states() == ["delivered"]
    assert office.endpoint().timeouts == 0
    assert office.endpoint().failing_since is None


def test_outcomes_of_many_are_written_together(office):
    flows = [office.flow(f"{URL}/{number}") for number in range(6)]
    for flow in flows:
        office.processed(flow)
    turns = take()
    record(
        *[
            (turn, outcome(turn, **({} if number % 2 else {"status": 500, "error": "http"})))
            for number, turn in enumerate(turns)
        ]
    )
    assert sorted(office.states()) == ["delivered"] * 3 + ["pending"] * 3
    assert len(office.attempts()) == 6


def test_two_workers_never_claim_the_same_event(office):
    for number in range(4):
        flow = office.flow(f"{URL}/{number}")
        for _ in range(3):
            office.processed(flow)
    claimed, together = [], threading.Barrier(4)

    def work():
        with office.app.app_context():
            together.wait()
            for _ in range(6):
                turns = actions.take(3)
                db.session.commit()
                claimed.extend(turn.delivery_id for turn in turns)
                actions.record([(turn, outcome(turn)) for turn in turns])
                db.session.commit()

    threads = [threading.Thread(target=as_chosen(work)) for _ in range(4)]
    db.session.rollback()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(set(claimed)) == 12
    assert set(office.states()) == {"delivered"}


def test_the_oldest_due_event_goes_first(office, stopped):
    flow = office.flow(URL)
    first = office.processed(flow)
    stopped.move(seconds=1)
    office.processed(flow)
    (turn,) = take()
    assert turn.subject == first
    record((turn, outcome(turn, status=500, error="http")))
    (turn,) = take()
    assert turn.subject != first
    record((turn, outcome(turn)))
    stopped.now += timedelta(seconds=7)
    assert take()[0].subject == first
