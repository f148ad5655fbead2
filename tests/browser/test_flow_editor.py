"""The editor of a flow in Chromium: questions are put in order by mouse, keys and buttons, and nothing is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.outbound.receiver import Receiver

from .conftest import Installation, assert_accessible

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]


@pytest.fixture
def editor(installation: Installation, signed_in: Callable[..., Any]) -> Callable[..., Any]:
    """``editor(viewport=…)``: a signed-in page that edits a flow of three questions; without scripts if told so."""

    def opened(**options: Any) -> Any:
        made = installation.api(
            "POST",
            "/interview-flows",
            json={
                "org_name": "Example Freight",
                "title": "Driver",
                "questions": ["One?", "Two?", "Three?"],
                "team_id": installation.team_id,
            },
        )
        page = signed_in(f"/flows/{made['interview_flow_id']}/edit", **options)
        if options.get("java_script_enabled", True):
            page.wait_for_selector(".can-drag")
        return page

    return opened


def typed(page: Any) -> list[str]:
    boxes = page.locator(".questions textarea")
    return [text for text in (boxes.nth(n).input_value() for n in range(boxes.count())) if text]


def saved(page: Any) -> list[str]:
    page.click("button.button:has-text('Save changes')")
    page.wait_for_selector("text=The changes were saved.")
    found: list[str] = page.locator("main ol li").all_inner_texts()
    return found


def drag(page: Any, number: int, to: int, *, drop: bool = True) -> None:
    """Take question ``number`` by its handle and carry it past the middle of the question at ``to``."""
    grips, items = page.locator(".grip"), page.locator(".question-item")
    grips.nth(number).scroll_into_view_if_needed()
    start, target = grips.nth(number).bounding_box(), items.nth(to).bounding_box()
    x = start["x"] + start["width"] / 2
    page.mouse.move(x, start["y"] + start["height"] / 2)
    page.mouse.down()
    for share in (0.3, 0.6, 1.0):
        y = target["y"] + target["height"] * (0.8 if to > number else 0.2)
        page.mouse.move(x, start["y"] + (y - start["y"]) * share)
    if drop:
        page.mouse.up()


@pytest.mark.parametrize("width", [1280, 360])
def test_questions_are_put_in_order_in_every_way(editor: Callable[..., Any], width: int) -> None:
    page = editor(viewport={"width": width, "height": 900})
    assert_accessible(page)
    page.click("[aria-label='Move question 1 down']")
    assert typed(page) == ["Two?", "One?", "Three?"]
    assert page.evaluate("document.activeElement.ariaLabel") == "Move question 2 down"  # the button went along
    note = page.inner_text("[data-module=questions] [data-note]")
    assert note == "Question 1 is now question 2. The flow is not saved yet."
    page.focus("[aria-label='Move question 3']")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert typed(page) == ["Three?", "Two?", "One?"]
    assert page.evaluate("document.activeElement.ariaLabel") == "Move question 1"
    page.keyboard.press("ArrowUp")  # nothing is above the first
    drag(page, 0, 2)
    assert typed(page) == ["Two?", "One?", "Three?"]
    drag(page, 2, 0, drop=False)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert typed(page) == ["Two?", "One?", "Three?"]
    assert_accessible(page)
    assert saved(page) == ["Two?", "One?", "Three?"]


def test_questions_are_added_up_to_twenty_and_removed_with_a_way_back(editor: Callable[..., Any]) -> None:
    page = editor(viewport={"width": 1280, "height": 900})
    page.click("[aria-label='Remove question 2']")
    assert typed(page) == ["One?", "Three?"]
    assert page.inner_text("[data-count]") == "2"
    page.click("text=Undo")
    assert typed(page) == ["One?", "Two?", "Three?"]
    while page.is_visible("[name=more]"):
        page.click("[name=more]")
        page.keyboard.type("One more?")
    assert len(typed(page)) == 19  # the empty field that stood there is still empty
    assert page.locator(".questions textarea").count() == 20
    assert page.inner_text("[data-count]") == "19"
    assert len(saved(page)) == 19


def test_the_buttons_work_without_scripts(editor: Callable[..., Any]) -> None:
    page = editor(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page.fill("#questions-0", "First, changed?")
    for button, note, questions in (
        ("Move question 1 down", "Question 1 is now question 2.", ["Two?", "First, changed?", "Three?"]),
        ("Remove question 3", "Question 3 was removed.", ["Two?", "First, changed?"]),
    ):
        page.click(f"[aria-label='{button}']")
        page.wait_for_selector(f"text={note}")  # the next page has begun to arrive
        page.wait_for_load_state()
        assert typed(page) == questions
    assert saved(page) == ["Two?", "First, changed?"]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_criteria_are_added_moved_and_kept_with_what_else_was_typed(editor: Callable[..., Any], scripts: bool) -> None:
    page = editor(viewport={"width": 360, "height": 740}, java_script_enabled=scripts)
    page.fill("#title", "Night driver")
    for number, name in enumerate(("Drives safely", "On time")):
        page.locator("[name=criterion][value=add]").press("Enter")
        page.wait_for_selector(f"#criteria-{number}-name:focus")
        page.keyboard.type(name)
    page.select_option("#criteria-1-weight", "3")
    page.locator("[aria-label='Move criterion 2 up']").press("Enter")
    page.wait_for_selector("#criteria-0-name:focus")
    assert [page.input_value(f"#criteria-{number}-name") for number in (0, 1)] == ["On time", "Drives safely"]
    assert page.inner_text("#criteria [data-note]") == "Criterion 2 is now criterion 1. The flow is not saved yet."
    assert page.input_value("#criteria-0-weight") == "3"
    if scripts:
        assert_accessible(page)
    saved(page)
    assert page.inner_text("h1") == "Night driver"
    assert "On time Weight 3" in page.inner_text("main")
    page.goto(f"{page.url}/edit")
    page.locator("[aria-label='Remove criterion 1']").press("Enter")
    page.wait_for_selector("text=Criterion 1 was removed.")
    assert page.input_value("#criteria-0-name") == "Drives safely"


def test_a_flow_is_duplicated_and_the_copy_edited(editor: Callable[..., Any]) -> None:
    page = editor(viewport={"width": 1280, "height": 900})
    page.goto(page.url.removesuffix("/edit"))
    page.click("text=Duplicate")
    page.wait_for_selector("text=This is a copy of “Driver”")
    assert page.input_value("#title") == "Copy of Driver"
    page.click("[aria-label='Move question 3 up']")
    assert saved(page) == ["One?", "Three?", "Two?"]


@pytest.mark.parametrize("width", [1280, 360])
def test_a_test_event_is_sent_from_the_page_by_keyboard(
    editor: Callable[..., Any], installation: Installation, width: int
) -> None:
    with Receiver() as receiver:
        page = editor(viewport={"width": width, "height": 900})
        page.fill("#webhook_url", receiver.url)
        page.keyboard.press("Enter")
        page.click("text=Send a test event")
        assert_accessible(page)
        page.select_option("#event", "candidate_status_updated")
        page.focus("text=Send test event")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Your receiver responded with 200")
        assert_accessible(page)
        assert b'"candidate_status_updated"' in receiver.bodies[0]


def test_a_form_with_changes_is_not_left_without_a_question(editor: Callable[..., Any]) -> None:
    page, asked = editor(viewport={"width": 1280, "height": 900}), []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    here = page.url

    def leaves() -> bool:
        page.locator("nav a", has_text="Insights").click(no_wait_after=True)
        page.wait_for_timeout(300)
        return bool(page.url != here)

    page.fill("#title", "Night driver")
    assert not leaves()
    assert page.input_value("#title") == "Night driver"
    page.fill("#title", "Driver")
    page.locator(".grip").first.press("ArrowDown")
    assert not leaves(), "the order of the questions counts"
    page.locator(".grip").nth(1).press("ArrowUp")
    page.fill("#title", "   ")
    page.click("button.button:has-text('Save changes')")
    page.locator(".error-summary").wait_for()
    here = page.url
    page.locator("h1").click()
    assert not leaves(), "what came back with an error is not saved either"
    assert asked == ["beforeunload"] * 3
    page.fill("#title", "Driver")
    saved(page)
    page.locator("nav a", has_text="Insights").click()
    page.wait_for_url("**/insights*")
    assert len(asked) == 3


def test_the_editor_lists_what_the_agent_can_read_out(editor: Callable[..., Any]) -> None:
    page = editor(viewport={"width": 1280, "height": 900})
    page.fill("#additional_info", "The office is in Bergen. We guarantee you the job.")
    page.wait_for_selector("#readable li")
    assert page.locator("#readable li").all_inner_texts()[0] == "The office is in Bergen."
    assert "Never read out" in page.locator("#readable li").nth(1).inner_text()
    assert_accessible(page)
    page.check("#is_background_private")
    page.wait_for_selector("#readable >> text=The background is private")
    saved(page)
    assert "Background, not read out to candidates" in page.inner_text("main")


def test_without_scripts_a_button_shows_what_the_agent_can_read_out(editor: Callable[..., Any]) -> None:
    page = editor(viewport={"width": 360, "height": 740}, java_script_enabled=False)
    page.fill("#additional_info", "The office is in Bergen.")
    with page.context.expect_page() as opened:
        page.click("text=Show what the agent can read out")
    assert "The office is in Bergen." in opened.value.inner_text("#readable")
    assert page.input_value("#additional_info") == "The office is in Bergen."


@pytest.mark.parametrize("width", [1280, 360])
def test_questions_come_from_the_bank_and_go_there(editor: Callable[..., Any], width: int) -> None:
    page = editor(viewport={"width": width, "height": 900})
    kept = f"What would you change at {width} pixels?"
    page.fill("#questions-1", kept)
    page.click("[aria-label='Save question 2 to bank']")
    page.wait_for_selector("[data-note]:has-text('Question 2 was saved to the bank')")
    page.click("[aria-label='Save question 2 to bank']")
    page.wait_for_selector("[data-note]:has-text('is already in this team')")
    page.fill("#questions-1", "Two?")
    page.click("button:has-text('Add from bank')")
    page.fill("[aria-label='Search the question bank']", f"change {width}")
    page.wait_for_selector("[data-told]:text-is('1 question')")
    assert_accessible(page)
    page.keyboard.press("Enter")  # presses nothing of the form behind
    page.click("[data-bank-add]")
    page.wait_for_selector("[data-told]:has-text('Added as question 4.')")
    page.keyboard.press("Escape")
    assert typed(page) == ["One?", "Two?", "Three?", kept]
    assert saved(page) == ["One?", "Two?", "Three?", kept]


def test_the_preview_follows_what_is_typed(editor: Callable[..., Any]) -> None:
    page = editor(viewport={"width": 1280, "height": 800})
    page.wait_for_selector("#appearance-page:has-text('Example Freight invites you to an interview')")
    page.fill("#title", "Night driver")
    page.wait_for_selector("#appearance-page:has-text('Night driver')")
    page.select_option("#language", "ar-AE")
    page.wait_for_selector("#appearance-page[dir=rtl]")
    page.click("[aria-label='Move question 2 up']")
    page.wait_for_selector("#appearance-page:has-text('Two?')")
    assert_accessible(page)
    page.set_viewport_size({"width": 360, "height": 740})
    assert not page.is_visible("#appearance")
    page.click("button:text-is('Preview')")
    assert page.is_visible("#appearance-page")
    assert_accessible(page)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Preview"


def test_the_second_of_two_people_reads_what_the_first_has_saved(
    editor: Callable[..., Any], signed_in: Callable[..., Any]
) -> None:
    page = editor(viewport={"width": 1280, "height": 900})
    other = signed_in(f"/{page.url.split('/', 3)[3]}", viewport={"width": 1280, "height": 900})
    other.fill("#title", "Night driver")
    saved(other)
    page.fill("#intro", "Welcome.")
    page.click("button.button:has-text('Save changes')")
    notice = page.locator(".notice[role=alert]", has_text="Someone else changed this flow")
    notice.wait_for()
    assert "Night driver" in notice.inner_text()
    assert page.input_value("#intro") == "Welcome."
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page)
    saved(page)
