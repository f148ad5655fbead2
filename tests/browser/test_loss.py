"""Two of the ten accidents of loss.py (all of them: bench/loss.py), and the take-over by another browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import loss

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("loss")]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[loss.Platform]:
    with loss.platform_in(tmp_path_factory.mktemp("loss")) as running:
        yield running


@pytest.fixture(scope="module")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return loss.microphone_file(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("name", ["before Start's answer arrives", "in mid-answer"])
def test_nothing_is_lost(playwright: Any, platform: loss.Platform, microphone: Path, name: str) -> None:
    _one, left = loss.taken(playwright, platform, microphone, name)
    assert left.problems == []


def test_another_browser_goes_on_at_the_same_question_after_two_minutes_of_silence(
    playwright: Any, platform: loss.Platform, microphone: Path
) -> None:
    first = loss.Candidate(playwright, platform, microphone)
    try:
        first.begin()
        first.question(2)
    finally:
        first.close()  # the whole browser is gone, and what it kept with it
    other = loss.Candidate(playwright, platform, microphone, booked=(first.interview_id, first.link))
    try:
        other.page.goto(other.link)
        assert other.page.locator("[data-do=start]").count() == 0
        silent = "update sitting set heartbeat_at = datetime(heartbeat_at, '-121 seconds') where interview_id = :i"
        platform.rows(silent, i=first.interview_id)
        other.begin()
        other.question(2)
        other.thanked()
        assert loss.survived(other).problems == ["run 1 ends with None"]
    finally:
        other.close()
