"""Writes events in the transaction of the change that they report, so that none is lost and none is invented."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.core import queue, request_id
from app.core.db import db
from app.core.rooms import Event
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

    Each of the organization's endpoints gets the event too, in a row and an order of its own, with the same id.

    Returns the first of the new rows; None if no one listens or the ``after`` event has no row, and an existing row if
    the event was announced before.
    """
    kind = EventType(event_type)
    places = _places(flow)
    if not places:
        return None
    announced = db.session.scalar(
        sa.select(Delivery)
        .where(Delivery.subject == subject, Delivery.sequence == sequence)
        .order_by(Delivery.lane)
        .limit(1)
    )
    if announced is not None:
        return announced
    needed = EventType(after) if after else FOLLOWS.get(kind)
    if needed is not None:
        went_to = {row.lane for row in _rows_of(subject, needed)}
        places = {lane: endpoint for lane, endpoint in places.items() if lane in went_to}
    event = Event(flow, payload, subject, sequence, is_test)
    rows = [Delivery(**values) for values in _rows([event], kind, {flow.id: places})]
    db.session.add_all(rows)
    db.session.flush()
    if any(row.state is DeliveryState.PENDING for row in rows):
        queue.after_commit(DRAIN_WEBHOOKS)
    return rows[0] if rows else None


def listens_to_all(organization_id: str) -> bool:
    """Whether an endpoint of the organization gets the events of every flow."""
    listening = sa.select(Endpoint.id).where(*queries.of_organization(organization_id))
    return db.session.scalar(listening.limit(1)) is not None


def announce_all(events: Sequence[Event], *, event_type: str) -> int:
    """As ``announce``, for events of different subjects that follow no other one: the same statements for any number.

    Returns how many are new.
    """
    kind = EventType(event_type)
    places = {flow.id: _places(flow) for flow in {one.flow.id: one.flow for one in events}.values()}
    wanted = {one.subject: one for one in events if places[one.flow.id]}
    subjects = Delivery.subject.in_(wanted)
    announced = {
        tuple(row) for row in db.session.execute(sa.select(Delivery.subject, Delivery.sequence).where(subjects))
    }
    new = [one for one in wanted.values() if (one.subject, one.sequence) not in announced]
    if not new:
        return 0
    rows = list(_rows(new, kind, places))
    db.session.execute(sa.insert(Delivery), rows)
    if any(row["state"] is DeliveryState.PENDING for row in rows):
        queue.after_commit(DRAIN_WEBHOOKS)
    return len(new)


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
    there = {row.lane for row in _rows_of(subject, kind)}
    firsts = _rows_of(subject, FOLLOWS[kind]) if kind in FOLLOWS else []
    db.session.add_all([_cancelled(first, kind) for first in firsts if first.lane not in there])
    db.session.flush()
    db.session.execute(
        sa.update(Delivery)
        .where(
            Delivery.subject == subject,
            Delivery.event_type == kind,
            Delivery.delivered_at.is_(None),
            Delivery.state.in_([DeliveryState.PENDING, DeliveryState.HELD, DeliveryState.EXHAUSTED]),
        )
        .values(
            state=DeliveryState.CANCELLED, hold=None, ending=Ending.RECORDING_REVOKED, changed_at=now, finished_at=now
        )
    )
    db.session.expire_all()


def endpoint_for(organization_id: str, url: str) -> Endpoint:
    """The row for this address of flows, created on first use. Concurrent callers get the same row."""
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
    own_url = (Delivery.flow_id == flow_id, Delivery.lane == "")
    waiting = sa.update(Delivery).where(*own_url, Delivery.endpoint_id != endpoint.id)
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


def _places(flow: InterviewFlow) -> dict[str, Endpoint]:
    """The endpoints that get the flow's events, by lane."""
    places = {"": route(flow)} if flow.webhook_url else {}
    ordered = sa.select(Endpoint).where(*queries.of_organization(flow.organization_id)).order_by(Endpoint.id)
    return places | {endpoint.id: endpoint for endpoint in db.session.scalars(ordered)}


def _behind(events: Iterable[Event]) -> set[tuple[str, str]]:
    """Subjects and lanes in which an event before the given one has not been delivered yet."""
    sequences = {one.subject: one.sequence for one in events}
    # The lock orders this against a 2xx being recorded now: either we see it, or it releases the new row.
    waiting = sa.select(Delivery.subject, Delivery.lane, Delivery.sequence).where(
        Delivery.subject.in_(sequences), sa.not_(queries.passed(Delivery))
    )
    in_order = waiting.order_by(Delivery.subject, Delivery.lane, Delivery.sequence).with_for_update()
    return {(subject, lane) for subject, lane, at in db.session.execute(in_order) if at < sequences[subject]}


def _rows(
    events: Sequence[Event], kind: EventType, places: Mapping[str, Mapping[str, Endpoint]]
) -> Iterator[dict[str, Any]]:
    """The outbox rows of events of different subjects, one for each lane in ``places`` of their flow."""
    behind = _behind(events)
    common = {"event_type": kind, "due_at": queries.present(), "request_id": request_id.current_or_none()}
    for one in events:
        body, event_id = serialise(kind, one.payload), new_event_id(is_test=one.is_test)
        for lane, endpoint in places[one.flow.id].items():
            closed = Hold.DISABLED if endpoint.disabled_at is not None else None
            hold = Hold.ORDER if (one.subject, lane) in behind else closed
            yield common | {
                "event_id": event_id,
                "organization_id": one.flow.organization_id,
                "flow_id": one.flow.id,
                "endpoint_id": endpoint.id,
                "subject": one.subject,
                "sequence": one.sequence,
                "lane": lane,
                "body": body,
                "hold": hold,
                "state": DeliveryState.PENDING if hold is None else DeliveryState.HELD,
            }


def _cancelled(first: Delivery, kind: EventType) -> Delivery:
    now = queries.present()
    return Delivery(
        organization_id=first.organization_id,
        flow_id=first.flow_id,
        endpoint_id=first.endpoint_id,
        event_type=kind,
        subject=first.subject,
        sequence=first.sequence + 1,
        lane=first.lane,
        state=DeliveryState.CANCELLED,
        ending=Ending.RECORDING_REVOKED,
        due_at=now,
        finished_at=now,
    )


def _rows_of(subject: str, kind: EventType) -> Sequence[Delivery]:
    return db.session.scalars(sa.select(Delivery).where(Delivery.subject == subject, Delivery.event_type == kind)).all()
