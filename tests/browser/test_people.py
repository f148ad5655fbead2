"""People and their way in, in a real browser on the real platform, by keyboard."""

import re
from collections.abc import Iterator
from typing import Any

import pyotp
import pytest

from .conftest import PASSWORD, Installation, assert_accessible

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]


@pytest.fixture
def page(chromium: Any, watch: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    yield watch(context.new_page())
    context.close()


def sign_in(page: Any, installation: Installation, email: str, password: str = PASSWORD) -> None:
    page.goto(f"{installation.url}/sign-in")
    page.wait_for_selector("#email:focus")  # it gets the focus by itself, once the page is drawn
    page.keyboard.type(email)
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    page.keyboard.press("Enter")


def accessible(page: Any) -> None:
    """In both widths."""
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page)


def test_two_step_sign_in_from_setting_it_up_to_turning_it_off(installation: Installation, page: Any) -> None:
    sign_in(page, installation, installation.email)
    page.wait_for_selector(".sidebar")
    page.locator("a", has_text="Your profile").press("Enter")
    page.locator("h1", has_text="Your profile").wait_for()
    accessible(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("main a", has_text="Two-step sign-in").press("Enter")
    accessible(page)
    page.locator("button", has_text="Set up").press("Enter")
    secret = page.input_value("#totp-key")
    drawn = page.locator(".qr svg").bounding_box()
    assert drawn["width"] > 150
    assert drawn["width"] == drawn["height"]
    accessible(page)
    page.focus("#code")
    page.keyboard.type("12345")
    page.keyboard.press("Enter")
    page.locator(".error-summary", has_text="This code does not work.").wait_for()
    accessible(page)
    page.focus("#code")
    page.keyboard.type(pyotp.TOTP(secret).now())
    page.keyboard.press("Enter")
    page.locator("h2", has_text="Your recovery codes").wait_for()
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    assert all(re.fullmatch(r"[a-z2-9]{5}-[a-z2-9]{5}", code) for code in codes)
    accessible(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("button", has_text="Sign out").first.press("Enter")
    page.locator("h1", has_text="Sign in").wait_for()
    sign_in(page, installation, installation.email)
    page.locator("h1", has_text="Enter the code").wait_for()
    accessible(page)
    page.wait_for_selector("#code:focus")
    page.keyboard.type(codes[0])
    page.keyboard.press("Enter")
    page.wait_for_selector(".sidebar", state="attached")
    page.goto(f"{installation.url}/second-factor")
    page.locator("main", has_text="9 recovery codes left").wait_for()
    accessible(page)
    page.focus("#code")
    page.keyboard.type(codes[1])
    page.locator("button", has_text="Turn off").press("Enter")
    page.locator("[role=status]", has_text="Two-step sign-in is off.").wait_for()


def test_somebody_is_invited_and_chooses_a_password(
    installation: Installation, page: Any, chromium: Any, watch: Any
) -> None:
    sign_in(page, installation, installation.email)
    page.wait_for_selector(".sidebar")
    page.goto(f"{installation.url}/team")
    page.locator("form[action='/team/members'] [name=email]").fill("new@freight.example")
    page.locator("button", has_text="Add member").press("Enter")
    link = page.input_value("#new-link")
    assert link.startswith(f"{installation.url}/choose-password/")
    accessible(page)
    page.goto(f"{installation.url}/team")
    page.locator("tr", has_text="new@freight.example").locator(".badge", has_text="Invited").wait_for()
    accessible(page)
    theirs = watch(chromium.new_context().new_page())
    theirs.goto(link)
    accessible(theirs)
    theirs.focus("#full_name")
    theirs.keyboard.type("New Person")
    theirs.keyboard.press("Tab")
    theirs.keyboard.type("short")
    theirs.keyboard.press("Enter")
    theirs.locator(".error-summary", has_text="12 to 128 characters").wait_for()
    accessible(theirs)
    theirs.fill("#password", "seven lanterns in fog")
    theirs.keyboard.press("Enter")
    theirs.wait_for_selector(".sidebar", state="attached")
    theirs.goto(link)
    theirs.locator("h1", has_text="This link no longer works").wait_for()
    accessible(theirs)
    theirs.context.clear_cookies()
    theirs.goto(f"{installation.url}/sign-in")
    theirs.locator("a", has_text="Forgot your password?").press("Enter")
    theirs.locator("main", has_text="Ask an administrator").wait_for()
    accessible(theirs)
    theirs.context.close()
