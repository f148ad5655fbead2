"""When a notice is sent: the next daily email, and the next attempt after a failure. Pure: the time is an argument."""

from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

DELAYS = (
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=4),
)
"""The delay after each failure. After the last one there is one more attempt, and no more."""
LONGEST_WANTED = timedelta(hours=1)
"""The longest pause that a service can ask for with Retry-After."""
NEWS_FOR = timedelta(days=1)
"""A notice that a channel has not accepted within this time is old news, and given up."""
REGIONS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache
def time_zones() -> tuple[str, ...]:
    """The names to choose from, UTC first; UTC alone on a machine without the database of time zones."""
    cities = {name for name in available_timezones() if name.partition("/")[0] in REGIONS and "/" in name}
    return ("UTC", *sorted(cities))


def zone_of(name: str) -> tzinfo:
    """The time zone, or UTC for one that this machine does not know."""
    return ZoneInfo(name) if name in time_zones() and name != "UTC" else UTC


def next_digest(after: datetime, *, hour: int, time_zone: str) -> datetime:
    """The next time that it is ``hour`` o'clock there, in UTC. An hour that is skipped in spring comes later that day;
    one that comes twice in autumn counts once."""
    zone = zone_of(time_zone)
    local = after.astimezone(zone)
    days = (local.date() + timedelta(days=number) for number in range(3))
    moments = (datetime(day.year, day.month, day.day, hour, tzinfo=zone).astimezone(UTC) for day in days)
    return next(moment for moment in moments if moment > after)


def next_delay(failures: int, *, wanted: timedelta | None = None) -> timedelta | None:
    """How long to wait after the ``failures``-th failure of a notice; None if it is given up.

    ``wanted`` is the service's Retry-After: never shorter than planned, and never longer than ``LONGEST_WANTED``.
    """
    if failures > len(DELAYS):
        return None
    planned = DELAYS[failures - 1]
    return planned if wanted is None else max(planned, min(wanted, LONGEST_WANTED))
