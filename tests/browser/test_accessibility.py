"""WCAG 2.2 AA on the candidate's pages: one check for each claim of the accessibility statement, in every state.

``app/conversation/pages/accessibility.py`` has the claims. What holds in every state is checked there by the
checks of wcag.py; what needs a journey has a test of its own, marked with the claim that it holds.
"""

from collections.abc import Callable
from typing import Any

import pytest

from app.conversation.pages.accessibility import CLAIMS

from .fake_server import Running
from .states import STATES, checked
from .test_candidate_page import phase, start_writing, until
from .wcag import EVERYWHERE, PHONE, hold, measured

JOURNEYS: dict[str, str] = {}


def journey(claim: str) -> Callable[[Any], Any]:
    """A test that holds a claim by going through pages."""

    def kept(test: Any) -> Any:
        JOURNEYS[claim] = test.__name__
        return test

    return kept


@pytest.fixture
def phone(chromium: Any, watch: Callable[[Any], Any]) -> Any:
    """A page of a phone's size."""
    context = chromium.new_context(viewport=PHONE, color_scheme="light")
    yield watch(context.new_page())
    context.close()


@pytest.mark.parametrize("state", STATES)
def test_every_claim_holds_in_every_state(phone: Any, server: Running, state: str) -> None:
    STATES[state](phone, server)
    hold(phone)


def test_every_claim_has_a_check_and_every_check_is_a_claim() -> None:
    assert sorted([*EVERYWHERE, *JOURNEYS]) == sorted(claim.id for claim in CLAIMS)
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)


# --- journeys ------------------------------------------------------------------------------------------------------


def go_to(page: Any, selector: str) -> None:
    """Press Tab until the element has the focus; each stop on the way is seen, framed and not covered."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement?.matches(wanted)", selector):
            return
    raise AssertionError(f"the Tab key never reached {selector}")


def progress(page: Any, text: str) -> None:
    until(page, f"document.querySelector('[data-text=progress]').textContent === '{text}'", seconds=40)


@journey("keyboard")
def test_a_whole_interview_is_taken_with_the_keyboard(phone: Any, server: Running) -> None:
    page = phone
    server.story.questions = ("One?", "Two?", "Three?")
    page.goto(server.page)
    go_to(page, "#consent")
    page.keyboard.press("Space")
    go_to(page, "[data-do=next]")
    page.keyboard.press("Enter")
    go_to(page, "#first_name")
    page.keyboard.type("Ada")
    go_to(page, "[data-do=check]")
    page.keyboard.press("Enter")
    until(page, "!document.querySelector('[data-do=start]').disabled")
    go_to(page, "[data-do=start]")
    page.keyboard.press("Enter")
    phase(page, "listening", "answering")
    go_to(page, "[data-do=finished]")
    page.keyboard.press("Enter")
    progress(page, "Question 2 of 3")
    phase(page, "listening", "answering")
    go_to(page, "[data-do=write]")
    page.keyboard.press("Space")
    until(page, "document.activeElement.id === 'answer'")
    page.keyboard.type("I built a bridge.")
    go_to(page, "[data-do=send]")
    page.keyboard.press("Enter")
    progress(page, "Question 3 of 3")
    until(page, "document.querySelector('[data-part=talk]').dataset.phase === 'listening'")
    go_to(page, "[data-do=end]")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="hidden")
    assert page.evaluate("document.activeElement.dataset.do") == "end"
    page.keyboard.press("Enter")
    go_to(page, "[data-do=end-yes]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Thank you')", timeout=30_000)
    kinds = [turn["kind"] for turn in server.story.turns]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert {"answer", "text"} <= set(kinds)


@journey("focus-visible")
def test_the_focus_is_always_seen(phone: Any, server: Running) -> None:
    for way in ("invitation", "writing", "the candidate's turn", "end dialog", "statement"):
        STATES[way](phone, server)
        for _ in range(25):
            phone.keyboard.press("Tab")
            if phone.evaluate("document.activeElement === document.body || document.activeElement.matches('iframe')"):
                continue  # the browser's own bar comes after the last element
            assert measured(phone, "focused") == [], way
        server.story.stage, server.story.turn, server.story.at = "live", 1, -1
        server.story.view, server.story.prompt = "invitation", None
        phone.goto("about:blank")  # a page that is loaded once more shows the step it was at, and what was entered


WATCH_FOCUS = """() => {
    window.lost = [];
    setInterval(() => {
      if (document.activeElement === document.body) window.away = (window.away ?? 0) + 1; else window.away = 0;
      const phase = document.querySelector('[data-part=talk]').dataset.phase;
      if (window.away === 6) window.lost.push(`${phase} after ${window.was}`);
      if (!window.away) window.was = document.activeElement.outerHTML.slice(0, 120);
    }, 50);
}"""


@journey("focus")
def test_the_focus_is_never_lost(phone: Any, server: Running) -> None:
    page = phone
    server.story.questions = tuple(f"Number {n}?" for n in range(6))
    checked(page, server)
    page.click("[data-do=start]")
    phase(page, "speaking", "listening", "answering")
    page.evaluate(WATCH_FOCUS)

    def act(action: Callable[[], object], then: str = "") -> None:
        action()
        if then:
            progress(page, then)
        page.wait_for_timeout(500)  # longer than the watch needs
        assert page.evaluate("window.lost") == []
        assert page.evaluate("document.activeElement !== document.body")
        phase(page, "listening", "answering")

    act(lambda: phase(page, "listening", "answering"))
    act(lambda: page.click("[data-do=finished]"), "Question 2 of 6")
    act(lambda: page.click("[data-do=repeat]"))
    act(lambda: page.click("[data-do=skip]"), "Question 3 of 6")
    act(lambda: page.click("[data-do=write]"))
    page.fill("#answer", "Yes.")
    act(lambda: page.click("[data-do=send]"), "Question 4 of 6")
    act(lambda: page.click("[data-do=write]"))
    act(lambda: page.click("[data-do=end]") or page.click("[data-do=stay]"))
    act(lambda: page.click("[data-do=help]") or page.keyboard.press("Escape"))
    page.click("[data-do=pause]")
    phase(page, "paused")
    act(lambda: page.click("[data-do=go-on]"))
    page.click("text=Add a document")
    page.set_input_files("#document", {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"})
    page.wait_for_selector(".documents li")
    act(lambda: page.click(".documents button"))
    page.click("[data-do=end]")
    page.click("[data-do=end-yes]")
    page.wait_for_selector("h1:text('Thank you')", timeout=30_000)


LISTEN = """
    window.heard = [];
    document.addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
        for (const region of document.querySelectorAll('[role=status], [aria-live=polite], [role=alert]')) {
            const text = region.textContent.trim();
            if (!region.checkVisibility() || region.said === text) continue;
            region.said = text;
            if (text) window.heard.push(text);
        }
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true }));
"""


def in_order(wanted: list[str], heard: list[str]) -> bool:
    at = iter(heard)
    return all(any(line.startswith(want) for line in at) for want in wanted)


@journey("announced")
def test_screen_readers_are_told_each_state_and_question(phone: Any, server: Running) -> None:
    page = phone
    page.add_init_script(LISTEN)
    server.story.questions = ("What did you build?", "And today?", "Last one?")
    checked(page, server)
    page.click("[data-do=start]")
    phase(page, "listening", "answering")
    page.click("[data-do=finished]")
    progress(page, "Question 2 of 3")
    phase(page, "listening", "answering")
    heard = page.evaluate("window.heard")
    wanted = ["All set.", "Speaking", "Listening", "One moment: the reply is on its way.", "Speaking", "Listening"]
    assert in_order(wanted, heard), heard


@journey("announced")
def test_screen_readers_are_told_each_question_that_is_not_spoken(phone: Any, server: Running) -> None:
    phone.add_init_script(LISTEN)
    server.story.questions = ("What did you build?", "And today?")
    start_writing(phone, server)
    phone.fill("#answer", "A bridge.")
    phone.click("[data-do=send]")
    progress(phone, "Question 2 of 2")
    heard = phone.evaluate("window.heard")
    assert in_order(["What did you build?", "One moment: the reply is on its way.", "And today?"], heard), heard
    assert in_order(["Your turn", "One moment: the reply is on its way.", "Your turn"], heard), heard


@journey("errors")
def test_an_error_is_said_and_found(phone: Any, server: Running) -> None:
    STATES["invitation with errors"](phone, server)
    summary = phone.locator("[role=alert]")
    assert "This is not an email address." in summary.inner_text()
    field = phone.locator("#email_address")
    assert field.get_attribute("aria-invalid") == "true"
    note = phone.locator(f"#{field.get_attribute('aria-describedby').split()[-1]}")
    assert "This is not an email address." in note.inner_text()
    summary.get_by_role("link", name="This is not an email address.").click()
    assert phone.evaluate("document.activeElement.id") == "email_address"
    assert phone.input_value("#first_name") == "Ada"


@journey("in-words")
def test_the_agent_is_read_as_well_as_heard_and_can_be_stopped(phone: Any, server: Running) -> None:
    STATES["the agent speaks"](phone, server)
    assert phone.inner_text("[data-text=question]") == server.story.questions[0]
    phone.click("[data-do=finished]")
    phase(phone, "listening", "answering")


@journey("in-writing")
def test_writing_takes_over_in_the_middle_of_a_spoken_question(phone: Any, server: Running) -> None:
    STATES["the agent speaks"](phone, server)
    phone.click("[data-do=write]")
    phone.fill("#answer", "In writing, please.")
    phone.click("[data-do=send]")
    progress(phone, "Question 2 of 2")
    assert server.story.turns[-1]["text"] == "In writing, please."


@journey("help")
def test_help_is_at_the_same_place_throughout(phone: Any, server: Running) -> None:
    page = phone
    checked(page, server)
    page.click("[data-do=start]")
    seen = []

    def look() -> None:
        help_is_at = page.locator("[data-do=help]").bounding_box()
        seen.append(
            (help_is_at, page.evaluate("[...document.querySelectorAll('.control')].map((one) => one.dataset.do)"))
        )

    for names in (("speaking",), ("listening", "answering")):
        phase(page, *names)
        look()
    page.click("[data-do=write]")
    phase(page, "listening")
    look()
    page.click("[data-do=pause]")
    phase(page, "paused")
    look()
    assert all(one == seen[0] for one in seen), seen
    page.click("[data-do=help]")
    assert page.inner_text("[data-part=help-dialog] h2") == "Having trouble?"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.do") == "help"
