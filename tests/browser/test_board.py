"""The pipeline's board in Chromium: cards are moved by mouse, finger, key and menu, and everyone can use it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Installation, assert_accessible

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]
NAMES = ("Ada", "Bob", "Cyd", "Dee")


@pytest.fixture
def recruiting(installation: Installation) -> str:
    """A flow with four candidates whom no other test has moved; its id."""
    flow = installation.api(
        "POST",
        "/interview-flows",
        json={
            "org_name": "Example Freight",
            "title": "Driver",
            "questions": ["Why?"],
            "team_id": installation.team_id,
            "interview_type": "recruitment",
        },
    )
    for name in NAMES:
        installation.api(
            "POST",
            "/interviews",
            json={
                "interview_flow_id": flow["interview_flow_id"],
                "interviewee_email_address": f"{name}@example.com",
                "interviewee_first_name": name,
                "interviewee_last_name": "Example",
            },
        )
    found: str = flow["interview_flow_id"]
    return found


@pytest.fixture
def board(recruiting: str, signed_in: Callable[..., Any]) -> Callable[..., Any]:
    """``board(width=…)``: a signed-in page that shows the board of the flow."""

    def opened(**options: Any) -> Any:
        page = signed_in(f"/candidates/board?flow={recruiting}", **options)
        page.wait_for_selector(".can-drag")
        return page

    return opened


def standing(page: Any) -> dict[str, str]:
    """Where each card is."""
    found: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.lane-card')].map("
        "(card) => [card.dataset.name.split(' ')[0], card.closest('.lane').dataset.status]))"
    )
    return found


def counted(page: Any) -> list[str]:
    found: list[str] = page.locator("[data-count]").all_inner_texts()
    return found


def test_cards_are_moved_in_every_way_and_stay_where_they_were_put(board: Callable[..., Any]) -> None:
    page = board(viewport={"width": 1280, "height": 800})
    assert counted(page) == ["4", "0", "0", "0", "0", "0"]
    card, lane = page.locator(".lane-card", has_text="Ada"), page.locator('.lane[data-status="shortlisted"]')
    card.locator(".small").last.hover()
    page.mouse.down()
    lane.hover()
    page.mouse.up()
    page.get_by_role("dialog", name="Move Ada Example to Shortlisted").wait_for()
    assert_accessible(page)
    page.get_by_label("Note").fill("Strong on the phone")
    page.get_by_role("button", name="Skills match the role").click()
    page.wait_for_selector("[data-note]:has-text('Shortlisted')")
    assert "/candidates/board" in page.url
    page.locator(".lane-card", has_text="Bob").locator("a").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_selector("[data-note]:has-text('Interviewed')")
    assert page.evaluate("document.activeElement.textContent") == "Bob Example"
    page.get_by_role("button", name="Move Cyd Example").click()
    page.get_by_role("dialog", name="Move Cyd Example").get_by_role("button", name="Rejected").click()
    page.get_by_role("dialog", name="Move Cyd Example to Rejected").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("[data-note]:has-text('Cyd Example was not moved')")
    page.get_by_role("button", name="Move Cyd Example").click()
    page.get_by_role("dialog", name="Move Cyd Example").get_by_role("button", name="Rejected").click()
    page.get_by_role("dialog", name="Move Cyd Example to Rejected").wait_for()
    page.keyboard.press("1")
    page.wait_for_selector("[data-note]:has-text('is now in Rejected')")
    assert counted(page) == ["1", "1", "1", "0", "1", "0"]
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("[data-note]:has-text('is back in Invited')")
    page.reload()
    assert standing(page) == {"Ada": "shortlisted", "Bob": "interviewed", "Cyd": "invited", "Dee": "invited"}
    assert_accessible(page)
    page.get_by_role("link", name="Cyd Example").click()
    page.wait_for_selector(".candidate-page.has-keys")
    page.get_by_role("link", name="History").click()
    history = page.get_by_role("region", name="History")
    history.get_by_text("Decision: Skills do not match the role").wait_for()
    history.get_by_text("Withdrawn", exact=True).wait_for()
    page.locator(".drop > summary").click()
    page.locator("#reason").wait_for(state="hidden")  # “invited” takes no reason
    page.get_by_label("New status").select_option("accepted")
    offered = page.locator("#reason optgroup:not([hidden])").evaluate_all("(all) => all.map((one) => one.label)")
    assert offered == ["Reasons to accept"]
    assert_accessible(page)


def test_a_stale_board_moves_nobody_and_says_so(board: Callable[..., Any]) -> None:
    stale, fresh = board(), board()
    fresh.locator(".lane-card", has_text="Dee").locator("a").focus()
    fresh.keyboard.press("Shift+ArrowRight")
    fresh.wait_for_selector("text=Dee Example is now in")
    stale.locator(".lane-card", has_text="Dee").locator("a").focus()
    stale.keyboard.press("Shift+ArrowRight")
    stale.wait_for_selector("text=moved to interviewed in the meantime")
    stale.get_by_role("button", name="Reload the board").click()
    stale.wait_for_selector(".can-drag")
    assert standing(stale)["Dee"] == "interviewed"


def test_on_a_phone_it_scrolls_inside_and_a_held_card_is_dragged(board: Callable[..., Any]) -> None:
    page = board(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    assert_accessible(page)
    page.get_by_role("button", name="Move Cyd Example").tap()
    page.get_by_role("dialog", name="Move Cyd Example").get_by_role("button", name="Withdrawn").tap()
    page.wait_for_selector("text=Cyd Example is now in Withdrawn")
    assert standing(page)["Cyd"] == "withdrawn"
    page.get_by_role("button", name="Undo").tap()
    page.wait_for_selector("text=is back in Invited")


def test_the_statuses_page_is_for_everyone_too(board: Callable[..., Any]) -> None:
    for width in (1280, 360):
        page = board(viewport={"width": width, "height": 800})
        for path in ("statuses", "reasons"):
            page.goto(page.url.split("/candidates")[0] + f"/candidates/{path}")
            assert_accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_list_chooses_many_and_says_what_came_of_each(board: Callable[..., Any]) -> None:
    for width in (360, 1280):
        page = board(viewport={"width": width, "height": 900})
        page.goto(page.url.replace("/board", ""))
        assert page.locator("#bulk-tag").is_hidden()
        page.get_by_label("Select all on this page").check()
        page.get_by_text("4 selected").wait_for()
        page.locator("#bulk-kind").select_option("tag")
        page.locator("#bulk-tag").fill(f"wide {width}")
        page.get_by_role("button", name="Apply to").click()
        page.get_by_role("heading", name="4 of 4 changed").wait_for()
        assert_accessible(page)


def test_nothing_moves_while_board_and_list_are_arriving(board: Callable[..., Any]) -> None:
    page = board(viewport={"width": 1280, "height": 900})
    wide = "document.querySelector('.lane').getBoundingClientRect().width"
    of_all = page.evaluate(wide)
    page.evaluate("[...document.querySelectorAll('.lane')].slice(2).forEach((lane) => lane.remove())")
    assert page.evaluate(wide) == of_all, "lanes that came later would push those that are there"
    page.goto(page.url.replace("/board", ""))
    places = "[...document.querySelectorAll('.people tr, .bulk')].map((one) => one.getBoundingClientRect().y)"
    page.wait_for_selector(".all:not(.waiting)")
    with_script = page.evaluate(places)
    silent = "export default () => {};"
    page.route("**/people.js", lambda route: route.fulfill(content_type="text/javascript", body=silent))
    page.reload()
    assert page.evaluate(places) == with_script


def test_no_column_of_the_list_is_cut_off(board: Callable[..., Any]) -> None:
    page = board(viewport={"width": 1280, "height": 900})
    page.goto(page.url.split("/candidates")[0] + "/candidates?text=Example")
    inside = """() => {
        const right = (element) => element.getBoundingClientRect().right;
        const end = right(document.querySelector(".table-wrap")) + 1;
        return [...document.querySelectorAll("td, th")].every((cell) => right(cell) <= end);
    }"""
    assert page.evaluate(inside)
    page.set_viewport_size({"width": 800, "height": 900})
    assert page.evaluate(inside)
    every = "flow recruiter added interviewed score tags status".replace(" ", "&show=")
    page.goto(page.url + "&show=" + every)
    assert page.evaluate("getComputedStyle(document.querySelector('.table-wrap')).overflowX") == "auto"
    assert_accessible(page)


def test_a_move_of_many_asks_first(board: Callable[..., Any]) -> None:
    page = board(viewport={"width": 1280, "height": 900})
    page.goto(page.url.replace("/board", ""))
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Apply to 4").click()
    page.get_by_role("alert").get_by_text("Choose an action").wait_for()
    page.get_by_label("Select all on this page").check()
    page.locator("#bulk-kind").select_option("move")
    page.locator("#bulk-status").select_option("rejected")
    page.get_by_role("button", name="Apply to 4").click()
    page.get_by_role("heading", name="Move 4 candidates to Rejected?").wait_for()
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page)
    page.get_by_text("No webhook events will be sent").wait_for()
    page.get_by_role("button", name="Move 4 candidates to Rejected").click()
    page.get_by_role("heading", name="4 of 4 changed").wait_for()


def test_the_export_says_how_far_it_is_and_that_it_broke_off(board: Callable[..., Any]) -> None:
    page = board(viewport={"width": 1280, "height": 900})
    page.goto(page.url.replace("/board", ""))
    export = page.get_by_role("button", name="Export 4 candidates as CSV")
    with page.expect_download() as download:
        export.click()
    rows = Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert (len(rows), download.value.suggested_filename[-4:]) == (5, ".csv")
    page.get_by_text("The file is in your downloads.").wait_for()
    page.route("**/candidates/export*", lambda route: route.abort())
    export.click()
    page.get_by_text("The connection was lost and no file was saved. Try again.").wait_for()
    assert_accessible(page)
    page.unroute("**/candidates/export*")
    asked = "**/candidates/export*"
    page.route(asked, lambda route: route.fulfill(status=503, content_type="text/html", body="<h1>Try later</h1>"))
    export.click()
    page.get_by_role("heading", name="Try later").wait_for()


def test_buttons_keep_off_the_table_and_times_are_no_boxes(board: Callable[..., Any]) -> None:
    page = board(viewport={"width": 1280, "height": 900})
    page.goto(page.url.split("/candidates")[0] + "/candidates/invite")
    page.fill("[name=rows]", "zed@example.com\nyan@example.com")
    page.get_by_role("button", name="Check the list").click()
    page.get_by_role("button", name="Create 2 links").wait_for()
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page)
    buttons, table = (page.locator(f"main {one}").bounding_box() for one in (".form .buttons", ".table-wrap"))
    assert table["y"] - buttons["y"] - buttons["height"] >= 12
    page.goto(page.url.replace("/invite", "/triage"))
    style = """() => {
        const time = Object.assign(document.createElement("button"), { className: "link", textContent: "0:12" });
        document.querySelector("main").append(time);
        const { borderTopWidth, textDecorationLine } = getComputedStyle(time);
        return [borderTopWidth, textDecorationLine];
    }"""
    page.add_style_tag(url=page.url.split("/candidates")[0] + "/static/css/interviews.css")
    assert page.evaluate(style) == ["0px", "underline"]
