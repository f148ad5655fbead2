"""Sending again: by administrators, within 30 days, with the same bytes, never out of order."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry, Role
from app.core.db import db, new_id
from app.core.errors import Conflict, Forbidden, Rejected
from app.webhooks import actions, queries
from app.webhooks.models import Delivery, DeliveryState, DisabledBy, Ending
from tests.outbound.receiver import says


def exhaust(office, stopped):
    for _ in range(10):
        office.drain()
        stopped.now = max([stopped.now, *(d.due_at for d in office.deliveries(state=DeliveryState.PENDING))])
    db.session.rollback()


def test_a_delivered_event_is_sent_again_with_the_same_bytes_and_id(office, receiver):
    office.processed(office.flow(receiver.url))
    office.drain()
    actions.resend(office.delivery(), by=office.member)
    office.drain()
    assert len(receiver.requests) == 2
    assert len(set(receiver.bodies)) == len(set(receiver.events)) == 1
    assert office.states() == ["delivered"]
    assert db.session.scalars(sa.select(AuditEntry.action)).all() == ["webhook.resent"]


def test_a_failing_replay_of_a_delivered_event_holds_nobody_up(office, receiver):
    flow, candidate = office.flow(receiver.url), new_id()
    office.moved(flow, candidate, 1)
    office.drain()
    receiver.scripts = [says(500)]
    actions.resend(office.delivery(), by=office.member)
    office.drain()
    office.moved(flow, candidate, 2)
    office.drain()
    assert office.states() == ["pending", "delivered"]


def test_a_pending_event_only_becomes_due_now(office, receiver, stopped):
    receiver.scripts = [says(500), says(500)]
    office.processed(office.flow(receiver.url))
    office.drain()
    actions.resend(office.delivery(), by=office.member)
    assert office.drain() == 1
    delivery = office.delivery()
    assert delivery.attempts == 2
    assert delivery.due_at - stopped.now >= timedelta(minutes=5)


def test_an_exhausted_event_gets_a_new_round_of_attempts(office, receiver, stopped):
    receiver.script = says(500)
    office.processed(office.flow(receiver.url))
    exhaust(office, stopped)
    assert office.delivery().ending is Ending.ATTEMPTS_USED
    actions.resend(office.delivery(), by=office.member)
    office.drain()
    delivery = office.delivery()
    assert (delivery.state, delivery.attempts, delivery.ending) == (DeliveryState.PENDING, 1, None)


def test_an_exhausted_event_behind_an_undelivered_one_waits_for_it(office, receiver):
    flow, candidate = office.flow(receiver.url), new_id()
    office.moved(flow, candidate, 1)
    office.moved(flow, candidate, 2)
    db.session.execute(
        sa.update(Delivery).values(state=DeliveryState.EXHAUSTED, hold=None, finished_at=queries.present())
    )
    db.session.commit()
    actions.resend(office.deliveries()[1], by=office.member)
    office.drain()
    assert office.states() == ["exhausted", "held"]
    actions.resend(office.deliveries()[0], by=office.member)
    office.drain()
    assert office.states() == ["delivered", "delivered"]


def test_what_cannot_be_sent_again_is_refused_with_the_way_out(office, receiver, stopped):
    flow = office.flow(receiver.url)
    office.processed(flow, office.processed(flow), video=True)
    with pytest.raises(Conflict, match="earlier one"):
        actions.resend(office.deliveries()[1], by=office.member)
    actions.take(1)
    db.session.commit()
    with pytest.raises(Conflict, match="being sent"):
        actions.resend(office.deliveries()[0], by=office.member)
    stopped.move(seconds=61)
    office.drain()
    actions.cancel(office.deliveries()[0].subject, "video_processed")
    stopped.move(days=31)
    with pytest.raises(Conflict, match="30 days"):
        actions.resend(office.deliveries()[0], by=office.member)
    actions.disable(office.deliveries()[0].endpoint, because=DisabledBy.MEMBER, by=office.member)
    db.session.commit()
    with pytest.raises(Conflict, match="Enable it first"):
        actions.resend(office.deliveries()[0], by=office.member)


def test_a_cancelled_event_is_never_sent(office, receiver):
    flow = office.flow(receiver.url)
    interview = office.processed(flow)
    actions.cancel(interview, "video_processed")
    db.session.commit()
    with pytest.raises(Conflict, match="cancelled"):
        actions.resend(office.deliveries()[1], by=office.member)
    office.drain()
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("role", [Role.RECRUITER, Role.VIEWER])
def test_only_administrators_send_again(office, receiver, role):
    flow = office.flow(receiver.url)
    office.processed(flow)
    office.member.role = role
    db.session.commit()
    with pytest.raises(Forbidden):
        actions.resend(office.delivery(), by=office.member)
    with pytest.raises(Forbidden):
        actions.resend_range(flow, since=queries.present(), failed_only=True, by=office.member)
    with pytest.raises(Forbidden):
        actions.dismiss(office.delivery(), by=office.member)


def test_a_range_is_sent_again_in_order_with_or_without_what_arrived(office, receiver, stopped):
    flow = office.flow(receiver.url)
    office.processed(flow)
    office.drain()
    stopped.move(hours=2)
    middle = stopped.now
    receiver.script = says(500)
    office.processed(flow)
    exhaust(office, stopped)
    receiver.script = says()
    since = middle - timedelta(hours=3)
    assert actions.resend_range(flow, since=since, until=middle, failed_only=True, by=office.member) == 0
    assert actions.resend_range(flow, since=since, until=middle, failed_only=False, by=office.member) == 1
    assert actions.resend_range(flow, since=since, failed_only=True, by=office.member) == 1
    office.drain()
    assert office.states() == ["delivered", "delivered"]
    assert receiver.bodies[0] == receiver.bodies[-2] or receiver.bodies[0] == receiver.bodies[-1]
    actions_done = db.session.scalars(sa.select(AuditEntry.action)).all()
    assert actions_done.count("webhook.range_resent") == 3


def test_a_range_reaches_back_thirty_days_and_not_to_a_disabled_endpoint(office, receiver, stopped):
    flow = office.flow(receiver.url)
    office.processed(flow)
    with pytest.raises(Rejected, match="30 days"):
        actions.resend_range(flow, since=stopped.now - timedelta(days=31), failed_only=False, by=office.member)
    actions.disable(office.endpoint(), because=DisabledBy.MEMBER, by=office.member)
    with pytest.raises(Conflict, match="Enable it first"):
        actions.resend_range(flow, since=stopped.now - timedelta(days=1), failed_only=False, by=office.member)


def test_a_dismissed_status_event_lets_the_later_ones_go(office, receiver, stopped):
    flow, candidate = office.flow(receiver.url), new_id()
    receiver.script = says(500)
    for number in (1, 2):
        office.moved(flow, candidate, number)
    with pytest.raises(Conflict):
        actions.dismiss(office.deliveries()[0], by=office.member)
    for _ in range(10):
        office.drain()
        stopped.now = max(stopped.now, office.deliveries()[0].due_at)
    receiver.script = says()
    actions.dismiss(office.deliveries()[0], by=office.member)
    office.drain()
    assert office.states() == ["cancelled", "delivered"]
    assert office.deliveries()[0].ending is Ending.DISMISSED


def test_an_interviews_event_cannot_be_dismissed(office, receiver, stopped):
    receiver.script = says(500)
    office.processed(office.flow(receiver.url))
    exhaust(office, stopped)
    with pytest.raises(Conflict, match="status event"):
        actions.dismiss(office.delivery(), by=office.member)
