"""Reads of usage and quotas of an organization."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import sqlalchemy as sa

from app.accounts.models import Organization
from app.accounts.usage.models import UsageNotice, UsageQuota, UsageRecord
from app.core import clock
from app.core.db import db
from app.core.db.prepared import Prepared

LEVELS = (80, 100)
"""Percent of a quota at which administrators are notified."""


@dataclass(frozen=True, slots=True)
class Used:
    """Usage of one flow, or of all flows (""), in a month."""

    month: str
    interviews: int
    seconds: float
    model_calls: int = 0
    model_tokens: int = 0
    flow_id: str = ""

    @property
    def minutes(self) -> float:
        """Minutes recorded, to a tenth."""
        return round(self.seconds / 60, 1)


@dataclass(frozen=True, slots=True)
class Standing:
    """A month's usage and quota. ``percent`` is that of the limit used most; None without a limit."""

    used: Used
    interviews: int | None
    minutes: int | None
    stops: bool

    @property
    def percent(self) -> int | None:
        """Whole percent, rounded down, so that 100 never appears too early."""
        pairs = ((self.used.interviews, self.interviews), (self.used.seconds / 60, self.minutes))
        shares = [(100.0 if not most else 100 * used / most) for used, most in pairs if most is not None]
        return int(max(shares)) if shares else None

    @property
    def level(self) -> int:
        """The highest of ``LEVELS`` that was reached, or 0."""
        return max((level for level in LEVELS if self.percent is not None and self.percent >= level), default=0)

    @property
    def is_shut(self) -> bool:
        """Whether no more interviews can be created this month."""
        return self.stops and self.level == 100


def month_of(day: date) -> str:
    """The calendar month of a day, or of a moment in UTC, as ``2026-01``."""
    return f"{day:%Y-%m}"


def this_month() -> str:
    return month_of(clock.now())


def quota_of(organization_id: str) -> UsageQuota | None:
    return db.session.get(UsageQuota, organization_id)


_STOPS = Prepared(
    sa.select(UsageQuota.__table__.c.stops).where(
        UsageQuota.__table__.c.organization_id == sa.bindparam("organization")
    )
)


def has_quota_that_stops(organization_id: str) -> bool:
    """Whether nothing is booked once the quota is used up: asked for every new interview, so without the row."""
    return any(row[0] for row in _STOPS.rows(organization=organization_id))


def standing_of(organization_id: str) -> Standing:
    """Usage and quota of the current month."""
    quota = quota_of(organization_id)
    used = used_in(organization_id, this_month())
    if quota is None:
        return Standing(used, None, None, stops=False)
    return Standing(used, quota.interviews, quota.minutes, stops=quota.stops)


def used_in(organization_id: str, month: str) -> Used:
    counted = _summed().where(UsageRecord.organization_id == organization_id, UsageRecord.month == month)
    return Used(month, *db.session.execute(counted).one())


def by_month(organization_id: str, *, since: str) -> list[Used]:
    """Usage by month from ``since`` on, the newest first; months without any are left out."""
    counted = _summed(UsageRecord.month).where(*_from(organization_id, since)).group_by(UsageRecord.month)
    return [Used(*row) for row in db.session.execute(counted.order_by(UsageRecord.month.desc()))]


def by_flow(organization_id: str, *, since: str) -> list[Used]:
    """Usage by month and flow from ``since`` on, the newest month first."""
    keys = (UsageRecord.month, UsageRecord.flow_id)
    counted = _summed(*keys).where(*_from(organization_id, since)).group_by(*keys)
    ordered = db.session.execute(counted.order_by(keys[0].desc(), keys[1]))
    return [Used(row[0], row[2], row[3], row[4], row[5], row[1]) for row in ordered]


def to_be_told() -> list[str]:
    """Ids of organizations with a limit that were not yet notified this month that it is used up."""
    notified = sa.exists().where(
        UsageNotice.organization_id == UsageQuota.organization_id,
        UsageNotice.month == this_month(),
        UsageNotice.level == LEVELS[-1],
    )
    limited = sa.or_(UsageQuota.interviews.is_not(None), UsageQuota.minutes.is_not(None))
    works = Organization.disabled_at.is_(None)
    chosen = sa.select(UsageQuota.organization_id).join(Organization, Organization.id == UsageQuota.organization_id)
    return list(db.session.scalars(chosen.where(limited, works, ~notified)))


def told_levels(organization_id: str, month: str) -> set[int]:
    """Levels for which a notice was sent in a month."""
    levels = sa.select(UsageNotice.level).where(
        UsageNotice.organization_id == organization_id, UsageNotice.month == month
    )
    return set(db.session.scalars(levels))


def _summed(*keys: Any) -> sa.Select[Any]:
    summed = (UsageRecord.seconds, UsageRecord.model_calls, UsageRecord.model_tokens)
    sums = (sa.func.coalesce(sa.func.sum(column), 0) for column in summed)
    return sa.select(*keys, sa.func.count(), *sums).select_from(UsageRecord)


def _from(organization_id: str, since: str) -> tuple[sa.ColumnElement[bool], ...]:
    return UsageRecord.organization_id == organization_id, UsageRecord.month >= since
