"""The two steps before the talk: short on a phone in every language, and nothing entered is lost between them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from app.web.languages import LANGUAGES

from .conftest import assert_accessible
from .fake_server import Running
from .test_candidate_page import WIDTHS, until

TWO_SCREENS = 2 * 740
HEIGHT = "document.documentElement.scrollHeight"
CHECKED = "['good', 'warn'].includes(document.querySelector('[data-check=network]').dataset.state)"
PLACES = """[...document.querySelectorAll("[data-part=invitation] :is(summary, button, input, h2, p)")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.outerHTML.slice(0, 60), Math.round(one.getBoundingClientRect().top)])"""
"""What can be seen before the talk, each with its distance from the top."""
SHOWN = "document.querySelector('[data-part=invitation]').dataset.at"


@pytest.fixture
def page(chromium: Any, watch: Callable[[Any], Any]) -> Iterator[Any]:
    context = chromium.new_context(viewport=WIDTHS["phone"])
    yield watch(context.new_page())
    context.close()


def to_step_2(page: Any, server: Running) -> None:
    page.goto(server.page)
    page.check("#consent")
    page.click("[data-do=next]")
    until(page, f"{SHOWN} === '2'")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("taking_over", [True, False])
def test_nothing_moves_once_the_scripts_have_loaded(
    chromium: Any, server: Running, width: str, taking_over: bool
) -> None:
    """A finger that is on its way finds what it aimed at."""
    server.story.flow = {"preamble_video_url": "/static/none.mp4"}
    server.story.context = {"taking_over": taking_over}
    context = chromium.new_context(viewport=WIDTHS[width])
    page, held = context.new_page(), []
    page.route("**/static/js/**", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks the function
    page.goto(server.page, wait_until="commit")
    page.locator("[data-do=start]").wait_for(state="attached")
    until(page, "[...document.querySelectorAll('link[rel=stylesheet]')].every((link) => link.sheet)")
    before = page.evaluate(PLACES)
    assert page.is_disabled("[data-do=next]")
    page.unroute("**/static/js/**")  # and what was held goes on
    page.locator("[data-do=next]:enabled").wait_for()
    assert page.evaluate(PLACES) == before
    context.close()


@pytest.mark.parametrize("video", [True, False])
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_step_has_at_most_two_screens_of_a_phone(page: Any, server: Running, language: str, video: bool) -> None:
    """With everything that can be on it: intro video, names, the longest consent, and all results of the check."""
    server.story.flow = {"is_video_enabled": video, "assess_language": True, "preamble_video_url": "/static/none.mp4"}
    server.story.context = {"open_until": datetime(2026, 12, 24, tzinfo=UTC)}
    server.story.flow["likely_minutes"] = 13
    page.goto(f"{server.page}?lang={language}")
    page.locator("[data-do=next]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    heights = [page.evaluate(HEIGHT)]
    page.check("#consent")
    page.click("[data-do=next]")
    until(page, f"{SHOWN} === '2'")
    heights.append(page.evaluate(HEIGHT))
    page.click("[data-do=check]")
    until(page, "!document.querySelector('[data-do=start]').disabled")
    until(page, CHECKED)
    page.click("[data-do=sound]")
    page.locator("[data-do=heard-it]").wait_for()
    heights.append(page.evaluate(HEIGHT))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert max(heights) <= TWO_SCREENS, heights


def test_the_whole_text_is_there_to_read_before_anyone_can_agree(page: Any, server: Running) -> None:
    page.goto(server.page)
    page.locator("[data-do=next]").wait_for()
    assert page.locator(".promises li:visible").count() == 7
    assert page.locator("details .promises").count() == 0
    assert page.is_hidden("[data-do=start]")
    page.click("[data-do=next]")
    until(page, "document.querySelector('[data-text=next]').textContent === 'Please agree first.'")
    assert page.evaluate("document.activeElement.id") == "consent"
    assert page.evaluate(SHOWN) == "1"
    assert_accessible(page)
    page.check("#consent")
    until(page, "document.querySelector('[data-text=next]').textContent === ''")


def enter(page: Any) -> None:
    page.fill("#first_name", "Ada")
    page.fill("#email_address", "ada@example.com")
    page.check("input[name=mode][value=text]")


def assert_entered(page: Any) -> None:
    assert page.is_checked("#consent")
    assert page.input_value("#first_name") == "Ada"
    assert page.input_value("#email_address") == "ada@example.com"
    assert page.is_checked("input[name=mode][value=text]")


@pytest.mark.parametrize("back", ["the page's button", "the browser's button"])
def test_back_keeps_what_was_entered(page: Any, server: Running, back: str) -> None:
    to_step_2(page, server)
    assert page.evaluate("document.activeElement.innerText") == "Step 2 of 2"
    enter(page)
    if back == "the page's button":
        page.click("[data-do=back]")
    else:
        page.go_back()
    until(page, f"{SHOWN} === '1'")
    assert page.is_visible(".promises")
    assert_entered(page)
    page.reload()
    until(page, f"{SHOWN} === '1'")
    assert_entered(page)
    page.click("[data-do=next]")
    until(page, f"{SHOWN} === '2'")
    assert_entered(page)
    page.click("[data-do=start]")
    page.wait_for_selector("#answer:visible")
    assert (server.story.started or {})["first_name"] == "Ada"


def test_a_reload_keeps_the_step_and_what_was_entered(page: Any, server: Running) -> None:
    to_step_2(page, server)
    enter(page)
    page.reload()
    until(page, f"{SHOWN} === '2'")
    assert_entered(page)
    assert page.url == server.page, "an address that is passed on leads to the first step"
    assert page.is_enabled("[data-do=start]")
    page.click("[data-do=back]")
    until(page, f"{SHOWN} === '1'")


def test_who_takes_the_consent_back_does_not_come_to_the_second_step(page: Any, server: Running) -> None:
    to_step_2(page, server)
    page.click("[data-do=back]")
    until(page, f"{SHOWN} === '1'")
    page.uncheck("#consent")
    page.go_forward()
    page.wait_for_timeout(200)
    assert page.evaluate(SHOWN) == "1"


def test_a_new_text_is_read_before_it_is_agreed_to(page: Any, server: Running) -> None:
    server.story.context["consent_version"] = "1"
    to_step_2(page, server)
    page.fill("#first_name", "Ada")
    page.check("input[name=mode][value=text]")
    server.story.context["consent_version"] = "2"
    refusal = {"message": "x", "field": "consent_version", "reason": None}
    page.route("**/start", lambda route: route.fulfill(status=422, json=refusal))
    page.click("[data-do=start]")
    page.locator("[data-text=next]", has_text="The text above has changed").wait_for()
    assert page.evaluate(SHOWN) == "1"
    assert not page.is_checked("#consent")
    assert page.input_value("#first_name") == "Ada"
    assert page.locator(".promises li").count() == 7


def test_another_language_is_another_text(page: Any, server: Running) -> None:
    to_step_2(page, server)
    page.select_option("#lang", "de-DE")
    page.click(".language button")
    page.locator("html[lang=de-DE] [data-at='1']").wait_for()
    assert not page.is_checked("#consent")


def test_without_scripts_both_steps_are_there(chromium: Any, server: Running) -> None:
    context = chromium.new_context(java_script_enabled=False, viewport=WIDTHS["phone"])
    page = context.new_page()
    page.goto(server.page)
    for shown in (
        ".promises",
        "#consent",
        "#first_name",
        "input[value=text]",
        "[data-do=start]",
        "button[form=decline]",
    ):
        assert page.is_visible(shown), shown
    for useless in ("[data-do=next]", "[data-do=back]", ".step-of"):
        assert page.locator(f"{useless}:visible").count() == 0, useless
    context.close()
