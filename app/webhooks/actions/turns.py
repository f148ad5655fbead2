"""Claims due deliveries, many at once: first the endpoint, then its oldest event, each with a lease and fence."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.core import encryption
from app.core.db import db
from app.core.rooms import external_ids
from app.flows.models import InterviewFlow
from app.webhooks import queries, schedule, secret_keys
from app.webhooks.actions import outbox
from app.webhooks.delivery import Message
from app.webhooks.models import Delivery, DeliveryState, Endpoint, Turnstile
from app.webhooks.secret_keys import Sealed, Secrets

LEASE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Turn:
    """One claimed delivery, with the fences of its two claims."""

    delivery_id: str
    fence: int
    endpoint_id: str
    endpoint_fence: int
    flow_id: str
    lane: str
    subject: str
    attempts: int
    request_id: str | None
    message: Message


def take(slots: int, *, wary: bool = False) -> list[Turn]:
    """Claim up to ``slots`` deliveries, one per endpoint and at most 8 in flight per organization. Commit, then send.

    ``wary`` leaves out endpoints that have just timed out. Each call first makes deliveries with expired leases due
    again.
    """
    # The update locks the single row, so that two workers never count the same free places.
    db.session.execute(sa.update(Turnstile).values(turns=Turnstile.turns + 1))
    now = queries.present()
    _recover(now)
    waiting = [one for one in queries.ready(now) if not (wary and one.timeouts)]
    chosen = schedule.fair(waiting, busy=queries.busy(now), slots=slots)
    if not chosen:
        return []
    endpoints = _claim_endpoints(chosen, now)
    rows = _claim_deliveries(list(endpoints), now)
    db.session.expire_all()
    return _with_external_ids(_with_messages(rows, endpoints, now))


def _recover(now: datetime) -> None:
    db.changed(
        sa.update(Delivery)
        .where(Delivery.id.in_(queries.abandoned(now)))
        .values(
            state=DeliveryState.PENDING,
            lease_until=None,
            due_at=now,
            changed_at=now,
            recoveries=Delivery.recoveries + 1,
        )
    )


def _claim_endpoints(chosen: list[str], now: datetime) -> dict[str, Any]:
    statement = (
        sa.update(Endpoint)
        .where(Endpoint.id.in_(chosen), sa.or_(Endpoint.lease_until.is_(None), Endpoint.lease_until < now))
        .values(lease_until=now + LEASE, fence=Endpoint.fence + 1)
        .returning(
            Endpoint.id,
            Endpoint.fence,
            Endpoint.url,
            Endpoint.secret_sealed,
            Endpoint.old_secret_sealed,
            Endpoint.old_secret_until,
        )
    )
    return {row.id: row for row in db.changed_rows(statement)}


def _claim_deliveries(endpoint_ids: list[str], now: datetime) -> list[Any]:
    oldest = (
        sa.select(Delivery.id)
        .where(Delivery.endpoint_id == Endpoint.id, Delivery.state == DeliveryState.PENDING, Delivery.due_at <= now)
        .order_by(Delivery.due_at, Delivery.sequence, Delivery.id)
        .limit(1)
        .correlate(Endpoint)
        .scalar_subquery()
    )
    statement = (
        sa.update(Delivery)
        .where(Delivery.id.in_(sa.select(oldest).where(Endpoint.id.in_(endpoint_ids))))
        .where(Delivery.state == DeliveryState.PENDING)
        .values(state=DeliveryState.SENDING, lease_until=now + LEASE, fence=Delivery.fence + 1)
        .returning(
            Delivery.id,
            Delivery.fence,
            Delivery.endpoint_id,
            Delivery.flow_id,
            Delivery.lane,
            Delivery.subject,
            Delivery.attempts,
            Delivery.event_id,
            Delivery.body,
            Delivery.request_id,
        )
    )
    return list(db.changed_rows(statement))


def _with_messages(rows: list[Any], endpoints: dict[str, Any], now: datetime) -> list[Turn]:
    flows = _flows({row.flow_id for row in rows if not row.lane})
    turns, astray = [], []
    for row in rows:
        endpoint = endpoints.pop(row.endpoint_id)
        if not row.lane and flows[row.flow_id].webhook_url != endpoint.url:
            astray.append(row)
            continue
        sealed = secret_keys.of_endpoint(endpoint) if row.lane else secret_keys.of_flow(flows[row.flow_id])
        turns.append(
            Turn(
                row.id,
                row.fence,
                row.endpoint_id,
                endpoint.fence,
                row.flow_id,
                row.lane,
                row.subject,
                row.attempts,
                row.request_id,
                _message(endpoint.url, sealed, row, now=now),
            )
        )
    _give_back(astray, endpoints, flows)
    return turns


def _with_external_ids(turns: list[Turn]) -> list[Turn]:
    """The ids of their interviews in customers' systems, as they are now, in one read."""
    found = external_ids().external_ids({turn.subject for turn in turns}) if turns else {}
    return [
        replace(turn, message=replace(turn.message, external_id=found[turn.subject])) if turn.subject in found else turn
        for turn in turns
    ]


def _message(url: str, sealed: Sealed, row: Any, *, now: datetime) -> Message:
    try:
        return Message(url, sealed.opened(now), row.event_id, row.body, now)
    except encryption.SealBroken:
        # Never sent unsigned. The attempt fails visibly until the secret is saved again or the key is restored.
        obstacle = "the secret cannot be decrypted: save it again"
        return Message(url, Secrets(None), row.event_id, row.body, now, obstacle=obstacle)


def _flows(ids: set[str]) -> dict[str, Any]:
    """Plain columns instead of entities: a step reads five values of hundreds of flows."""
    wanted = sa.select(
        InterviewFlow.id,
        InterviewFlow.webhook_url,
        InterviewFlow.webhook_secret_sealed,
        InterviewFlow.webhook_old_secret_sealed,
        InterviewFlow.webhook_old_secret_until,
    )
    return {flow.id: flow for flow in db.session.execute(wanted.where(InterviewFlow.id.in_(ids)))}


def _give_back(astray: list[Any], unused: dict[str, Any], flows: dict[str, Any]) -> None:
    """Undo claims of deliveries whose flow has a new address, and of endpoints with nothing due."""
    for row in astray:
        db.session.execute(
            sa.update(Delivery)
            .where(Delivery.id == row.id, Delivery.fence == row.fence)
            .values(state=DeliveryState.PENDING, lease_until=None)
        )
        if flows[row.flow_id].webhook_url:
            outbox.route(db.session.get_one(InterviewFlow, row.flow_id))
    free = [row.endpoint_id for row in astray] + list(unused)
    if free:
        db.session.execute(sa.update(Endpoint).where(Endpoint.id.in_(free)).values(lease_until=None))
        db.session.expire_all()
