"""Counts usage, sets quotas, and notifies administrators when one is nearly or completely used."""

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import mail_administrators, write_audit
from app.accounts.models import Organization, TeamMember
from app.accounts.queries import organization_with
from app.accounts.usage import queries
from app.accounts.usage.models import UsageNotice, UsageQuota, UsageRecord
from app.accounts.usage.queries import Standing
from app.core import clock
from app.core.db import db
from app.core.errors import Rejected
from app.gateways.mail import Mail

MOST = 10_000_000
LASTS = timedelta(days=2)
"""A mail that could not be delivered for this long is not sent any more; the dashboard shows the warning anyway."""


def count(
    organization_id: str,
    *,
    flow_id: str,
    subject: str,
    at: datetime,
    seconds: float,
    model_calls: int = 0,
    model_tokens: int = 0,
) -> None:
    """Count an interview that has its result, in the month of ``at``. Repeated calls count once.

    ``model_calls`` and ``model_tokens``: what conversation, summary and scores cost at the language model.
    """
    if db.session.get(UsageRecord, subject) is None:
        month = queries.month_of(at)
        db.session.add(
            UsageRecord(
                subject=subject,
                organization_id=organization_id,
                flow_id=flow_id,
                at=at,
                month=month,
                seconds=max(0.0, seconds),
                model_calls=model_calls,
                model_tokens=model_tokens,
            )
        )
        db.session.flush()


def count_model(subject: str, *, calls: int, tokens: int) -> None:
    """Add what a later call of the language model cost to the record of an interview, if it has one."""
    more = {"model_calls": UsageRecord.model_calls + calls, "model_tokens": UsageRecord.model_tokens + tokens}
    db.session.execute(sa.update(UsageRecord).where(UsageRecord.subject == subject).values(more))


def refuse_if_used_up(organization_id: str) -> None:
    """Raises Rejected if this month's quota is used up and the organization stops at it."""
    if queries.has_quota_that_stops(organization_id) and queries.standing_of(organization_id).is_shut:
        raise Rejected(
            "Your organization has used up its quota for this month. You can create interviews again when the next "
            "month begins (UTC) or when an administrator raises the quota.",
            code="quota_used_up",
        )


def set_quota(
    organization: Organization, *, interviews: int | None, minutes: int | None, stops: bool, by: TeamMember
) -> None:
    """Limits per calendar month; None: no limit. Raises Rejected naming the field. Audited."""
    for name, value in (("interviews", interviews), ("minutes", minutes)):
        if value is not None and not 1 <= value <= MOST:
            raise Rejected(f"Enter a whole number from 1 to {MOST:,}, or leave this empty.", field=name)
    quota = queries.quota_of(organization.id)
    if quota is None:
        quota = UsageQuota(organization_id=organization.id)
        db.session.add(quota)
    stops = stops and (interviews is not None or minutes is not None)
    wanted = {"interviews": interviews, "minutes": minutes, "stops": stops}
    if wanted == {"interviews": quota.interviews, "minutes": quota.minutes, "stops": bool(quota.stops)}:
        return
    quota.interviews, quota.minutes, quota.stops, quota.changed_at = interviews, minutes, stops, clock.now()
    db.session.flush()
    write_audit(organization, action="usage.quota", subject=organization.id, by=by, details=wanted)


def tell(organization_id: str, *, app_url: str, by_mail: bool) -> int:
    """Record the levels that this month's usage has newly reached, and mail the highest one to the administrators.

    Each level is recorded once a month: the row's key is the lock. Returns the number of mails queued.
    """
    standing = queries.standing_of(organization_id)
    month = standing.used.month
    reached = {level for level in queries.LEVELS if level <= standing.level}
    new = reached - queries.told_levels(organization_id, month)
    try:
        with db.session.begin_nested():
            db.session.add_all(
                UsageNotice(organization_id=organization_id, month=month, level=level) for level in sorted(new)
            )
    except IntegrityError:  # another worker was quicker
        return 0
    if not new or max(new) < standing.level:
        return 0
    organization = organization_with(organization_id)
    details = {"month": month, "level": standing.level, "percent": standing.percent}
    write_audit(organization, action="usage.reached", subject=organization.id, by=None, details=details)
    if not by_mail:
        return 0
    return mail_administrators(organization, _mail(organization, standing, app_url=app_url), lasts=LASTS)


def _mail(organization: Organization, standing: Standing, *, app_url: str) -> Mail:
    name = " ".join(organization.name.split())
    used = [
        f"{number:,.{places}f} of {most:,} {thing}"
        for number, most, thing, places in (
            (standing.used.interviews, standing.interviews, "interviews", 0),
            (standing.used.minutes, standing.minutes, "minutes", 1),
        )
        if most is not None
    ]
    if standing.level < 100:
        then = (
            "At 100%, no more interviews can be created."
            if standing.stops
            else "You can still create interviews when the quota is used up."
        )
        subject = f"{standing.level}% of this month's quota is used"
    else:
        then = (
            "No more interviews can be created until the next month begins (UTC) or you raise the quota. Candidates "
            "who were already invited can still start."
            if standing.stops
            else "You can still create interviews."
        )
        subject = "This month's quota is used up"
    link = f"{app_url}/usage"
    text = f"{name} has used {' and '.join(used)} in {standing.used.month}.\n\n{then}\n\nUsage and quota: {link}"
    return Mail("", subject, text, link=link, button="See usage and quota")
