"""Reads of webhooks: what can be sent now, what waits for what, and the log that pages show."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import aliased, contains_eager

from app.accounts.key_scope import place
from app.accounts.models import Role, TeamMember
from app.core import claims
from app.core.db import db, is_id, unseen
from app.core.errors import Forbidden, NotFound, Unseen
from app.flows.models import InterviewFlow
from app.flows.queries import reach, seen
from app.webhooks.models import (
    Attempt,
    Delivery,
    DeliveryState,
    Endpoint,
    EventType,
    Hold,
    Route,
)

WARN_AFTER = timedelta(hours=96)
"""Time without success after which administrators are warned: 24 h before the endpoint may be disabled."""

_D, _FLOW = Delivery.__table__.c, InterviewFlow.__table__.c
_TEAM_OF_FLOW = sa.select(_FLOW.team_id).where(_FLOW.id == _D.flow_id).scalar_subquery()
place("webhook_delivery_id", Delivery.__table__, team_id=_TEAM_OF_FLOW, flow_id=_D.flow_id)

FOREIGN = "This webhook endpoint belongs to another organization."


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Filter of the log. Days are days of the event in UTC, both inclusive."""

    flow_id: str = ""
    endpoint_id: str = ""
    state: DeliveryState | None = None
    event: EventType | None = None
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A free endpoint with something due, with the values that ``schedule.fair`` needs."""

    endpoint_id: str
    organization_id: str
    timeouts: int
    due_at: datetime


def present() -> datetime:
    """Current time for due times and leases: the database's on PostgreSQL, this host's on SQLite."""
    now: datetime = db.session.execute(sa.select(claims.moment())).scalar_one()
    return now


def passed(delivery: Any) -> sa.ColumnElement[bool]:
    """Whether later events of the same subject need not wait for this one. A replay does not change that."""
    return sa.or_(delivery.delivered_at.is_not(None), delivery.state == DeliveryState.CANCELLED)


def blocked() -> sa.ColumnElement[bool]:
    """Whether an earlier event of the same subject has not been delivered yet to the same endpoint."""
    earlier = aliased(Delivery)
    return (
        sa.exists()
        .where(
            earlier.subject == Delivery.subject,
            earlier.lane == Delivery.lane,
            earlier.sequence < Delivery.sequence,
            sa.not_(passed(earlier)),
        )
        .correlate(Delivery)
    )


def ready(now: datetime) -> list[Waiting]:
    """Endpoints that are enabled, free, and have something due."""
    due = (
        sa.select(sa.func.min(Delivery.due_at))
        .where(Delivery.endpoint_id == Endpoint.id, Delivery.state == DeliveryState.PENDING, Delivery.due_at <= now)
        .correlate(Endpoint)
        .scalar_subquery()
        .label("due")
    )
    free = sa.select(Endpoint.id, Endpoint.organization_id, Endpoint.timeouts, due).where(*_free(now)).subquery()
    return [Waiting(*row) for row in db.session.execute(sa.select(free).where(free.c.due.is_not(None)))]


def busy(now: datetime) -> dict[str, int]:
    """Sends in flight per organization, over all workers."""
    statement = (
        sa.select(Endpoint.organization_id, sa.func.count())
        .where(Endpoint.lease_until >= now)
        .group_by(Endpoint.organization_id)
    )
    return {row[0]: row[1] for row in db.session.execute(statement)}


def sendable(now: datetime) -> bool:
    """Whether there is something to send, or an expired lease to recover."""
    due = sa.exists().where(
        Delivery.endpoint_id == Endpoint.id, Delivery.state == DeliveryState.PENDING, Delivery.due_at <= now
    )
    return _any(sa.select(Endpoint.id).where(*_free(now), due), abandoned(now))


def overdue() -> bool:
    """Whether ``drain`` has anything to do. The tick and the sweep then enqueue it."""
    now = present()
    return sendable(now) or _any(
        misrouted(),
        without_address(),
        with_address_again(),
        to_warn(now),
        at_removed_endpoints(),
        sa.select(Delivery.id).where(Delivery.state == DeliveryState.HELD, Delivery.hold == Hold.ORDER, ~blocked()),
        sa.select(Delivery.id)
        .join(Endpoint)
        .where(Delivery.state == DeliveryState.HELD, Delivery.hold == Hold.DISABLED, Endpoint.disabled_at.is_(None)),
        sa.select(Delivery.id)
        .join(Endpoint)
        .where(Delivery.state == DeliveryState.PENDING, Endpoint.disabled_at.is_not(None)),
    )


def abandoned(now: datetime) -> sa.Select[Any]:
    """Deliveries whose worker has not reported within its lease."""
    return sa.select(Delivery.id).where(Delivery.state == DeliveryState.SENDING, Delivery.lease_until < now)


def misrouted() -> sa.Select[Any]:
    """Flows whose address has changed since their pending events were routed."""
    return (
        sa.select(InterviewFlow)
        .join(Route, Route.flow_id == InterviewFlow.id)
        .join(Endpoint, Endpoint.id == Route.endpoint_id)
        .where(InterviewFlow.webhook_url.is_not(None), InterviewFlow.webhook_url != Endpoint.url)
    )


def without_address() -> sa.Select[Any]:
    """Pending deliveries of flows whose address was removed."""
    return (
        sa.select(Delivery.id)
        .join(InterviewFlow, InterviewFlow.id == Delivery.flow_id)
        .where(Delivery.lane == "", Delivery.state == DeliveryState.PENDING, InterviewFlow.webhook_url.is_(None))
    )


def with_address_again() -> sa.Select[Any]:
    """Deliveries held because their flow had no address, and that have one again.

    Those to an organization's endpoint need none: the previous release holds them during an upgrade.
    """
    return (
        sa.select(Delivery.id)
        .join(InterviewFlow, InterviewFlow.id == Delivery.flow_id)
        .where(
            Delivery.state == DeliveryState.HELD,
            Delivery.hold == Hold.NO_URL,
            sa.or_(Delivery.lane != "", InterviewFlow.webhook_url.is_not(None)),
        )
    )


def at_removed_endpoints() -> sa.Select[Any]:
    """Deliveries that were announced just as their endpoint was removed."""
    waits = (DeliveryState.PENDING, DeliveryState.HELD)
    return sa.select(Delivery.id).join(Endpoint).where(Endpoint.removed_at.is_not(None), Delivery.state.in_(waits))


def to_warn(now: datetime) -> sa.Select[Any]:
    """Endpoints that have failed for 96 h and for which no warning was given."""
    return sa.select(Endpoint).where(
        Endpoint.disabled_at.is_(None), Endpoint.warned_at.is_(None), Endpoint.failing_since <= now - WARN_AFTER
    )


def endpoint_of(flow: InterviewFlow) -> Endpoint | None:
    """The endpoint of a flow's address; None until its first event."""
    return db.session.scalar(
        sa.select(Endpoint).where(
            Endpoint.organization_id == flow.organization_id,
            Endpoint.url == (flow.webhook_url or ""),
            Endpoint.is_organizations.is_(False),
        )
    )


def of_organization(organization_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    """Conditions on the endpoints that get the events of all flows of the organization."""
    return (
        Endpoint.organization_id == organization_id,
        Endpoint.is_organizations.is_(True),
        Endpoint.removed_at.is_(None),
    )


def delivery_seen_by(member: TeamMember, delivery_id: str) -> Delivery:
    """A delivery of a flow that the member sees. Raises what ``seen`` raises.

    Deliveries to an organization's endpoint are for administrators.
    """
    delivery = seen(member, Delivery, delivery_id, kind="webhook delivery")
    if delivery.lane and member.role is not Role.ADMIN:
        raise Unseen("webhook delivery")
    return delivery


def endpoint_seen_by(member: TeamMember, endpoint_id: str) -> Endpoint:
    """An endpoint of the member's organization. Raises NotFound, and Forbidden for another organization's."""
    endpoint = db.session.get(Endpoint, endpoint_id) if is_id(endpoint_id) else None
    if endpoint is None:
        raise unseen(Endpoint, endpoint_id, NotFound("There is no webhook endpoint with this id."), foreign=FOREIGN)
    if endpoint.organization_id != member.organization_id:
        raise Forbidden(FOREIGN)
    return endpoint


def endpoint_of_member(member: TeamMember, endpoint_id: str) -> Endpoint:
    """As ``endpoint_seen_by`` for administrators. Other members see endpoints of the flows that they see."""
    if member.role is Role.ADMIN:
        return endpoint_seen_by(member, endpoint_id)
    endpoint = next((one for one in endpoints_seen_by(member) if one.id == endpoint_id), None)
    if endpoint is None:
        raise Unseen("webhook endpoint")
    return endpoint


def endpoints_seen_by(member: TeamMember) -> list[Endpoint]:
    """Receivers of the flows that the member sees, disabled ones first; for administrators also the organization's."""
    led = sa.select(Route.endpoint_id).join(InterviewFlow, InterviewFlow.id == Route.flow_id)
    shown: sa.ColumnElement[bool] = Endpoint.id.in_(led.where(*reach(member, InterviewFlow)))
    if member.role is Role.ADMIN:
        shown = sa.or_(shown, sa.and_(*of_organization(member.organization_id)))
    ordered = (Endpoint.disabled_at.is_(None), Endpoint.failing_since.is_(None), Endpoint.url, Endpoint.id)
    return list(db.session.scalars(sa.select(Endpoint).where(shown).order_by(*ordered)))


def deliveries_seen_by(member: TeamMember, filters: LogFilter, *, limit: int, offset: int) -> list[Delivery]:
    """What the member's log shows, newest first, each with its flow."""
    log = _log(sa.select(Delivery), member, filters).options(contains_eager(Delivery.flow))
    return _newest(log, limit, offset)


def how_many_seen_by(member: TeamMember, filters: LogFilter) -> int:
    """Length of the whole log that ``deliveries_seen_by`` pages through."""
    return db.session.scalar(_log(sa.select(sa.func.count(Delivery.id)), member, filters)) or 0


def again(member: TeamMember, filters: LogFilter, *, as_of: datetime, reach: timedelta) -> sa.Select[Any]:
    """Ids of the log's events that ended within ``reach`` before ``as_of`` and can be sent again now."""
    ended = (Delivery.finished_at <= as_of, Delivery.finished_at >= present() - reach)
    final = Delivery.state.in_((DeliveryState.DELIVERED, DeliveryState.EXHAUSTED))
    return _log(sa.select(Delivery.id), member, filters).where(final, *ended, Delivery.body.is_not(None), enabled())


def enabled() -> sa.ColumnElement[bool]:
    """Whether the endpoint that an event goes to now takes events."""
    takes = (Endpoint.disabled_at.is_(None), Endpoint.removed_at.is_(None))
    return sa.exists().where(Endpoint.id == present_endpoint(), *takes)


def length_of(chosen: sa.Select[Any]) -> int:
    return db.session.scalar(sa.select(sa.func.count()).select_from(chosen.subquery())) or 0


def present_endpoint() -> sa.ColumnElement[Any]:
    """The endpoint an event goes to now: the flow's address may have changed since the event ended."""
    own_url = (Route.flow_id == Delivery.flow_id, Delivery.lane == "")
    led = sa.select(Route.endpoint_id).where(*own_url).correlate(Delivery).scalar_subquery()
    return sa.func.coalesce(led, Delivery.endpoint_id)


def attempts_before(moment: datetime) -> sa.Select[Any]:
    return sa.select(Attempt.id).where(Attempt.at < moment)


def released(subjects: Collection[str]) -> sa.Select[str, datetime | None]:
    """Events of these subjects that no longer have to wait for an earlier one, and when their endpoint was disabled."""
    # The cast keeps SQLite from choosing the index over states, with which it would read every held event there is.
    is_held = sa.cast(Delivery.state, sa.String) == DeliveryState.HELD.value
    return (
        sa.select(Delivery.id, Endpoint.disabled_at)
        .join(Endpoint)
        .where(Delivery.subject.in_(list(subjects)), is_held, Delivery.hold == Hold.ORDER, ~blocked())
    )


def _free(now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        Endpoint.disabled_at.is_(None),
        Endpoint.removed_at.is_(None),
        sa.or_(Endpoint.lease_until.is_(None), Endpoint.lease_until < now),
        sa.or_(Endpoint.not_before.is_(None), Endpoint.not_before <= now),
    )


def _log(query: sa.Select[Any], member: TeamMember, filters: LogFilter) -> sa.Select[Any]:
    narrowed = query.join(InterviewFlow, InterviewFlow.id == Delivery.flow_id).where(*reach(member, InterviewFlow))
    if member.role is not Role.ADMIN:
        narrowed = narrowed.where(Delivery.lane == "")
    if filters.flow_id:
        narrowed = narrowed.where(Delivery.flow_id == filters.flow_id)
    if filters.endpoint_id:
        narrowed = narrowed.where(Delivery.endpoint_id == filters.endpoint_id)
    if filters.state:
        narrowed = narrowed.where(Delivery.state == filters.state)
    if filters.event:
        narrowed = narrowed.where(Delivery.event_type == filters.event)
    if filters.since:
        narrowed = narrowed.where(Delivery.created_at >= _begin_of(filters.since))
    if filters.until:
        narrowed = narrowed.where(Delivery.created_at < _begin_of(filters.until) + timedelta(days=1))
    return narrowed


def _begin_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _newest(query: sa.Select[Any], limit: int, offset: int) -> list[Delivery]:
    ordered = query.order_by(Delivery.created_at.desc(), Delivery.sequence.desc(), Delivery.id)
    return list(db.session.scalars(ordered.limit(limit).offset(offset)))


def _any(*statements: sa.Select[Any]) -> bool:
    return any(db.session.execute(statement.limit(1)).first() is not None for statement in statements)
