"""What ``/v1`` reads of webhooks: endpoints with their flows, and pages of deliveries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import defer, selectinload

from app.accounts.key_scope import within
from app.accounts.models import Owner
from app.core.db import db, is_id, unseen
from app.core.errors import DomainError, Forbidden, NotFound
from app.flows.models import InterviewFlow
from app.web.cursors import cursor, place_in
from app.webhooks import queries
from app.webhooks.models import Delivery, Endpoint, Route

FOREIGN_DELIVERY = "This webhook delivery belongs to another organization."
_NAMES = {Endpoint: ("endpoint", queries.FOREIGN), Delivery: ("delivery", FOREIGN_DELIVERY)}
Row = TypeVar("Row", Endpoint, Delivery)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which deliveries. Times are those of the events: from ``since``, before ``until``."""

    state: str | None = None
    event_type: str | None = None
    interview_flow_id: str | None = None
    webhook_endpoint_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def endpoints_of(organization: Owner) -> Sequence[Endpoint]:
    """The organization's endpoints and those of its flows, oldest first. A flow's appears with its first event."""
    led = sa.select(Route.endpoint_id)
    shown = sa.or_(Endpoint.is_organizations.is_(True), Endpoint.id.in_(led))
    mine = (Endpoint.organization_id == organization.id, Endpoint.removed_at.is_(None))
    ordered = sa.select(Endpoint).where(*mine, shown).order_by(Endpoint.created_at, Endpoint.id)
    return db.session.scalars(ordered).all()


def flows_by_endpoint(endpoints: Sequence[Endpoint]) -> Mapping[str, list[str]]:
    """Ids of the flows whose events go to each of ``endpoints`` because they name its URL, by the endpoint's id."""
    ids = [endpoint.id for endpoint in endpoints]
    led = sa.select(Route.endpoint_id, Route.flow_id).join(InterviewFlow, InterviewFlow.id == Route.flow_id)
    found: dict[str, list[str]] = defaultdict(list)
    for endpoint_id, flow_id in db.session.execute(led.where(Route.endpoint_id.in_(ids)).order_by(Route.flow_id)):
        found[endpoint_id].append(flow_id)
    return found


def any_endpoint_for(organization: Owner, endpoint_id: str) -> Endpoint:
    """An endpoint, removed or not: its deliveries stay. Raises NotFound, and Forbidden for another organization's."""
    return _owned(organization, Endpoint, endpoint_id)


def endpoint_for(organization: Owner, endpoint_id: str) -> Endpoint:
    """As ``any_endpoint_for``. Also raises NotFound for one that was removed."""
    endpoint = any_endpoint_for(organization, endpoint_id)
    if endpoint.removed_at is not None:
        raise NotFound("This webhook endpoint was removed.")
    return endpoint


def delivery_for(organization: Owner, delivery_id: str) -> Delivery:
    """A delivery. Raises NotFound, and Forbidden for another organization's."""
    return _owned(organization, Delivery, delivery_id)


def deliveries_of(organization: Owner, chosen: Chosen, *, limit: int, after: str | None) -> tuple[list[Delivery], Any]:
    """One page, newest first, and the cursor of the next page; None where this is the last."""
    page = narrowed(organization, chosen, sa.select(Delivery))
    if after is not None:
        at, last_id = place_in(after)
        page = page.where(sa.or_(Delivery.created_at < at, sa.and_(Delivery.created_at == at, Delivery.id < last_id)))
    ordered = page.order_by(Delivery.created_at.desc(), Delivery.id.desc()).limit(limit + 1)
    rows = list(db.session.scalars(ordered.options(defer(Delivery.body))))
    more = len(rows) > limit
    return rows[:limit], cursor(rows[limit - 1].created_at, rows[limit - 1].id) if more else None


def with_attempts(delivery: Delivery) -> Delivery:
    """The same, with its attempts loaded in one statement."""
    loaded = sa.select(Delivery).where(Delivery.id == delivery.id).options(selectinload(Delivery.attempts_made))
    return db.session.scalars(loaded.execution_options(populate_existing=True)).one()


def narrowed(organization: Owner, chosen: Chosen, query: sa.Select[Any]) -> sa.Select[Any]:
    """``query`` limited to the organization's ``chosen`` deliveries, of flows within the scope of the key."""
    conditions = [Delivery.organization_id == organization.id]
    if narrow := within(organization, team_id=InterviewFlow.team_id, flow_id=InterviewFlow.id):
        conditions.append(Delivery.flow_id.in_(sa.select(InterviewFlow.id).where(*narrow)))
    equal = {
        Delivery.state: chosen.state,
        Delivery.event_type: chosen.event_type,
        Delivery.flow_id: chosen.interview_flow_id,
        Delivery.endpoint_id: chosen.webhook_endpoint_id,
    }
    conditions += [column == value for column, value in equal.items() if value is not None]
    if chosen.since is not None:
        conditions.append(Delivery.created_at >= chosen.since)
    if chosen.until is not None:
        conditions.append(Delivery.created_at < chosen.until)
    return query.where(*conditions)


def _owned(organization: Owner, model: type[Row], row_id: str) -> Row:
    name, foreign = _NAMES[model]
    row = db.session.get(model, row_id.lower()) if is_id(row_id.lower()) else None
    if row is None:
        raise _coded(
            unseen(model, row_id.lower(), NotFound(f"There is no webhook {name} with this id."), foreign=foreign)
        )
    if row.organization_id != organization.id:
        raise _coded(Forbidden(foreign))
    return row


def _coded(error: DomainError) -> DomainError:
    if isinstance(error, Forbidden):
        error.code = "other_organization"
    return error
