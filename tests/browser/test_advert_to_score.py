"""From a job advert to a score with quotes, in Chromium, on the real platform with a scripted model."""

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Installation, assert_accessible, wait_until
from .scripted_model import QUESTIONS, QUOTE, Model, more_settings  # noqa: F401 - a fixture

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]

ADVERT = "We are looking for a driver who knows long tours and large trucks, plans ahead, and stays calm. " * 3
WIDE = {"width": 1280, "height": 800}


def test_a_flow_from_an_advert_to_a_score_with_quotes(
    installation: Installation, chromium: Any, watch: Any, signed_in: Callable[..., Any]
) -> None:
    Model.value = 1.5
    page = signed_in("/flows", viewport=WIDE)
    page.click("main a:has-text('Start from a job ad')")
    page.fill("#text", ADVERT)
    page.click("button:has-text('Draft questions')")
    page.wait_for_selector("h1:text('Check the draft')")
    assert_accessible(page)
    assert [page.input_value(f"#questions-{n}") for n in range(2)] == list(QUESTIONS)
    page.fill("#questions-1", "How do you plan a tour of a week?")
    page.click("button:has-text('Approve and continue')")
    page.wait_for_selector("text=The flow is not saved yet.")
    page.fill("#org_name", "Example Freight")
    page.click("button.button-primary:has-text('Create')")
    page.wait_for_url("**/flows/*-*")
    flow_id = page.url.split("/flows/")[1].split("?")[0].split("/")[0]
    flow = installation.api("GET", f"/interview-flows/{flow_id}")
    assert flow["questions"] == [QUESTIONS[0], "How do you plan a tour of a week?"]
    assert "Experience" in page.inner_text("main")
    person = {"interviewee_email_address": "grace@applicants.example", "interviewee_first_name": "Grace"}
    booked = installation.api("POST", "/interviews", json={"interview_flow_id": flow_id, **person})
    take(watch(chromium.new_context(viewport=WIDE).new_page()), booked["interview_link"])
    read = f"/interviews/{booked['interview_id']}"
    wait_until(
        lambda: installation.api("GET", read)["status"] == "completed", seconds=240, what="the interview is processed"
    )
    page.goto(f"{installation.url}{read}")
    quote = page.locator("details.evidence blockquote", has_text=QUOTE).first
    quote.locator("xpath=..").locator("summary").click()
    quote.wait_for()
    assert "1.5" in page.locator(".score", has_text="Experience").inner_text()
    assert_accessible(page)


def take(page: Any, link: str) -> None:
    """Both questions, answered in writing."""
    page.goto(link)
    page.check("#consent")
    page.click("[data-do=next]")
    page.check("input[name=mode][value=text]")
    page.click("[data-do=start]")
    for number in (1, 2):
        page.locator("[data-text=progress]", has_text=f"Question {number} of 2").wait_for()
        page.wait_for_selector("[data-do=send][aria-disabled=false]")
        page.fill("#answer", f"{QUOTE}, and I plan every tour of mine the evening before, on a map.")
        page.click("[data-do=send]")
    page.wait_for_selector("h1:text('Thank you')", timeout=60_000)
    page.context.close()
