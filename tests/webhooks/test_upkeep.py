"""What time does: attempts and payloads are forgotten, long holds end."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.db import db
from app.core.errors import Conflict
from app.webhooks import actions
from app.webhooks.models import Delivery, DeliveryState, DisabledBy, Ending


def prune():
    changed = actions.prune()
    db.session.commit()
    return changed


def test_attempts_are_kept_for_30_days_and_payloads_for_90(office, receiver, stopped):
    office.processed(office.flow(receiver.url))
    office.drain()
    stopped.move(days=29, hours=23)
    assert prune() == 0
    stopped.move(hours=2)
    assert prune() == 1
    assert office.attempts() == []
    assert office.delivery().body is not None
    stopped.move(days=60)
    assert prune() == 1
    delivery = office.delivery()
    assert (delivery.body, delivery.state) == (None, DeliveryState.DELIVERED)
    with pytest.raises(Conflict):
        actions.resend(delivery, by=office.member)


@pytest.mark.parametrize("reason", ["disabled", "no_url"])
def test_what_is_held_for_30_days_ends(office, receiver, stopped, reason):
    flow = office.flow(receiver.url)
    office.processed(flow)
    if reason == "disabled":
        actions.disable(office.endpoint(), because=DisabledBy.MEMBER, by=office.member)
    else:
        flow.webhook_url = None
    db.session.commit()
    office.drain()
    stopped.move(days=29)
    prune()
    assert office.states() == ["held"]
    stopped.move(days=2)
    prune()
    assert office.states() == ["exhausted"]
    assert office.delivery().ending is Ending.HELD_TOO_LONG


def test_a_video_whose_interviews_payload_is_gone_is_cancelled(office, receiver, stopped):
    flow = office.flow(receiver.url)
    office.processed(flow, office.processed(flow), video=True)
    db.session.execute(
        sa.update(Delivery)
        .where(Delivery.sequence == 1)
        .values(state=DeliveryState.EXHAUSTED, finished_at=stopped.now, ending=Ending.ATTEMPTS_USED)
    )
    db.session.commit()
    stopped.move(days=89)
    prune()
    assert office.states() == ["exhausted", "held"]
    stopped.now += timedelta(days=2)
    prune()
    assert office.states() == ["exhausted", "cancelled"]
    assert office.deliveries()[1].ending is Ending.PAYLOAD_DELETED


def test_an_event_of_another_endpoint_is_not_cancelled_with_it(office, receiver, stopped):
    flow = office.flow(receiver.url)
    office.processed(flow, office.processed(flow), video=True)
    db.session.execute(
        sa.update(Delivery)
        .where(Delivery.sequence == 1)
        .values(state=DeliveryState.EXHAUSTED, finished_at=stopped.now, ending=Ending.ATTEMPTS_USED, lane="another")
    )
    db.session.execute(sa.update(Delivery).where(Delivery.sequence == 2).values(due_at=stopped.now))
    db.session.commit()
    stopped.move(days=91)
    prune()
    assert "cancelled" not in office.states()
