"""The ten accidents of loss.py, and the take-over by another browser."""

from collections.abc import Iterator
from typing import Any

import pytest

from . import loss
from .candidate import Candidate
from .rehearsal import Platform, platform_in

pytestmark = [pytest.mark.platform]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with platform_in(tmp_path_factory.mktemp("loss")) as running:
        yield running


TOGETHER = [
    ("before Start's answer arrives", "between chunk and turn", "during finish"),
    ("during the intro", "in mid-answer", "after finish, before the thank-you"),
    ("while the server thinks", "during the reply", "during the last chunks"),
    ("during a document",),
]


@pytest.mark.parametrize("names", TOGETHER, ids=", ".join)
def test_nothing_is_lost(playwright: Any, platform: Platform, names: tuple[str, ...]) -> None:
    assert loss.taken(playwright, platform, *names).problems == []


def test_every_accident_is_met_once() -> None:
    assert sorted(name for names in TOGETHER for name in names) == sorted(loss.POINTS)


def test_another_browser_goes_on_at_the_same_question_after_two_minutes_of_silence(
    playwright: Any, platform: Platform
) -> None:
    first = Candidate(playwright, platform)
    try:
        first.begin()
        first.question(2)
    finally:
        first.close()  # the whole browser is gone, and what it kept with it
    other = Candidate(playwright, platform, booked=(first.interview_id, first.link))
    try:
        other.page.goto(other.link)
        assert other.page.locator("[data-do=start]").count() == 0
        silent = "update sitting set heartbeat_at = datetime(heartbeat_at, '-121 seconds') where interview_id = :i"
        platform.rows(silent, i=first.interview_id)
        other.begin()
        other.question(2)
        other.thanked()
    finally:
        other.close()
    assert loss.survived(other, unsealed=(1,)).problems == []
