"""Order: nothing overtakes the event it must follow, and what waited goes out at once."""

import json
import random
from collections import defaultdict

import sqlalchemy as sa

from app.core.db import db, new_id
from app.webhooks import actions, queries
from app.webhooks.models import Delivery, DeliveryState
from tests.outbound.receiver import says


def kinds(receiver):
    return ["video" if b"video_processed" in body else "interview" for body in receiver.bodies]


def test_the_video_goes_out_at_once_after_its_interview_was_accepted(office, receiver):
    flow = office.flow(receiver.url)
    office.processed(flow, office.processed(flow), video=True)
    assert office.drain() == 2
    assert kinds(receiver) == ["interview", "video"]
    assert office.states() == ["delivered", "delivered"]


def test_the_video_is_not_attempted_while_the_interview_keeps_failing(office, receiver, stopped):
    receiver.script = says(500)
    flow = office.flow(receiver.url)
    office.processed(flow, office.processed(flow), video=True)
    for _ in range(9):
        office.drain()
        stopped.now = office.deliveries()[0].due_at
    assert kinds(receiver) == ["interview"] * 9
    assert office.states() == ["pending", "held"]
    receiver.script = says()
    office.drain()
    assert kinds(receiver)[9:] == ["interview", "video"]


def test_an_exhausted_interview_holds_its_video_until_it_is_replayed(office, receiver, stopped):
    receiver.script = says(500)
    flow = office.flow(receiver.url)
    office.processed(flow, office.processed(flow), video=True)
    for _ in range(10):
        office.drain()
        stopped.now = max(stopped.now, office.deliveries()[0].due_at)
    assert office.states() == ["exhausted", "held"]
    stopped.move(days=20)
    office.drain()
    assert office.states() == ["exhausted", "held"]
    receiver.script = says()
    actions.resend(office.deliveries()[0], by=office.member)
    office.drain()
    assert office.states() == ["delivered", "delivered"]
    assert kinds(receiver)[-2:] == ["interview", "video"]
    assert receiver.bodies[0] == receiver.bodies[-2]


def test_a_candidates_status_events_go_out_in_sequence_whatever_fails(office, receiver, stopped):
    flow, candidate, other = office.flow(receiver.url), new_id(), new_id()
    receiver.scripts = [says(500), says(), says(503)]
    for number in range(1, 6):
        office.moved(flow, candidate, number)
    office.moved(flow, other, 1)
    for _ in range(4):
        office.drain()
        stopped.move(hours=1)
    sent = [(request.headers["webhook-id"], request.body) for request in receiver.requests]
    mine = [body for event, body in sent if event in {d.event_id for d in office.deliveries(subject=candidate)}]
    order = [body.split(b'"new_status": "s')[1][:1] for body in mine]
    assert order == sorted(order)
    assert set(order) == {b"1", b"2", b"3", b"4", b"5"}
    assert set(office.states()) == {"delivered"}


def test_different_interviews_do_not_wait_for_each_other(office, receiver):
    flow = office.flow(receiver.url)
    receiver.scripts = [says(500)]
    first, second = office.processed(flow), office.processed(flow)
    office.drain()
    assert sorted(office.states()) == ["delivered", "pending"]
    assert {first, second} == {delivery.subject for delivery in office.deliveries()}


def test_an_event_announced_while_its_predecessor_is_being_sent_is_released_by_it(office, receiver):
    flow = office.flow(receiver.url)
    interview = office.processed(flow)
    (turn,) = actions.take(10)
    db.session.commit()
    office.processed(flow, interview, video=True)
    assert office.states() == ["sending", "held"]
    actions.record([(turn, _success(turn))])
    db.session.commit()
    assert office.states() == ["delivered", "pending"]


def test_a_forgotten_hold_is_found_when_a_drain_begins(office, receiver):
    flow = office.flow(receiver.url)
    office.processed(flow, office.processed(flow), video=True)
    db.session.execute(
        sa.update(Delivery)
        .where(Delivery.sequence == 1)
        .values(state=DeliveryState.DELIVERED, delivered_at=Delivery.created_at)
    )
    office.drain()
    assert office.states() == ["delivered", "delivered"]
    assert kinds(receiver) == ["video"]


def test_nothing_is_inverted_or_lost_while_receivers_fail_at_random(office, receivers, stopped):
    chance = random.Random(7)
    answered = defaultdict(list)
    well = False

    async def moody(request, writer):
        status = 200 if well else chance.choice([200, 500, 503])
        told = json.loads(request.body)
        answered[told["interview_id"]].append((told["event_type"], status))
        await says(status)(request, writer)

    interviews = []
    for receiver in receivers(2):
        receiver.script = moody
        for place in range(4):
            flow = office.flow(f"{receiver.url}/{place}")
            interviews += [(flow, new_id()) for _ in range(3)]
    for flow, interview in interviews:
        office.processed(flow, interview)
        office.processed(flow, interview, video=True)
    for _ in range(3):
        office.drain()
        stopped.move(hours=29)
    well = True
    office.drain()
    assert set(office.states()) == {"delivered"}
    assert len(answered) == len(interviews) == 24
    for attempts in answered.values():
        first_video = [kind for kind, _status in attempts].index("video_processed")
        assert ("interview_processed", 200) in attempts[:first_video]
        assert attempts.count(("interview_processed", 200)) == attempts.count(("video_processed", 200)) == 1


def _success(turn):
    from app.core import clock
    from app.webhooks.delivery import Outcome

    return Outcome(clock.now(), 0.01, turn.message.url, status=200)


def test_what_is_released_is_looked_for_by_its_subject_alone(office, app):
    """SQLite keeps no statistics: by the index over states it would read everything that is held."""
    if db.engine.dialect.name == "sqlite":
        wanted = str(queries.released(["a", "b"]).compile(db.engine, compile_kwargs={"literal_binds": True}))
        plan = [row[3] for row in db.session.execute(sa.text(f"EXPLAIN QUERY PLAN {wanted}"))]
        assert [step for step in plan if "webhook_delivery USING" in step and "(subject=?)" in step], plan
        assert not [step for step in plan if "state=?" in step], plan
