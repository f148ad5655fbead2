"""When daily emails are due, in the member's time zone, and when failures are tried again."""

from datetime import UTC, datetime, timedelta

import pytest

from app.review.notices.schedule import DELAYS, LONGEST_WANTED, next_delay, next_digest, time_zones


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "hour", "zone", "due"),
    [
        ("2026-03-02T06:00", 8, "UTC", "2026-03-02T08:00"),
        ("2026-03-02T08:00", 8, "UTC", "2026-03-03T08:00"),  # at the hour itself: the next day
        ("2026-03-02T06:59", 8, "Europe/Berlin", "2026-03-02T07:00"),
        ("2026-03-02T07:01", 8, "Europe/Berlin", "2026-03-03T07:00"),
        ("2026-03-02T23:30", 9, "Asia/Tokyo", "2026-03-03T00:00"),  # there it is the next day already
        ("2026-03-02T01:00", 20, "America/Los_Angeles", "2026-03-02T04:00"),  # there it is still the day before
        ("2026-03-28T12:00", 2, "Europe/Berlin", "2026-03-29T01:00"),  # 2 o'clock is skipped: at 3 o'clock
        ("2026-10-24T12:00", 2, "Europe/Berlin", "2026-10-25T00:00"),  # 2 o'clock comes twice: the first one
        ("2026-10-25T00:00", 2, "Europe/Berlin", "2026-10-26T01:00"),  # and not the second
        ("2026-03-02T06:00", 8, "Atlantis/Poseidonis", "2026-03-02T08:00"),
    ],
)
def test_the_daily_mail_is_due_at_the_local_hour(after: str, hour: int, zone: str, due: str) -> None:
    assert next_digest(at(after), hour=hour, time_zone=zone) == at(due)


def test_time_zones_are_names_of_places() -> None:
    names = time_zones()
    assert names[0] == "UTC"
    assert {"Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kolkata", "Pacific/Auckland"} <= set(names)
    assert not [name for name in names if name.startswith(("Etc/", "posix", "right", "SystemV"))]


def test_pauses_grow_and_end() -> None:
    pauses = [next_delay(failures) for failures in range(1, 7)]
    assert pauses == [*DELAYS, None]
    assert list(DELAYS) == sorted(DELAYS)


def test_a_service_can_ask_for_more_time_but_not_for_ever() -> None:
    assert next_delay(1, wanted=timedelta(minutes=5)) == timedelta(minutes=5)
    assert next_delay(1, wanted=timedelta(seconds=1)) == DELAYS[0]
    assert next_delay(1, wanted=timedelta(days=9)) == LONGEST_WANTED
    assert next_delay(6, wanted=timedelta(seconds=1)) is None
