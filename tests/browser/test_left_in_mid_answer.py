"""A page that is loaded again while the candidate speaks, in a real browser against the real platform."""

import re
import time
from typing import Any

import pytest

from . import mouth
from .conftest import Installation, assert_accessible, wait_until
from .test_interview import LONGEST, QUESTIONS, book, reach, result

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform-talks")]

FIRST = (
    "I have worked in a small team for three years and I like to help people every day "
    "and we had to carry water to the house in the winter."
)
SECOND = "After that I went to the city and I was a teacher for many children in a big school."
KEEPS_REST = """() => {
    dispatchEvent(new Event("pagehide"));
    return Object.keys(sessionStorage).some((name) => name.startsWith("parley-rest"));
}"""
OTHER = "I want to see how a good team plans its work for the week."


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


def test_what_was_spoken_before_a_reload_is_in_transcript_and_mapping(
    installation: Installation, strict_chromium: Any, watch: Any
) -> None:
    interview_id, link = book(installation)
    page = watch(strict_chromium.new_page(viewport={"width": 1280, "height": 900}))
    page.add_init_script(mouth.script({"first": FIRST, "second": SECOND, "other": OTHER}, automatic=False))
    page.goto(link)
    page.check("#consent")
    page.click("[data-do=next]")
    page.click("[data-do=check]")
    reach(page, lambda: _greeted(page), "the microphone check")
    page.evaluate("mouth.hush()")
    page.click("[data-do=start]")
    _say(page, "first")
    page.wait_for_timeout(6500)
    assert page.get_attribute("[data-part=talk]", "data-phase") == "answering"
    reach(page, lambda: page.evaluate(KEEPS_REST), "the end of the answer that fills no chunk")
    page.reload()
    page.click("[data-do=resume]")
    reach(page, lambda: _phase(page) == "listening", "the microphone after the reload")
    assert page.inner_text("[data-text=before]") == "We saved the beginning of your answer. Please continue."
    assert page.inner_text("[data-text=question]") == QUESTIONS[0]
    assert_accessible(page)
    _say(page, "second")
    reach(page, lambda: page.text_content("[data-text=progress]") == "Question 2 of 2", "the second question")
    assert "saved the beginning" not in page.text_content("[data-text=before]")
    _say(page, "other")
    reach(page, lambda: page.locator("h1", has_text="Thank you").count() == 1, "the thank-you")
    wait_until(
        lambda: result(installation, interview_id)["status"] == "completed", seconds=LONGEST, what="the transcript"
    )
    data = result(installation, interview_id)["interview_data"]
    lines = data["transcript_with_timestamp"]
    asked = data["questions_to_transcript_mapping"][0]
    answered = " ".join(
        lines[index]["content"] for index in asked["transcript_item_indices"] if lines[index]["role"] == "user"
    )
    assert len(words_of("worked small team three years help people every day") & words_of(answered)) >= 3, answered
    assert len(words_of("city teacher many children big school") & words_of(answered)) >= 2, answered
    assert [one["content"] for one in lines].count(QUESTIONS[0]) == 1


def _phase(page: Any) -> str:
    return str(page.get_attribute("[data-part=talk]", "data-phase"))


def _greeted(page: Any) -> bool:
    page.evaluate("mouth.speaks || mouth.say('hello')")
    return bool(page.is_enabled("[data-do=start]"))


def _say(page: Any, name: str) -> None:
    """When it is their turn and nothing sounds any more."""
    deadline = time.monotonic() + LONGEST
    while not (_phase(page) == "listening" and not page.evaluate("mouth.speaks")):
        assert time.monotonic() < deadline, page.inner_text("body")[:600]
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)
    page.evaluate("(name) => mouth.say(name)", name)
