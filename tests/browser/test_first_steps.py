"""A new organization in Chromium: from signing in to the first link, by as few clicks as promised, on every screen."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .conftest import PASSWORD, ROOT, Installation, assert_accessible

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]

MOST_CLICKS = 4


class Newcomer:
    """The administrator of an organization with nothing in it. ``click`` counts; typing and Enter are no clicks."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url, self.clicks = page, url, 0

    def click(self, text: str, *, role: str = "button", exact: bool = True) -> None:
        self.page.get_by_role(role, name=text, exact=exact).first.click()
        self.clicks += 1


@pytest.fixture
def newcomer(
    chromium: Any, installation: Installation, watch: Callable[[Any], Any], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Newcomer]]:
    """``newcomer(**context)``: at the sign-in form, with address and password filled in."""
    contexts: list[Any] = []

    def arrived(**options: Any) -> Newcomer:
        email = f"new{len(contexts)}-{abs(hash(request.node.name))}@newcomer.example"
        found = ("Newcomer Ltd", "--team", "Main", "--admin-email", email, "--admin-password", PASSWORD, "--json")
        env = {**os.environ, "DATA_DIR": str(installation.data), "DATABASE_URL": "", "REDIS_URL": ""}
        command = [sys.executable, "-m", "app.operations.cli", "org", "create", *found]
        made = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, check=True)
        assert json.loads(made.stdout)["organization_id"]
        contexts.append(chromium.new_context(**options))
        page = watch(contexts[-1].new_page())
        page.goto(f"{installation.url}/sign-in")
        page.fill("#email", email)
        page.fill("#password", PASSWORD)
        return Newcomer(page, installation.url)

    yield arrived
    for context in contexts:
        context.close()


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}, {"color_scheme": "dark"}], ids=str)
def test_from_signing_in_to_a_link_for_everyone(newcomer: Callable[..., Newcomer], options: dict[str, Any]) -> None:
    new = newcomer(viewport={"width": 1280, "height": 800}, **options)
    new.click("Sign in")
    new.page.wait_for_url("**/dashboard")
    if options.get("java_script_enabled", True):
        assert_accessible(new.page)
    new.page.select_option("#template", "team-leader")
    new.click("Create flow")
    new.page.locator("h1", has_text="Team leader").wait_for()
    new.click("Turn on the link")
    link = new.page.input_value("#share-link")
    assert link.startswith(f"{new.url}/interview/api/open/")
    new.page.locator("[aria-label='QR code of the apply link'] svg").wait_for()
    assert new.clicks <= MOST_CLICKS
    if options.get("java_script_enabled", True):
        assert_accessible(new.page)
    assert new.page.goto(link).status == 200


def test_from_signing_in_to_the_link_of_one_candidate(newcomer: Callable[..., Newcomer]) -> None:
    new = newcomer(viewport={"width": 360, "height": 740})
    new.page.press("#password", "Enter")
    new.page.wait_for_url("**/dashboard")
    assert_accessible(new.page)
    new.click("Create flow")
    new.click("Invite candidates", role="link")
    assert_accessible(new.page)
    new.page.fill("#rows", "Ada Lovelace\tada@candidate.example")
    new.click("Check the list")
    assert_accessible(new.page)
    new.click("Create 1 link")
    link = new.page.input_value("#link-1")
    assert new.clicks <= MOST_CLICKS
    assert_accessible(new.page)
    assert new.page.goto(link).status == 200


def test_the_steps_tick_themselves_off_by_keyboard(newcomer: Callable[..., Newcomer]) -> None:
    new = newcomer(viewport={"width": 1280, "height": 800})
    page = new.page
    page.press("#password", "Enter")
    page.wait_for_url("**/dashboard")
    page.focus("#template")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("h1", has_text="Customer service representative").wait_for()
    page.goto(f"{new.url}/dashboard")
    page.locator("#first-steps", has_text="1 of 4 steps done").wait_for()
    page.get_by_role("link", name="Try it yourself").focus()
    page.keyboard.press("Enter")
    page.check("#consent")
    page.click("[data-do=next]")
    page.check("input[name=mode][value=text]")
    page.click("[data-do=start]")
    page.wait_for_selector("#answer:visible")
    page.goto(f"{new.url}/dashboard")
    page.locator("#first-steps", has_text="2 of 4 steps done").wait_for()
    page.get_by_role("button", name="Turn on the apply link").focus()
    page.keyboard.press("Enter")
    page.locator("#share-link").wait_for()
    page.goto(f"{new.url}/dashboard")
    page.locator("#first-steps", has_text="3 of 4 steps done").wait_for()
    assert_accessible(page)
    page.get_by_role("button", name="Hide these steps").focus()
    page.keyboard.press("Enter")
    page.locator("text=The first steps are hidden.").wait_for()
    assert page.locator("#first-steps").count() == 0


@pytest.mark.parametrize("width", [1280, 360])
def test_templates_and_lists_are_accessible(newcomer: Callable[..., Newcomer], width: int) -> None:
    new = newcomer(viewport={"width": width, "height": 800})
    new.click("Sign in")
    new.page.goto(f"{new.url}/flows/templates")
    assert_accessible(new.page)
    new.page.get_by_role("link", name="Edit first: Pflegefachkraft").click()
    new.page.locator("#title").wait_for()
    assert new.page.input_value("#title") == "Pflegefachkraft"
    assert_accessible(new.page)
    new.page.get_by_role("button", name="Create flow", exact=True).last.click()
    new.page.goto(f"{new.url}/flows")
    assert_accessible(new.page)
    new.page.get_by_role("link", name="Invite candidates: Pflegefachkraft").click()
    assert new.page.locator("#flow option:checked").inner_text() == "Pflegefachkraft"
