"""Sends events again for an administrator. Order is kept: only events that were delivered before go out of turn."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.accounts import actions as accounts
from app.accounts.models import Owner, Role, TeamMember
from app.core import queue
from app.core.db import db
from app.core.errors import Conflict, Forbidden, Rejected
from app.flows.models import InterviewFlow
from app.webhooks import DRAIN_WEBHOOKS, queries
from app.webhooks.actions.audit import note
from app.webhooks.actions.results import release
from app.webhooks.models import Delivery, DeliveryState, Ending, EventType, Hold
from app.webhooks.queries import LogFilter

REACH = timedelta(days=30)
MOST_AT_ONCE = 10_000
FINAL = (DeliveryState.DELIVERED, DeliveryState.EXHAUSTED)


def resend(delivery: Delivery, *, by: TeamMember | None) -> None:
    """Send one event again with the same bytes and id. A pending one becomes due now. Audited.

    ``by`` is None for calls of ``/v1``. Raises Forbidden for members who are not administrators, and Conflict, saying
    what to do, if it cannot be sent.
    """
    _only_admins(by)
    now = queries.present()
    _refuse(delivery, now)
    if delivery.state is DeliveryState.PENDING:
        _change(delivery.id, DeliveryState.PENDING, due_at=now)
    else:
        _again([delivery], now)
    note(delivery.organization_id, "webhook.resent", delivery.id, by=by, event_id=delivery.event_id)
    queue.after_commit(DRAIN_WEBHOOKS)


def resend_chosen(organization: Owner, chosen: sa.Select[Any], *, about: Mapping[str, object]) -> int:
    """Send again, for a call of ``/v1``, the ``chosen`` events that can be. Returns how many. Audited with ``about``.

    Raises Rejected for more than 10,000 events.
    """
    now = queries.present()
    able = chosen.where(
        Delivery.state.in_(FINAL),
        Delivery.body.is_not(None),
        Delivery.finished_at >= now - REACH,
        queries.enabled(),
    )
    ids = list(db.session.scalars(able.order_by(Delivery.sequence, Delivery.id).limit(MOST_AT_ONCE + 1)))
    if len(ids) > MOST_AT_ONCE:
        raise Rejected("This range has more than 10,000 deliveries. Choose a shorter one.", field="since")
    count = _begin_again(ids, now)
    if count:
        note(organization.id, "webhook.range_resent", organization.id, by=None, filter=about, events=count)
        queue.after_commit(DRAIN_WEBHOOKS)
    return count


def resend_range(
    flow: InterviewFlow, *, since: datetime, until: datetime | None = None, failed_only: bool, by: TeamMember
) -> int:
    """Send again the events that ended in the range, or only those that failed. Returns how many. Audited.

    Raises Rejected(field="since") for more than 30 days back or more than 10,000 events, Conflict for a disabled
    endpoint.
    """
    _only_admins(by)
    now = queries.present()
    if since < now - REACH:
        raise Rejected("You can replay deliveries of the last 30 days only. Choose a later start.", field="since")
    endpoint = queries.endpoint_of(flow)
    if endpoint is not None and endpoint.disabled_at is not None:
        raise Conflict("The webhook endpoint is disabled. Enable it first.")
    states = FINAL[1:] if failed_only else FINAL
    chosen = sa.select(Delivery).where(
        Delivery.flow_id == flow.id,
        Delivery.lane == "",
        Delivery.state.in_(states),
        Delivery.body.is_not(None),
        Delivery.finished_at >= since,
        Delivery.finished_at <= (until or now),
    )
    rows = db.session.scalars(chosen.order_by(Delivery.sequence).limit(MOST_AT_ONCE + 1)).all()
    if len(rows) > MOST_AT_ONCE:
        raise Rejected("This range has more than 10,000 deliveries. Choose a shorter one.", field="since")
    _again(rows, now)
    details = {"since": since.isoformat(), "until": until and until.isoformat(), "events": len(rows)}
    accounts.write_audit(by.organization, action="webhook.range_resent", subject=flow.id, by=by, details=details)
    queue.after_commit(DRAIN_WEBHOOKS)
    return len(rows)


def resend_found(filters: LogFilter, *, as_of: datetime, by: TeamMember) -> int:
    """Send again the log's events under ``filters`` that had ended by ``as_of``. Returns how many. Audited.

    The same call twice sends once, because an event sent again ends after ``as_of``. Raises Rejected for more than
    10,000 events.
    """
    _only_admins(by)
    now = queries.present()
    chosen = queries.again(by, filters, as_of=as_of, reach=REACH).order_by(Delivery.sequence, Delivery.id)
    ids = list(db.session.scalars(chosen.limit(MOST_AT_ONCE + 1)))
    if len(ids) > MOST_AT_ONCE:
        raise Rejected("More than 10,000 deliveries match this filter. Narrow it by flow or date.")
    count = _begin_again(ids, now, ended_by=as_of)
    if count:
        narrowed = {name: str(value) for name, value in asdict(filters).items() if value}
        accounts.write_audit(
            by.organization,
            action="webhook.range_resent",
            subject=filters.flow_id or by.organization_id,
            by=by,
            details={"filter": narrowed, "events": count},
        )
        queue.after_commit(DRAIN_WEBHOOKS)
    return count


def dismiss(delivery: Delivery, *, by: TeamMember) -> None:
    """Dismiss an exhausted status event so that later events of its candidate are sent. Audited."""
    _only_admins(by)
    is_status = delivery.event_type is EventType.CANDIDATE_STATUS_UPDATED
    if not is_status or delivery.state is not DeliveryState.EXHAUSTED:
        raise Conflict("Only a status event that has used all its attempts can be dismissed.")
    now = queries.present()
    _change(
        delivery.id, DeliveryState.EXHAUSTED, state=DeliveryState.CANCELLED, ending=Ending.DISMISSED, changed_at=now
    )
    release([delivery.subject], now)
    db.session.expire_all()
    accounts.write_audit(
        by.organization, action="webhook.dismissed", subject=delivery.id, by=by, details={"event_id": delivery.event_id}
    )
    queue.after_commit(DRAIN_WEBHOOKS)


def _refuse(delivery: Delivery, now: datetime) -> None:
    closed = delivery.endpoint.disabled_at is not None
    is_gone = delivery.endpoint.removed_at is not None
    too_late = delivery.finished_at is not None and delivery.finished_at < now - REACH
    is_over = too_late or delivery.body is None
    reasons = {
        "The webhook endpoint was removed.": is_gone,
        "The webhook endpoint is disabled. Enable it first.": closed,
        "A cancelled event cannot be sent.": delivery.state is DeliveryState.CANCELLED,
        "This event is being sent right now.": delivery.state is DeliveryState.SENDING,
        "This event is waiting for an earlier one. Replay that one.": delivery.state is DeliveryState.HELD,
        "You can replay a delivery for 30 days after it succeeded or used all its attempts.": is_over,
    }
    for reason, holds in reasons.items():
        if holds:
            raise Conflict(reason)


def _again(rows: Sequence[Delivery], now: datetime) -> None:
    _begin_again([row.id for row in rows], now)


def _begin_again(ids: Sequence[str], now: datetime, *, ended_by: datetime | None = None) -> int:
    """Start a new round of attempts. An event that was never delivered still waits for an undelivered earlier one.

    ``ended_by`` leaves out events that ended later: another administrator has sent them again meanwhile.
    """
    count = 0
    for start in range(0, len(ids), 1000):
        some = sa.update(Delivery).where(Delivery.id.in_(ids[start : start + 1000]), Delivery.state.in_(FINAL))
        if ended_by is not None:
            some = some.where(Delivery.finished_at <= ended_by)
        fresh = {
            "attempts": 0,
            "due_at": now,
            "changed_at": now,
            "finished_at": None,
            "ending": None,
            "endpoint_id": queries.present_endpoint(),
        }
        waits = sa.and_(Delivery.delivered_at.is_(None), queries.blocked())
        for now_so, state, hold in (
            (waits, DeliveryState.HELD, Hold.ORDER),
            (sa.not_(waits), DeliveryState.PENDING, None),
        ):
            count += db.changed(some.where(now_so).values(state=state, hold=hold, **fresh))
    db.session.expire_all()
    return count


def _change(delivery_id: str, expected: DeliveryState, **values: object) -> None:
    statement = sa.update(Delivery).where(Delivery.id == delivery_id, Delivery.state == expected).values(**values)
    changed = db.session.execute(statement.returning(Delivery.id)).all()
    if len(changed) != 1:
        raise Conflict("This event has just changed. Reload the page.")
    db.session.expire_all()


def _only_admins(member: TeamMember | None) -> None:
    if member is not None and member.role is not Role.ADMIN:
        raise Forbidden("Only administrators can replay deliveries.")
