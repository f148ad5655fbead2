"""The list of candidates in Chromium: dense, filtered at once, used by keys, on phones and without scripts."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from .conftest import Installation, assert_accessible, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
TITLES = ("Agente de atención al cliente", "Nurse on the night shift")
NAMES = [
    (first, last)
    for last in ("Lindqvist", "Nakamura")
    for first in ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
]
ROWS = """() => [...document.querySelectorAll(".people tbody tr")].map((row) => {
    const { top, bottom, height } = row.getBoundingClientRect();
    return { top, bottom, height };
})"""
CUT = """() => {
    const edge = document.querySelector(".people").getBoundingClientRect().right + 1;
    const cut = (one) => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > edge;
    const shown = [...document.querySelectorAll(".people :is(td, th, .badge)")].filter((one) => one.checkVisibility());
    return shown.filter((one) => !one.closest(".choose") && cut(one)).map((one) => one.textContent.trim());
}"""
SHIFTED = """() => new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
        .observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => setTimeout(() => resolve(sum), 0));
})"""
FOCUSED = "document.activeElement.textContent.trim()"


@pytest.fixture(scope="module")
def recruiting(installation: Installation) -> list[str]:
    """Sixteen candidates in two flows; the flows' ids."""
    flows = []
    for title in TITLES:
        about = {"org_name": "Freight", "title": title, "questions": ["Why?"], "interview_type": "recruitment"}
        made = installation.api("POST", "/interview-flows", json={**about, "team_id": installation.team_id})
        flows.append(made["interview_flow_id"])
    for number, (first, last) in enumerate(NAMES):
        person = {"interviewee_first_name": first, "interviewee_last_name": last}
        email = f"{first}.{last}@example.com".lower()
        about = {"interview_flow_id": flows[number % 2], "interviewee_email_address": email}
        installation.api("POST", "/interviews", json={**about, **person})
    return flows


@pytest.fixture
def listed(recruiting: list[str], signed_in: Callable[..., Any]) -> Callable[..., Any]:
    """``listed(query, **context)``: a signed-in page that shows the list."""

    def opened(query: str = "", **options: Any) -> Any:
        page = signed_in(f"/candidates?{query}", **{"viewport": DESKTOP, **options})
        if options.get("java_script_enabled", True):
            page.wait_for_selector(".all:not(.waiting)", state="attached")
        return page

    return opened


def names(page: Any) -> list[str]:
    found: list[str] = page.locator(".people .name").all_inner_texts()
    return found


def asked(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def shows(page: Any, count: int) -> None:
    word = "candidate" if count == 1 else "candidates"
    page.locator("[data-live=count]", has_text=f"{count} {word}").wait_for()


def test_twelve_rows_fit_the_first_screen_and_nothing_is_cut(listed: Callable[..., Any]) -> None:
    page = listed()
    rows = page.evaluate(ROWS)
    assert {row["height"] for row in rows} == {44}
    assert len([row for row in rows if row["bottom"] <= DESKTOP["height"]]) >= 12
    for width in (1920, 1280, 1024, 800):
        page.set_viewport_size({**DESKTOP, "width": width})
        assert page.evaluate(CUT) == [], width
        assert_accessible(page)
    page.set_viewport_size({"width": 1920, "height": 800})
    assert page.locator(".people").bounding_box()["width"] > 1300, "the list uses a wide screen"
    page.locator(".people .name").last.scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 9999)")
    assert page.locator(".people thead th").nth(1).bounding_box()["y"] == 0, "headers stay in view"


def test_nothing_shifts_while_the_list_arrives(listed: Callable[..., Any]) -> None:
    for size in (DESKTOP, PHONE):
        page = listed("status=invited", viewport=size)
        assert page.evaluate(SHIFTED) < 0.05


def test_a_phone_shows_candidates_at_once_in_two_lines(listed: Callable[..., Any]) -> None:
    page = listed(viewport=PHONE, has_touch=True, is_mobile=True)
    rows = page.evaluate(ROWS)
    assert rows[0]["bottom"] < PHONE["height"]
    assert max(row["height"] for row in rows) <= 64
    assert page.evaluate(CUT) == []
    assert page.locator("#text").is_hidden()
    assert page.locator(".bulk").is_hidden()
    assert_accessible(page)
    page.get_by_role("button", name="Search and filter").tap()
    page.locator("#flow").select_option(label=TITLES[0])
    shows(page, 8)
    assert_accessible(page)
    page.get_by_role("button", name="Show candidates").tap()
    page.get_by_role("checkbox", name="Select Ada Lindqvist").tap()
    page.get_by_text("1 selected").wait_for()
    assert_accessible(page)


def test_filters_apply_at_once_and_live_in_the_address(listed: Callable[..., Any], recruiting: list[str]) -> None:
    page = listed()
    before = page.evaluate(ROWS)[0]["top"]
    page.locator("#flow").select_option(recruiting[0])
    shows(page, 8)
    assert asked(page) == {"flow": [recruiting[0]]}
    assert page.evaluate(ROWS)[0]["top"] == before, "rows stay where they are"
    page.get_by_role("searchbox", name="Search").press_sequentially("naka")
    shows(page, 4)
    assert asked(page) == {"flow": [recruiting[0]], "text": ["naka"]}
    assert page.evaluate("document.activeElement.id") == "text"
    assert page.evaluate("document.querySelector('form.export').action").endswith(f"text=naka&flow={recruiting[0]}")
    page.reload()
    shows(page, 4)
    page.wait_for_selector(".all:not(.waiting)", state="attached")
    assert page.get_by_role("searchbox", name="Search").input_value() == "naka"
    page.go_back()
    shows(page, 8)
    assert page.get_by_role("searchbox", name="Search").input_value() == ""
    page.go_forward()
    shows(page, 4)
    page.get_by_role("link", name=f"Remove the filter Flow: {TITLES[0]}").click()
    shows(page, 8)
    assert asked(page) == {"text": ["naka"]}
    assert page.locator("#flow").input_value() == ""
    page.get_by_role("link", name="Clear all").click()
    shows(page, 16)
    assert asked(page) == {}
    page.get_by_role("button", name="More filters").click()
    assert_accessible(page)
    page.get_by_label("Status is not").select_option("invited")
    shows(page, 0)
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="More filters (1)").wait_for()
    page.get_by_text("No candidates match this filter").wait_for()
    page.get_by_role("link", name="This week").click()
    shows(page, 16)


def test_headers_sort_without_a_new_page(listed: Callable[..., Any]) -> None:
    page = listed()
    page.evaluate("document.body.dataset.same = 'yes'")
    for order, first in (("ascending", "Ada Lindqvist"), ("descending", "Hal Nakamura")):
        page.get_by_role("link", name="Name", exact=True).press("Enter")
        page.locator(f"th[aria-sort={order}] a", has_text="Name").wait_for()
        assert names(page)[0] == first
        assert page.evaluate(FOCUSED) == "Name"
    assert page.evaluate("document.body.dataset.same") == "yes"


def test_rows_are_reached_selected_and_opened_by_keys(listed: Callable[..., Any]) -> None:
    page = listed("order=name")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == "Ada Lindqvist"
    for key in "jjk":
        page.keyboard.press(key)
    assert page.evaluate(FOCUSED) == "Ben Lindqvist"
    assert page.evaluate("getComputedStyle(document.activeElement.closest('tr')).outlineStyle") == "solid"
    for key in "xjx":
        page.keyboard.press(key)
    page.get_by_text("2 selected").wait_for()
    assert_accessible(page)
    page.keyboard.press("x")
    page.get_by_text("1 selected").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("jx ")
    assert page.get_by_role("searchbox", name="Search").input_value() == "jx "
    shows(page, 0)
    page.get_by_role("searchbox", name="Search").fill("cleo")
    shows(page, 2)
    page.keyboard.press("Tab")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") == "flow", "a select has its own keys"
    page.locator("[data-live=count]").focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: urlsplit(url).path.count("/") == 2)
    page.go_back()
    shows(page, 2)


def test_without_scripts_filters_sorting_and_bulk_changes_work(
    listed: Callable[..., Any], recruiting: list[str]
) -> None:
    for size in (PHONE, DESKTOP):
        page = listed(viewport=size, java_script_enabled=False)
        if size is PHONE:
            page.get_by_role("button", name="Search and filter").click()
        page.locator("#flow").select_option(recruiting[1])
        page.get_by_role("button", name="Apply filters").first.click()
        shows(page, 8)
        page.locator(".bulk").wait_for(state="hidden")
        page.get_by_role("checkbox", name="Select Ben Lindqvist").check()
        page.locator("#bulk-kind").select_option("tag")
        page.locator("#bulk-tag").fill(f"silent {size['width']}")
        page.get_by_role("button", name="Apply action", exact=True).click()
        page.get_by_role("heading", name="1 of 1 changed").wait_for()
    page.goto(page.url.split("/candidates")[0] + "/candidates")
    page.get_by_role("link", name="Name", exact=True).click()
    page.wait_for_url(lambda url: "order" in parse_qs(urlsplit(url).query))
    assert names(page)[0] == "Ada Lindqvist"


def test_the_menu_of_a_row_opens_by_key_and_leads_back(listed: Callable[..., Any]) -> None:
    page = listed("text=ada")
    opener = page.get_by_role("link", name="Actions for Ada Lindqvist")
    opener.focus()
    page.keyboard.press("Enter")
    menu = page.get_by_role("dialog", name="Ada Lindqvist")
    menu.get_by_role("link", name="Open candidate").wait_for()
    assert page.evaluate(FOCUSED) == "Open candidate"
    assert "/interview/api/" in menu.get_by_label("Invite link").input_value()
    assert_accessible(page)
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Actions for Ada Lindqvist"
    page.keyboard.press("Enter")
    menu.get_by_label("Extend the link to").select_option("60")
    menu.get_by_role("button", name="Extend link").click()
    page.get_by_text("Ada Lindqvist's link works until").wait_for()
    assert "text=ada" in page.url


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False, "viewport": PHONE}])
def test_a_message_is_written_with_and_without_scripts(listed: Callable[..., Any], options: dict[str, Any]) -> None:
    page = listed("", **options)
    for box in page.locator('[name="id"]').all()[:2]:
        box.check()
    page.get_by_role("button", name="Write message").click()
    page.get_by_label("Template").select_option("Next steps")
    page.get_by_role("button", name="Use template").click()
    page.get_by_text("1 of 2").wait_for()
    page.get_by_label("Subject").fill("A word about {title}")
    page.get_by_label("Subject").press("Enter")  # shows the preview, and keeps the text
    page.get_by_text("A word about", exact=False).first.wait_for()
    assert page.get_by_label("Subject").input_value() == "A word about {title}"
    page.get_by_role("button", name="Next").click()
    page.get_by_text("2 of 2").wait_for()
    if not options:  # axe is a script
        assert_accessible(page)
    assert page.locator("html").evaluate("(page) => page.scrollWidth <= page.clientWidth")


def test_a_list_that_cannot_be_fetched_is_opened_as_a_page(listed: Callable[..., Any]) -> None:
    page = listed()
    page.context.clear_cookies()
    page.locator("#status").select_option("invited")
    page.wait_for_url("**/sign-in**")
    wait_until(lambda: "candidates" in page.url, seconds=20, what="the sign-in page knows the way back")
