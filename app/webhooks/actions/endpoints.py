"""Adds and removes endpoints of organizations, disables those that fail, and lets administrators enable them again."""

import hashlib
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts import actions as accounts
from app.accounts.models import Organization, Owner, TeamMember
from app.core import encryption, queue
from app.core.db import db, new_id
from app.core.errors import Conflict
from app.webhooks import DRAIN_WEBHOOKS, queries, schedule, secret_keys
from app.webhooks.actions.audit import note
from app.webhooks.actions.rotation import new_secret
from app.webhooks.actions.telling import tell
from app.webhooks.models import Delivery, DeliveryState, DisabledBy, Ending, Endpoint, Hold, Trouble

MOST = 10
"""Endpoints of one organization: each event is a delivery to each of them."""
OF_FLOWS = "This endpoint is the webhook URL of flows. Change the flows instead."


def add(organization: Owner, *, url: str, secret: str | None = None, by: TeamMember | None) -> tuple[Endpoint, str]:
    """Send the events of all flows to ``url`` too, from the next event on. Returns the row and its secret. Audited.

    Raises Conflict for a URL that is there already, and for the eleventh.
    """
    # One after the other, so that two at once cannot exceed the most.
    db.session.execute(sa.select(Organization.id).where(Organization.id == organization.id).with_for_update())
    own = sa.select(sa.func.count()).select_from(Endpoint).where(*queries.of_organization(organization.id))
    if (db.session.scalar(own) or 0) >= MOST:
        raise Conflict(f"An organization can have {MOST} webhook endpoints. Remove one first.")
    endpoint_id, plain = new_id(), secret or new_secret()
    sealed = encryption.seal(plain, context=secret_keys.endpoint_context(endpoint_id))
    endpoint = Endpoint(
        id=endpoint_id,
        organization_id=organization.id,
        url=url,
        url_hash=_hash_of(url),
        is_organizations=True,
        secret_sealed=sealed,
    )
    try:
        with db.session.begin_nested():
            db.session.add(endpoint)
    except IntegrityError:
        raise Conflict("The organization has an endpoint with this URL already.") from None
    note(organization.id, "webhook.endpoint_added", endpoint.id, by=by)
    return endpoint, plain


def remove(endpoint: Endpoint, *, by: TeamMember | None) -> int:
    """Send nothing more to an organization's endpoint, and cancel what waits. Returns how much that was. Audited.

    Its deliveries stay in the log. Raises Conflict for the endpoint of a flow's own URL.
    """
    refuse_of_flows(endpoint)
    now = queries.present()
    endpoint.removed_at, endpoint.url_hash = now, _hash_of(endpoint.id)
    endpoint.secret_sealed = endpoint.old_secret_sealed = endpoint.old_secret_until = None
    endpoint.disabled_at = endpoint.disabled_by = endpoint.failing_since = endpoint.told = None
    db.session.flush()
    final = (DeliveryState.DELIVERED, DeliveryState.EXHAUSTED, DeliveryState.CANCELLED)
    cancelled = drop(
        sa.select(Delivery.id).where(Delivery.endpoint_id == endpoint.id, Delivery.state.not_in(final)), now
    )
    note(endpoint.organization_id, "webhook.endpoint_removed", endpoint.id, by=by, cancelled=cancelled)
    return cancelled


def refuse_of_flows(endpoint: Endpoint, words: str = OF_FLOWS) -> None:
    """Raise Conflict unless this is an endpoint of the organization that is still there."""
    if not endpoint.is_organizations:
        raise Conflict(words)
    if endpoint.removed_at is not None:
        raise Conflict("This webhook endpoint was removed.")


def drop(chosen: sa.Select[Any], now: datetime) -> int:
    """Cancel deliveries to removed endpoints. An attempt already under way cannot be recalled."""
    ended = {"state": DeliveryState.CANCELLED, "ending": Ending.ENDPOINT_REMOVED, "hold": None}
    moments = {"lease_until": None, "changed_at": now, "finished_at": now}
    statement = sa.update(Delivery).where(Delivery.id.in_(chosen))
    count = db.changed(statement.values(**ended, **moments, fence=Delivery.fence + 1))
    db.session.expire_all()
    return count


def _hash_of(text: str) -> str:
    """Of an organization's endpoint: never that of a flow's endpoint with the same URL, whose row is another one."""
    return hashlib.sha256(f"organization {text}".encode()).hexdigest()


def disable(endpoint: Endpoint, *, because: DisabledBy, by: TeamMember | None = None) -> None:
    """Stop sending: pending and new events are held until the endpoint is enabled. Audited. Raises Conflict."""
    if endpoint.disabled_at is not None:
        raise Conflict("This webhook endpoint is already disabled.")
    now = queries.present()
    endpoint.disabled_at, endpoint.disabled_by = now, because
    if because is not DisabledBy.MEMBER:
        tell(endpoint, Trouble.DISABLED)
    db.session.flush()
    hold_all(endpoint.id, now)
    _audit(endpoint, "webhook.disabled", by=by, because=because.value)


def enable(endpoint: Endpoint, *, by: TeamMember | None) -> int:
    """Reset the failures and send the held events in order, at most 10 per second. Returns how many. Audited.

    ``by`` is None for calls of ``/v1``. Raises Conflict.
    """
    if endpoint.disabled_at is None:
        raise Conflict("This webhook endpoint is already enabled.")
    now = queries.present()
    endpoint.disabled_at = endpoint.disabled_by = endpoint.failing_since = endpoint.exhausted_at = None
    endpoint.noticed_at = endpoint.warned_at = endpoint.not_before = endpoint.told = None
    endpoint.timeouts = 0
    db.session.flush()
    released = let_go(endpoint, now)
    note(endpoint.organization_id, "webhook.enabled", endpoint.id, by=by, released=released)
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
