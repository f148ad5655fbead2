"""The agent speaks more slowly when the candidate wants it, and the page reports what was heard at which rate."""

from typing import Any

import pytest

from .fake_server import Running
from .test_candidate_page import phase, until


def test_a_slower_voice_is_reported_as_it_was_heard_and_stays_chosen(
    chromium: Any, server: Running, watch: Any
) -> None:
    story = server.story
    story.spoken_seconds = 2.0
    page = watch(chromium.new_context().new_page())
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    until(page, "document.querySelector('[data-text=start]').textContent === 'All set.'")
    page.click("[data-do=start]")
    phase(page, "speaking")
    phase(page, "listening", "answering")
    page.click("[data-do=help]")
    assert page.get_attribute("[data-do=slower]", "aria-pressed") == "false"
    page.click("[data-do=slower]")
    assert page.get_attribute("[data-do=slower]", "aria-pressed") == "true"
    page.click("[data-do=help-close]")
    page.click("[data-do=skip]")
    until(page, "document.querySelector('[data-text=progress]').textContent === 'Question 2 of 2'")
    phase(page, "speaking")
    phase(page, "listening", "answering")
    page.click("[data-do=skip]")
    page.wait_for_selector("h1:text('Thank you')", timeout=30_000)
    begin, first, second = story.turns[:3]
    assert begin["played"] is None or begin["played"]["seconds"] == 0
    assert "rate" not in first["played"]
    assert (second["played"]["rate"], second["played"]["whole"]) == (0.8, True)
    assert second["played"]["seconds"] == pytest.approx(first["played"]["seconds"] / 0.8, abs=0.01)
    assert page.evaluate("localStorage.getItem('parley-slower')") == "on"
    page.context.close()
