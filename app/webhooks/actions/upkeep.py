"""Adjusts waiting events to the passing of time and to changed flows. Runs at the start of a drain and in the sweep."""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from app.core.db import db
from app.webhooks import queries
from app.webhooks.actions import endpoints, outbox, results, rotation, telling
from app.webhooks.models import Attempt, Delivery, DeliveryState, Ending, Endpoint, Hold, Trouble

HELD_AT_MOST = timedelta(days=30)
ATTEMPTS_KEPT = timedelta(days=30)
PAYLOADS_KEPT = timedelta(days=90)
AT_ONCE = 1_000


def tidy() -> None:
    """Route events to their flows' present addresses, release those that need not wait, record due warnings."""
    now = queries.present()
    for flow in db.session.scalars(queries.misrouted()).all():
        outbox.route(flow)
    _move(queries.without_address(), state=DeliveryState.HELD, hold=Hold.NO_URL, changed_at=now)
    _move(queries.with_address_again(), state=DeliveryState.PENDING, hold=None, due_at=now, changed_at=now)
    endpoints.drop(queries.at_removed_endpoints(), now)
    _waiting_for_nothing()
    _agree_with_endpoints()
    for endpoint in db.session.scalars(queries.to_warn(now)).all():
        endpoint.warned_at = now
        results.notice(endpoint, "webhook.warned", failing_since=str(endpoint.failing_since))
        telling.tell(endpoint, Trouble.WARNED)


def prune() -> int:
    """Delete attempts after 30 days, payloads 90 days after the end and secrets after their rotation; give up events
    held for 30 days.

    At most 1,000 rows of each kind per call. Returns how many rows changed.
    """
    now = queries.present()
    old = queries.attempts_before(now - ATTEMPTS_KEPT).limit(AT_ONCE)
    gone = db.session.execute(sa.delete(Attempt).where(Attempt.id.in_(old)).returning(Attempt.id)).all()
    final = [DeliveryState.DELIVERED, DeliveryState.EXHAUSTED, DeliveryState.CANCELLED]
    ended = sa.select(Delivery.id).where(
        Delivery.finished_at < now - PAYLOADS_KEPT, Delivery.body.is_not(None), Delivery.state.in_(final)
    )
    emptied = _move(ended.limit(AT_ONCE), body=None)
    long_held = sa.select(Delivery.id).where(
        Delivery.state == DeliveryState.HELD,
        Delivery.hold.in_([Hold.DISABLED, Hold.NO_URL]),
        Delivery.changed_at < now - HELD_AT_MOST,
    )
    given_up = _move(
        long_held.limit(AT_ONCE),
        state=DeliveryState.EXHAUSTED,
        hold=None,
        ending=Ending.HELD_TOO_LONG,
        changed_at=now,
        finished_at=now,
    )
    return len(gone) + emptied + given_up + _cancel_orphans() + rotation.forget_old()


def forget(subject: str) -> int:
    """Cancel the events of an erased ``subject``, and delete their payloads and the receivers' responses.

    Returns how many payloads there were. An attempt already under way cannot be recalled.
    """
    now = queries.present()
    mine = sa.select(Delivery.id).where(Delivery.subject == subject)
    final = (DeliveryState.DELIVERED, DeliveryState.EXHAUSTED, DeliveryState.CANCELLED)
    _move(
        mine.where(Delivery.state.not_in(final)),
        state=DeliveryState.CANCELLED,
        hold=None,
        ending=Ending.PAYLOAD_DELETED,
        fence=Delivery.fence + 1,
        lease_until=None,
        changed_at=now,
        finished_at=now,
    )
    answers = sa.update(Attempt).where(Attempt.delivery_id.in_(mine)).values(answer=None, note=None)
    db.changed(answers)
    return _move(mine.where(Delivery.body.is_not(None)), body=None)


def _cancel_orphans() -> int:
    """Cancel events that wait for an earlier one whose payload was deleted: that one can never be sent."""
    now = queries.present()
    first = aliased(Delivery)
    orphans = (
        sa.select(Delivery.id)
        .join(
            first,
            sa.and_(
                first.subject == Delivery.subject,
                first.lane == Delivery.lane,
                first.sequence < Delivery.sequence,
            ),
        )
        .where(
            Delivery.state == DeliveryState.HELD,
            first.state == DeliveryState.EXHAUSTED,
            first.body.is_(None),
            first.delivered_at.is_(None),
        )
    )
    return _move(
        orphans,
        state=DeliveryState.CANCELLED,
        hold=None,
        ending=Ending.PAYLOAD_DELETED,
        changed_at=now,
        finished_at=now,
    )


def _waiting_for_nothing() -> None:
    unblocked = sa.select(Delivery.subject).where(
        Delivery.state == DeliveryState.HELD, Delivery.hold == Hold.ORDER, ~queries.blocked()
    )
    subjects = list(db.session.scalars(unblocked.limit(AT_ONCE)))
    if subjects:
        results.release(subjects, queries.present())


def _agree_with_endpoints() -> None:
    """Correct events that were announced just as their endpoint was disabled or enabled."""
    now = queries.present()
    enabled = (
        sa.select(Endpoint)
        .join(Delivery)
        .where(Endpoint.disabled_at.is_(None), Delivery.state == DeliveryState.HELD, Delivery.hold == Hold.DISABLED)
    )
    for endpoint in db.session.scalars(enabled.distinct()).all():
        endpoints.let_go(endpoint, now)
    disabled = (
        sa.select(Endpoint.id)
        .join(Delivery)
        .where(Endpoint.disabled_at.is_not(None), Delivery.state == DeliveryState.PENDING)
    )
    for endpoint_id in db.session.scalars(disabled.distinct()).all():
        endpoints.hold_all(endpoint_id, now)


def _move(chosen: sa.Select[Any], **values: object) -> int:
    statement = sa.update(Delivery).where(Delivery.id.in_(chosen)).values(**values)
    moved = db.changed(statement)
    db.session.expire_all()
    return moved
