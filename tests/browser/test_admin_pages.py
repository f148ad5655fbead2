"""Pages of administrators in Chromium: wide and narrow, by keyboard alone, with nothing that axe-core minds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Installation, assert_accessible, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]


@pytest.fixture
def admin(signed_in: Callable[..., Any]) -> Any:
    """A page of the signed-in administrator."""
    return signed_in("/dashboard")


def accessible(page: Any) -> None:
    """In both widths."""
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert_accessible(page)


def tab_to(page: Any, selector: str) -> None:
    """With the tabulator alone."""
    for _ in range(80):
        page.keyboard.press("Tab")
        # A page that is on its way to the next one has no active element.
        if page.evaluate("chosen => document.activeElement?.matches(chosen)", selector):
            return
    raise AssertionError(f"{selector} is not reached by keyboard")


def test_a_key_is_replaced_by_keyboard(admin: Any, installation: Installation) -> None:
    admin.goto(f"{installation.url}/api-keys")
    accessible(admin)
    tab_to(admin, "button[popovertarget^='rotate-']")
    admin.keyboard.press("Enter")
    tab_to(admin, "select[name=ends]")
    admin.keyboard.type("after 7")
    accessible(admin)
    tab_to(admin, "[popover] button[type=submit]")
    admin.keyboard.press("Enter")
    admin.locator(".notice", has_text="works until").wait_for()
    assert len(admin.input_value("#new-key")) == 36
    accessible(admin)


def test_the_audit_log_is_read_narrowed_checked_and_exported_by_keyboard(
    admin: Any, installation: Installation
) -> None:
    admin.goto(f"{installation.url}/dashboard")
    tab_to(admin, "nav a[href='/settings']")
    admin.keyboard.press("Enter")
    admin.wait_for_url("**/settings")
    accessible(admin)
    tab_to(admin, "nav a[href='/audit']")
    admin.keyboard.press("Enter")
    admin.wait_for_url("**/audit")
    accessible(admin)
    tab_to(admin, "form[action='/audit/check'] button")
    admin.keyboard.press("Enter")
    admin.locator(".notice", has_text="The audit log is intact").wait_for()
    accessible(admin)
    tab_to(admin, "#group")
    admin.keyboard.type("API")
    tab_to(admin, "#subject")
    admin.keyboard.press("Enter")
    admin.wait_for_url("**group=api_key**")
    of_the_walk_before = {"Replaced an API key"}
    assert set(admin.locator("tbody th").all_inner_texts()) - of_the_walk_before == {"Created an API key"}
    with admin.expect_download() as download:
        tab_to(admin, "form[action^='/audit/export'] button")
        admin.keyboard.press("Enter")
    assert "Created an API key" in Path(download.value.path()).read_text(encoding="utf-8-sig")
    admin.goto(f"{installation.url}/audit?subject=nothing")
    assert "No entries match this filter" in admin.inner_text("main")
    accessible(admin)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_preview_of_a_mail_is_styled_and_nothing_in_it_leads_away(
    admin: Any, installation: Installation, scheme: str
) -> None:
    admin.emulate_media(color_scheme=scheme)
    admin.goto(f"{installation.url}/candidates/mails/invitation/ar-AE")
    letter = admin.frame_locator("iframe.mail-frame").locator(".letter")
    shown = letter.evaluate("one => [getComputedStyle(one).backgroundColor, getComputedStyle(one).direction]")
    assert shown == ["rgb(255, 255, 255)" if scheme == "light" else "rgb(25, 33, 43)", "rtl"]
    letter.locator("a.button").click()
    letter.locator("a.button").wait_for()
    assert (len(admin.context.pages), admin.url.endswith("/ar-AE")) == (1, True)
    accessible(admin)
    assert admin.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_channel_is_added_tried_and_removed_by_keyboard(admin: Any, installation: Installation) -> None:
    admin.goto(f"{installation.url}/notices")
    accessible(admin)
    tab_to(admin, "a[href='/notices/new']")
    admin.keyboard.press("Enter")
    admin.wait_for_url("**/notices/new")
    accessible(admin)
    tab_to(admin, "#secret_url")
    # A port where nothing listens: what a member sees when a message does not arrive.
    admin.keyboard.type("http://127.0.0.1:9999/services/T000/B000/secret")
    tab_to(admin, "#name")
    admin.keyboard.type("#hiring")
    admin.keyboard.press("Enter")
    admin.locator(".notice", has_text="The channel was added").wait_for()
    accessible(admin)
    tab_to(admin, "form[action$='/test'] button")
    admin.keyboard.press("Enter")
    admin.locator(".notice", has_text="The test notice did not arrive").wait_for()
    accessible(admin)
    admin.goto(f"{installation.url}/notices")
    accessible(admin)
    assert "127.0.0.1/…cret" in admin.inner_text("table")
    admin.get_by_role("link", name="#hiring").click()
    tab_to(admin, "button[popovertarget='remove']")
    admin.keyboard.press("Enter")
    tab_to(admin, "[popover] button[type=submit]")
    admin.keyboard.press("Enter")
    admin.locator(".notice", has_text="The channel was removed").wait_for()


def test_the_time_zone_of_the_browser_is_proposed_once(chromium: Any, admin: Any, installation: Installation) -> None:
    context = chromium.new_context(timezone_id="Asia/Tokyo", storage_state=admin.context.storage_state())
    page = context.new_page()
    page.goto(f"{installation.url}/profile/notices")
    wait_until(lambda: page.input_value("#time_zone") == "Asia/Tokyo", seconds=30, what="time zone")
    accessible(page)
    page.select_option("#time_zone", "Europe/Lisbon")
    page.get_by_role("button", name="Save").click()
    page.locator(".notice", has_text="Saved.").wait_for()
    assert page.input_value("#time_zone") == "Europe/Lisbon"
    context.close()
