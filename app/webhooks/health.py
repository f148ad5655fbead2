"""Health of a receiver: success rates and response times of its attempts, which are stored for 30 days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.core.db import db
from app.flows.models import InterviewFlow
from app.flows.queries import reach
from app.webhooks import queries
from app.webhooks.models import Attempt, Delivery, DeliveryState, Endpoint, Route

DAY, WEEK = timedelta(hours=24), timedelta(days=7)
LATEST = 20
TIMED = 5_000
"""Newest attempts from which response times are computed."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Attempts in a time span and how many got a 2xx (``succeeded``). ``median`` and ``most`` (95th percentile): s."""

    attempts: int = 0
    succeeded: int = 0
    median: float | None = None
    most: float | None = None

    @property
    def share(self) -> float | None:
        """0 to 1; None without attempts."""
        return self.succeeded / self.attempts if self.attempts else None


_SUCCEEDED = Attempt.status.between(200, 299)


def rates(endpoints: Sequence[Endpoint], *, span: timedelta = DAY) -> dict[str, Rate]:
    """Rates of ``endpoints`` with attempts in the last ``span``, by id, without times. One statement."""
    counted = (
        sa.select(Attempt.endpoint_id, sa.func.count(), sa.func.count(sa.case((_SUCCEEDED, 1))))
        .where(Attempt.endpoint_id.in_([endpoint.id for endpoint in endpoints]), Attempt.at > queries.present() - span)
        .group_by(Attempt.endpoint_id)
    )
    return {str(row[0]): Rate(row[1], row[2]) for row in db.session.execute(counted)}


def day_and_week(endpoint: Endpoint) -> tuple[Rate, Rate]:
    """Rates of one endpoint over 24 hours and over 7 days. Times come from the newest ``TIMED`` attempts."""
    now = queries.present()
    mine, today = _attempts(endpoint, now - WEEK), Attempt.at > now - DAY
    parts = (sa.true(), _SUCCEEDED, today, sa.and_(today, _SUCCEEDED))
    counts = db.session.execute(mine.with_only_columns(*(sa.func.count(sa.case((one, 1))) for one in parts))).one()
    newest = mine.with_only_columns(Attempt.seconds).order_by(Attempt.at.desc()).limit(TIMED)
    times = db.session.scalars(newest).all()
    return _rate(counts[2], counts[3], times[: counts[2]]), _rate(counts[0], counts[1], times)


def failures_in_a_row(endpoint: Endpoint) -> int:
    """Failed attempts since the last 2xx."""
    newest = _attempts(endpoint, None).with_only_columns(sa.func.max(Attempt.at)).where(_SUCCEEDED)
    succeeded_at = db.session.scalar(newest)
    return db.session.scalar(_attempts(endpoint, succeeded_at).with_only_columns(sa.func.count())) or 0


def waiting(endpoint: Endpoint) -> dict[DeliveryState, int]:
    """Number of unfinished events, by state."""
    unfinished = (DeliveryState.PENDING, DeliveryState.SENDING, DeliveryState.HELD)
    counted = sa.select(Delivery.state, sa.func.count()).where(
        Delivery.endpoint_id == endpoint.id, Delivery.state.in_(unfinished)
    )
    return {row[0]: row[1] for row in db.session.execute(counted.group_by(Delivery.state))}


def latest(endpoint: Endpoint) -> list[Any]:
    """The newest attempts as (attempt, event type, delivery id)."""
    chosen = (
        sa.select(Attempt, Delivery.event_type, Delivery.id)
        .join(Delivery, Delivery.id == Attempt.delivery_id)
        .where(Attempt.endpoint_id == endpoint.id)
        .order_by(Attempt.at.desc(), Attempt.id)
        .limit(LATEST)
    )
    return list(db.session.execute(chosen.options(sa.orm.defer(Attempt.answer))))


def flows_of(endpoint: Endpoint, member: TeamMember) -> list[tuple[str, str]]:
    """Id and title of the member's visible flows whose events go to this endpoint now."""
    led = sa.select(InterviewFlow.id, InterviewFlow.title).join(Route, Route.flow_id == InterviewFlow.id)
    chosen = led.where(Route.endpoint_id == endpoint.id, *reach(member, InterviewFlow))
    return [(row[0], row[1]) for row in db.session.execute(chosen.order_by(InterviewFlow.title, InterviewFlow.id))]


def _attempts(endpoint: Endpoint, since: datetime | None) -> sa.Select[Any]:
    chosen = sa.select(Attempt).where(Attempt.endpoint_id == endpoint.id)
    return chosen.where(Attempt.at > since) if since is not None else chosen


def _rate(attempts: int, succeeded: int, seconds: Sequence[float]) -> Rate:
    ordered = sorted(seconds)
    if not ordered:
        return Rate(attempts, succeeded)
    last = len(ordered) - 1
    return Rate(attempts, succeeded, ordered[last // 2], ordered[(len(ordered) * 19 - 1) // 20])
