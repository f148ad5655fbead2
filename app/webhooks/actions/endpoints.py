"""Disables endpoints that are gone or keep failing, and lets administrators enable them again."""

from datetime import datetime

import sqlalchemy as sa

from app.accounts import actions as accounts
from app.accounts.models import Organization, TeamMember
from app.core import queue
from app.core.db import db
from app.core.errors import Conflict
from app.webhooks import DRAIN_WEBHOOKS, queries, schedule
from app.webhooks.models import Delivery, DeliveryState, DisabledBy, Endpoint, Hold


def disable(endpoint: Endpoint, *, because: DisabledBy, by: TeamMember | None = None) -> None:
    """Stop sending: pending and new events are held until the endpoint is enabled. Audited. Raises Conflict."""
    if endpoint.disabled_at is not None:
        raise Conflict("This webhook endpoint is already disabled.")
    now = queries.present()
    endpoint.disabled_at, endpoint.disabled_by = now, because
    db.session.flush()
    hold_all(endpoint.id, now)
    _audit(endpoint, "webhook.disabled", by=by, because=because.value)


def enable(endpoint: Endpoint, *, by: TeamMember) -> int:
    """Reset the failures and send the held events in order, at most 10 per second. Returns how many. Audited.

    Raises Conflict.
    """
    if endpoint.disabled_at is None:
        raise Conflict("This webhook endpoint is already enabled.")
    now = queries.present()
    endpoint.disabled_at = endpoint.disabled_by = endpoint.failing_since = endpoint.exhausted_at = None
    endpoint.noticed_at = endpoint.warned_at = endpoint.not_before = endpoint.told = None
    endpoint.timeouts = 0
    db.session.flush()
    released = let_go(endpoint, now)
    _audit(endpoint, "webhook.enabled", by=by, released=released)
    queue.after_commit(DRAIN_WEBHOOKS)
    return released


def hold_all(endpoint_id: str, now: datetime) -> None:
    """Hold the pending events of a disabled endpoint."""
    db.session.execute(
        sa.update(Delivery)
        .where(Delivery.endpoint_id == endpoint_id, Delivery.state == DeliveryState.PENDING)
        .values(state=DeliveryState.HELD, hold=Hold.DISABLED, changed_at=now)
    )
    db.session.expire_all()


def let_go(endpoint: Endpoint, now: datetime) -> int:
    """Make the held events of an enabled endpoint due, spaced by ``PACE``, in the order they were announced."""
    disabled_only = sa.select(Delivery.id).where(
        Delivery.endpoint_id == endpoint.id, Delivery.state == DeliveryState.HELD, Delivery.hold == Hold.DISABLED
    )
    ids = list(db.session.scalars(disabled_only.order_by(Delivery.created_at, Delivery.sequence, Delivery.id)))
    for place, delivery_id in enumerate(ids):
        db.changed(
            sa.update(Delivery)
            .where(Delivery.id == delivery_id, Delivery.state == DeliveryState.HELD)
            .values(state=DeliveryState.PENDING, hold=None, due_at=now + place * schedule.PACE, changed_at=now)
        )
    # Twice as long as the queue of held events: each may release one more event, which keeps the pace too.
    endpoint.paced_until = now + 2 * (len(ids) + 1) * schedule.PACE if ids else None
    db.session.flush()
    db.session.expire_all()
    return len(ids)


def _audit(endpoint: Endpoint, action: str, *, by: TeamMember | None, **details: object) -> None:
    organization = db.session.get_one(Organization, endpoint.organization_id)
    accounts.write_audit(organization, action=action, subject=endpoint.id, by=by, details=details)
