"""Endpoints that fail: noticed, warned of, disabled, held, and enabled again."""

from datetime import timedelta
from itertools import pairwise

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.core.db import db
from app.core.errors import Conflict
from app.webhooks import actions, queries
from app.webhooks.models import Delivery, DisabledBy, Endpoint, Hold
from tests.outbound.receiver import says


def audit(office):
    return list(db.session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.number)))


def live(office, stopped, hours):
    """Let time pass in steps, drained at each due time."""
    until = stopped.now + timedelta(hours=hours)
    while stopped.now < until:
        office.drain()
        due = db.session.scalar(sa.select(sa.func.min(Delivery.due_at)).where(Delivery.due_at > stopped.now))
        db.session.rollback()
        stopped.now = min(
            until, max(due or until, stopped.now + timedelta(seconds=1)), stopped.now + timedelta(hours=6)
        )
    office.drain()


def test_an_answer_410_disables_at_once_and_later_events_are_held(office, receiver):
    receiver.script = says(410)
    flow = office.flow(receiver.url)
    office.processed(flow)
    office.drain()
    endpoint = office.endpoint()
    assert endpoint.disabled_by is DisabledBy.GONE
    office.processed(flow)
    office.drain()
    assert [(d.state.value, d.hold) for d in office.deliveries()] == [("held", Hold.DISABLED)] * 2
    assert len(receiver.requests) == 1
    assert audit(office) == ["webhook.disabled"]


def test_failures_of_five_days_disable_after_notice_and_warning(office, receiver, stopped):
    receiver.script = says(500)
    flow = office.flow(receiver.url)
    began = stopped.now
    office.processed(flow)
    live(office, stopped, 30)
    assert audit(office) == ["webhook.failing"]
    live(office, stopped, 65)
    assert audit(office) == ["webhook.failing"]
    live(office, stopped, 2)
    assert audit(office) == ["webhook.failing", "webhook.warned"]
    office.processed(flow)
    live(office, stopped, 20)
    assert office.endpoint().disabled_at is None
    live(office, stopped, 30)
    endpoint = office.endpoint()
    assert endpoint.disabled_by is DisabledBy.FAILING
    assert endpoint.disabled_at - began >= timedelta(hours=120)
    assert endpoint.disabled_at - endpoint.warned_at >= timedelta(hours=24)
    assert audit(office) == ["webhook.failing", "webhook.warned", "webhook.disabled"]
    assert office.states() == ["exhausted", "held"]


def test_a_success_makes_all_failures_forgotten(office, receiver, stopped):
    receiver.script = says(500)
    flow = office.flow(receiver.url)
    office.processed(flow)
    live(office, stopped, 100)
    receiver.script = says()
    office.processed(flow)
    office.drain()
    endpoint = office.endpoint()
    assert (endpoint.failing_since, endpoint.warned_at, endpoint.exhausted_at, endpoint.noticed_at) == (None,) * 4
    receiver.script = says(500)
    office.processed(flow)
    live(office, stopped, 30)
    assert office.endpoint().disabled_at is None


def test_what_was_held_goes_out_in_order_at_most_ten_per_second(office, receiver, stopped):
    flow = office.flow(receiver.url)
    office.processed(flow)
    endpoint = db.session.scalars(sa.select(Endpoint)).one()
    actions.disable(endpoint, because=DisabledBy.MEMBER, by=office.member)
    db.session.commit()
    expected = [office.delivery().subject]
    for _ in range(5):
        stopped.move(seconds=1)
        expected.append(office.processed(flow))
    stopped.move(days=3)
    assert office.drain() == 0
    assert actions.enable(office.endpoint(), by=office.member) == 6
    times = []
    for _ in range(100):
        if office.drain():
            times.append(stopped.now)
        stopped.move(milliseconds=20)
    assert len(times) == 6
    assert all(later - sooner >= timedelta(milliseconds=100) for sooner, later in pairwise(times))
    got = [next(subject for subject in expected if subject.encode() in body) for body in receiver.bodies]
    assert got == expected
    assert audit(office) == ["webhook.disabled", "webhook.enabled"]


def test_enabling_and_disabling_twice_is_refused(office, receiver):
    office.processed(office.flow(receiver.url))
    endpoint = office.endpoint()
    with pytest.raises(Conflict, match="already enabled"):
        actions.enable(endpoint, by=office.member)
    actions.disable(endpoint, because=DisabledBy.MEMBER, by=office.member)
    with pytest.raises(Conflict, match="already disabled"):
        actions.disable(endpoint, because=DisabledBy.MEMBER, by=office.member)


def test_an_event_that_missed_the_disabling_or_the_enabling_is_put_right(office, receiver):
    office.processed(office.flow(receiver.url))
    endpoint = office.endpoint()
    db.session.execute(sa.update(Endpoint).values(disabled_at=endpoint.created_at, disabled_by=DisabledBy.MEMBER))
    db.session.commit()
    assert queries.overdue()
    db.session.rollback()
    office.drain()
    assert office.states() == ["held"]
    db.session.execute(sa.update(Endpoint).values(disabled_at=None, disabled_by=None))
    db.session.commit()
    office.drain()
    assert office.states() == ["delivered"]


def test_a_flow_led_to_a_new_address_leaves_the_disabled_one_behind(office, receivers):
    gone, new = receivers(2)
    gone.script = says(410)
    flow = office.flow(gone.url)
    office.processed(flow)
    office.drain()
    flow.webhook_url = new.url
    db.session.commit()
    office.drain()
    assert office.states() == ["delivered"]
    assert len(new.requests) == 1
