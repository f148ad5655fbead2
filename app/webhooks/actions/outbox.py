"""Writes events in the transaction of the change that they report, so that none is lost and none is invented."""

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.core import queue, request_id
from app.core.db import db
from app.flows.models import InterviewFlow
from app.webhooks import DRAIN_WEBHOOKS, queries
from app.webhooks.models import Delivery, DeliveryState, Ending, Endpoint, EventType, Hold, Route, new_event_id

LARGEST_BODY = 20_480

_INTERVIEW = (
    "event_type",
    "interview_flow_id",
    "interview_id",
    "interview_link",
    "interview_flow_name",
    "interviewee_email_address",
    "interviewee_first_name",
    "interviewee_last_name",
    "status",
)
FIELDS: dict[EventType, tuple[str, ...]] = {
    EventType.INTERVIEW_PROCESSED: _INTERVIEW,
    EventType.VIDEO_PROCESSED: _INTERVIEW,
    EventType.CANDIDATE_STATUS_UPDATED: (
        "event_type",
        "interview_flow_id",
        "interview_flow_name",
        "interviewee_email",
        "previous_status",
        "new_status",
    ),
}
"""Exactly the contract's fields, in the order in which they are written."""

FOLLOWS: dict[EventType, EventType] = {EventType.VIDEO_PROCESSED: EventType.INTERVIEW_PROCESSED}
"""Events that may only be sent after another one of the same subject."""


def announce(
    flow: InterviewFlow,
    *,
    event_type: str,
    payload: dict[str, Any],
    subject: str,
    sequence: int,
    after: str | None = None,
    is_test: bool = False,
) -> Delivery | None:
    """Put one event into the outbox. It is sent after the caller's commit.

    ``subject`` is the interview or candidate that the event is about, ``sequence`` its place among that subject's
    events: it is held until the earlier ones are delivered. ``after`` names an event type without which this one is
    never sent (``video_processed`` always needs ``interview_processed``). ``is_test`` marks events about test
    interviews, in the id and by a header.

    Returns None if the flow has no ``webhook_url`` or the ``after`` event has no row, and the existing row if the
    event was announced before.
    """
    if not flow.webhook_url:
        return None
    kind = EventType(event_type)
    announced = db.session.scalar(sa.select(Delivery).where(Delivery.subject == subject, Delivery.sequence == sequence))
    if announced is not None:
        return announced
    needed = EventType(after) if after else FOLLOWS.get(kind)
    if needed is not None and _row_of(subject, needed) is None:
        return None
    event_id = new_event_id(is_test=is_test)
    delivery = _outbox_row(
        flow, kind, subject=subject, sequence=sequence, body=serialise(kind, payload), event_id=event_id
    )
    if delivery.state is DeliveryState.PENDING:
        queue.after_commit(DRAIN_WEBHOOKS)
    return delivery


def serialise(kind: EventType, payload: dict[str, Any]) -> bytes:
    """The bytes that every attempt sends and signs: UTF-8 JSON, the contract's fields in its order.

    Raises ValueError for other fields or a body over 20,480 bytes.
    """
    fields = FIELDS[kind]
    if set(payload) != set(fields):
        raise ValueError(f"{kind} has exactly the fields {', '.join(fields)}")
    body = json.dumps({name: payload[name] for name in fields}, ensure_ascii=False).encode()
    if len(body) > LARGEST_BODY:
        raise ValueError(f"the body of {kind} has {len(body)} bytes; {LARGEST_BODY} are allowed")
    return body


def cancel(subject: str, event_type: str) -> None:
    """Cancel an event because its recording was revoked. It is shown as cancelled and never sent.

    An event that is being sent or was delivered is left as it is.
    """
    kind = EventType(event_type)
    now = queries.present()
    delivery = _row_of(subject, kind)
    if delivery is None:
        first = _row_of(subject, FOLLOWS[kind]) if kind in FOLLOWS else None
        if first is not None:
            db.session.add(_cancelled(first, kind))
            db.session.flush()
        return
    db.session.execute(
        sa.update(Delivery)
        .where(
            Delivery.id == delivery.id,
            Delivery.delivered_at.is_(None),
            Delivery.state.in_([DeliveryState.PENDING, DeliveryState.HELD, DeliveryState.EXHAUSTED]),
        )
        .values(
            state=DeliveryState.CANCELLED, hold=None, ending=Ending.RECORDING_REVOKED, changed_at=now, finished_at=now
        )
    )
    db.session.expire_all()


def endpoint_for(organization_id: str, url: str) -> Endpoint:
    """The organization's row for this address, created on first use. Concurrent callers get the same row."""
    url_hash = hashlib.sha256(url.encode()).hexdigest()
    wanted = sa.select(Endpoint).where(Endpoint.organization_id == organization_id, Endpoint.url_hash == url_hash)
    endpoint = db.session.scalar(wanted)
    if endpoint is not None:
        return endpoint
    new_endpoint = Endpoint(organization_id=organization_id, url=url, url_hash=url_hash)
    try:
        with db.session.begin_nested():
            db.session.add(new_endpoint)
    except IntegrityError:
        return db.session.scalars(wanted).one()
    return new_endpoint


def route(flow: InterviewFlow) -> Endpoint:
    """Route the flow's waiting events to its present address, and return that endpoint."""
    endpoint = endpoint_for(flow.organization_id, flow.webhook_url or "")
    present_route = db.session.get(Route, flow.id)
    if present_route is None:
        try:
            with db.session.begin_nested():
                db.session.add(Route(flow_id=flow.id, endpoint_id=endpoint.id))
        except IntegrityError:
            present_route = db.session.get_one(Route, flow.id)
    if present_route is not None and present_route.endpoint_id != endpoint.id:
        present_route.endpoint_id = endpoint.id
        _lead(flow.id, endpoint)
    return endpoint


def _lead(flow_id: str, endpoint: Endpoint) -> None:
    waiting = sa.update(Delivery).where(Delivery.flow_id == flow_id, Delivery.endpoint_id != endpoint.id)
    closed = endpoint.disabled_at is not None
    state, hold = (DeliveryState.HELD, Hold.DISABLED) if closed else (DeliveryState.PENDING, None)
    now = queries.present()
    db.session.execute(
        waiting.where(Delivery.state == DeliveryState.HELD, Delivery.hold == Hold.ORDER).values(endpoint_id=endpoint.id)
    )
    db.session.execute(
        waiting.where(Delivery.state.in_([DeliveryState.PENDING, DeliveryState.HELD])).values(
            endpoint_id=endpoint.id, state=state, hold=hold, due_at=now
        )
    )
    db.session.expire_all()


def _outbox_row(
    flow: InterviewFlow, kind: EventType, *, subject: str, sequence: int, body: bytes, event_id: str
) -> Delivery:
    endpoint = route(flow)
    # The lock orders this against a 2xx being recorded now: either we see it, or it releases the new row.
    earlier = sa.select(Delivery.id).where(
        Delivery.subject == subject, Delivery.sequence < sequence, sa.not_(queries.passed(Delivery))
    )
    hold = None
    if db.session.execute(earlier.with_for_update()).first() is not None:
        hold = Hold.ORDER
    elif endpoint.disabled_at is not None:
        hold = Hold.DISABLED
    now = queries.present()
    delivery = Delivery(
        event_id=event_id,
        organization_id=flow.organization_id,
        flow_id=flow.id,
        endpoint_id=endpoint.id,
        event_type=kind,
        subject=subject,
        sequence=sequence,
        body=body,
        hold=hold,
        due_at=now,
        state=DeliveryState.PENDING if hold is None else DeliveryState.HELD,
        request_id=request_id.current_or_none(),
    )
    db.session.add(delivery)
    db.session.flush()
    return delivery


def _cancelled(first: Delivery, kind: EventType) -> Delivery:
    now = queries.present()
    return Delivery(
        organization_id=first.organization_id,
        flow_id=first.flow_id,
        endpoint_id=first.endpoint_id,
        event_type=kind,
        subject=first.subject,
        sequence=first.sequence + 1,
        state=DeliveryState.CANCELLED,
        ending=Ending.RECORDING_REVOKED,
        due_at=now,
        finished_at=now,
    )


def _row_of(subject: str, kind: EventType) -> Delivery | None:
    return db.session.scalar(sa.select(Delivery).where(Delivery.subject == subject, Delivery.event_type == kind))
