"""The frame of every page of the platform in Chromium: navigation, command palette and keys, wide and narrow."""

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Installation, assert_accessible
from .test_admin_pages import tab_to
from .test_candidate_page import until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
BOTH = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])


@pytest.fixture(scope="module")
def person(installation: Installation) -> str:
    """A candidate with a booked interview; the id of their flow."""
    flow = installation.api(
        "POST",
        "/interview-flows",
        json={
            "org_name": "Example Freight",
            "title": "Night driver",
            "interview_type": "recruitment",
            "questions": ["Why?"],
            "team_id": installation.team_id,
        },
    )
    installation.api(
        "POST",
        "/interviews",
        json={
            "interview_flow_id": flow["interview_flow_id"],
            "interviewee_email_address": "ada@candidate.example",
            "interviewee_first_name": "Ada",
            "interviewee_last_name": "Berg",
        },
    )
    return str(flow["interview_flow_id"])


def open_palette(page: Any) -> None:
    # The module listens once it has loaded; until then the browser's own shortcut would be pressed.
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Control+k")
    page.locator("#palette [role=option]").first.wait_for()


def close_palette(page: Any) -> None:
    page.keyboard.press("Escape")
    page.locator("#palette").wait_for(state="hidden")
    # The field keeps the focus, and gets the next key, until the browser draws the page again.
    until(page, "!document.getElementById('palette').contains(document.activeElement)")


def chosen(page: Any) -> str:
    return str(
        page.evaluate(
            "document.getElementById(document.querySelector('#palette-query').getAttribute('aria-activedescendant'))"
            "?.querySelector('.palette-text').textContent ?? ''"
        )
    )


def type_and_wait(page: Any, text: str, first: str) -> None:
    page.keyboard.type(text)
    page.locator("#palette [aria-selected=true]").get_by_text(first, exact=True).wait_for()


@BOTH
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_navigation_palette_and_sheet(
    signed_in: Callable[..., Any], person: str, size: dict[str, int], scheme: str
) -> None:
    page = signed_in("/settings", viewport=size, color_scheme=scheme)
    page.wait_for_load_state("networkidle")
    if size is NARROW:
        page.click(".menu-button")
    page.locator("nav a[href='/audit']").wait_for()
    assert_accessible(page)
    open_palette(page)
    assert_accessible(page)
    type_and_wait(page, "berg", "Ada Berg")
    assert_accessible(page)
    close_palette(page)
    page.keyboard.press("?")
    page.locator("#key-sheet").wait_for()
    assert_accessible(page)


@BOTH
def test_a_person_a_page_and_an_action_are_reached_by_keys_alone(
    signed_in: Callable[..., Any], person: str, size: dict[str, int]
) -> None:
    page = signed_in("/dashboard", viewport=size)
    open_palette(page)
    type_and_wait(page, "berg", "Ada Berg")
    assert page.get_attribute("#palette-query", "aria-expanded") == "true"
    page.keyboard.press("Enter")
    page.wait_for_url("**/candidates/*")
    assert "Ada Berg" in page.inner_text("main h1")
    open_palette(page)
    assert chosen(page) == "Ada Berg", "with nothing typed, what was opened lately comes first"
    type_and_wait(page, "audit", "Audit log")
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit")
    assert page.locator("nav a[aria-current=page]").get_attribute("href") == "/audit"
    open_palette(page)
    first = chosen(page)
    page.keyboard.press("ArrowDown")
    second = chosen(page)
    page.keyboard.press("ArrowUp")
    assert chosen(page) == first != second
    close_palette(page)
    open_palette(page)
    type_and_wait(page, "create a", "Create a flow")
    page.keyboard.press("Enter")
    page.wait_for_url("**/flows/new")


def test_enter_waits_for_the_answer_to_what_was_typed(signed_in: Callable[..., Any], person: str) -> None:
    page = signed_in("/dashboard", viewport=WIDE)
    open_palette(page)
    page.keyboard.type("night driver")
    page.keyboard.press("Enter")  # before any answer to these letters
    page.wait_for_url(f"**/flows/{person}")


def test_the_button_opens_it_and_what_is_not_found_is_said(signed_in: Callable[..., Any], person: str) -> None:
    page = signed_in("/dashboard", viewport=NARROW)
    page.wait_for_load_state("networkidle")
    tab_to(page, "button.search-button")
    page.keyboard.press("Enter")
    page.locator("#palette [role=option]").first.wait_for()
    page.keyboard.type("zzzz")
    page.locator("#palette-told", has_text="Nothing found").wait_for()
    assert page.get_attribute("#palette-query", "aria-expanded") == "false"
    page.keyboard.press("Enter")
    assert page.url.endswith("/dashboard")
    page.click("#palette [data-close]")
    page.locator("#palette").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.matches('button.search-button')")


def test_names_are_text_whatever_they_contain(signed_in: Callable[..., Any], installation: Installation) -> None:
    title = "<img src=x onerror=alert(1)> & Co"
    installation.api(
        "POST",
        "/interview-flows",
        json={"org_name": "Example", "title": title, "questions": ["Why?"], "team_id": installation.team_id},
    )
    page = signed_in("/dashboard", viewport=WIDE)
    open_palette(page)
    type_and_wait(page, "onerror", title)
    assert page.locator("#palette img").count() == 0


def test_g_and_a_letter_open_pages_and_do_nothing_where_somebody_types(signed_in: Callable[..., Any]) -> None:
    page = signed_in("/dashboard", viewport=WIDE)
    page.wait_for_load_state("networkidle")
    for letter, path in (("c", "candidates"), ("i", "interviews"), ("w", "webhooks"), ("h", "dashboard")):
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(f"**/{path}")
        page.wait_for_load_state("networkidle")
    open_palette(page)
    page.keyboard.type("gc")
    assert page.input_value("#palette-query") == "gc"
    close_palette(page)
    page.keyboard.press("?")
    page.locator("#key-sheet").wait_for()
    page.uncheck("#use-keys")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.keyboard.press("Control+k")  # no single key, so it still works
    page.locator("#palette").wait_for()
    assert page.url.endswith("/dashboard")


@BOTH
def test_every_section_and_its_pages_are_reached_by_the_tabulator(
    signed_in: Callable[..., Any], size: dict[str, int]
) -> None:
    page = signed_in("/dashboard", viewport=size)
    for section, page_below in (
        ("/candidates", "/interviews"),
        ("/requests", "/mentions"),
        ("/settings", "/retention"),
    ):
        for target in (section, page_below):
            if size is NARROW:
                page.wait_for_load_state("networkidle")
                tab_to(page, ".menu-button")
                page.keyboard.press("Enter")
            tab_to(page, f"nav[aria-label=Main] a[href='{target}']")
            page.keyboard.press("Enter")
            page.wait_for_url(f"**{target}")
        current = page.locator("nav[aria-label=Main] a[aria-current]")
        assert [one.get_attribute("aria-current") for one in current.all()] == ["true", "page"]


@BOTH
def test_without_scripts_navigation_and_search_are_links(signed_in: Callable[..., Any], size: dict[str, int]) -> None:
    page = signed_in("/settings", viewport=size, java_script_enabled=False)
    page.locator("nav a[href='/audit']").wait_for()
    assert not page.locator("button.search-button").is_visible()
    page.click("a.search-button")
    page.wait_for_url("**/candidates")
    page.click("nav a[href='/interviews']")
    page.wait_for_url("**/interviews")
