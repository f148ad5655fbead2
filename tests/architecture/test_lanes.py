"""Tests that start something costly together stay on one worker, and all others go to whoever is free."""

from tests.lanes import lane_of


def test_modules_that_start_platforms_are_one_lane_and_browsers_share_nothing() -> None:
    assert lane_of("tests/browser/test_people.py") == lane_of("tests/platform/test_up.py") == "platform"
    assert lane_of("tests/browser/test_dock.py") == "tests/browser/test_dock.py"
    assert lane_of("tests/web/test_body.py") is None
