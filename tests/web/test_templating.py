"""Filters of templates."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core import clock
from app.web.templating import ago

NOW = datetime(2026, 11, 23, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=6, hours=23), "6 days ago"),
        (timedelta(days=7), "16 Nov"),
        (timedelta(days=400), "19 Oct 2025"),
        (timedelta(days=-2), "25 Nov"),
    ],
)
def test_a_moment_is_told_from_now_with_the_exact_one_beside_it(past: timedelta, words: str) -> None:
    at = NOW - past
    with clock.replaced(lambda: NOW):
        shown = ago(at)
    assert shown == f'<time datetime="{clock.rfc3339(at)}" title="{at.day} {at:%b %Y, %H:%M} UTC">{words}</time>'


def test_the_exact_moment_can_say_what_happened_then() -> None:
    with clock.replaced(lambda: NOW):
        assert 'title="In this status since 23 Nov 2026, 12:30 UTC"' in ago(NOW, "In this status since")


def test_no_moment_is_a_dash() -> None:
    assert ago(None) == "–"
