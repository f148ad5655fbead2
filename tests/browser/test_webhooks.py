"""Endpoints of the organization and the rotation of secrets in Chromium, on a wide and a narrow window."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Installation, assert_accessible, wait_until

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("pages")]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 800}
HOOK = "https://ats.example.com/parley/every-event-of-all-flows-of-the-organization"


@pytest.fixture
def flow_id(installation: Installation) -> str:
    flow = installation.api(
        "POST",
        "/interview-flows",
        json={
            "org_name": "Example Freight",
            "title": "Driver",
            "questions": ["Why?"],
            "team_id": installation.team_id,
            "webhook_url": "https://ats.example.com/parley",
            "webhook_secret_key": "the-first-secret-of-32-characters",
        },
    )
    found: str = flow["interview_flow_id"]
    return found


def assert_fits(page: Any) -> None:
    """Nothing is wider than the window, once the page and its styles are there."""
    page.wait_for_load_state("load")
    width = "document.documentElement.scrollWidth <= window.innerWidth"
    wait_until(lambda: page.evaluate(width), seconds=30, what="a page that fits")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_an_administrator_adds_rotates_switches_and_removes_an_endpoint(
    signed_in: Callable[..., Any], viewport: dict[str, int]
) -> None:
    page = signed_in("/webhooks", viewport=viewport)
    page.get_by_role("link", name="Add endpoint").click()
    page.get_by_label("URL", exact=True).fill("http://10.0.0.1")
    page.get_by_role("button", name="Add endpoint").click()
    assert_accessible(page)
    page.get_by_label("URL", exact=True).fill(f"{HOOK}/{viewport['width']}")
    page.get_by_role("button", name="Add endpoint").click()
    first = page.get_by_label("New secret", exact=True).first.input_value()
    assert len(first) >= 43
    assert_fits(page)
    assert_accessible(page)
    page.reload()
    assert first not in page.content()
    page.get_by_label("Hours to keep signing with the old secret").fill("48")
    page.get_by_role("button", name="Rotate secret").click()
    second = page.get_by_label("New secret", exact=True).input_value()
    assert second != first
    page.get_by_text("The old secret also signs until").wait_for()
    assert_fits(page)
    assert_accessible(page)
    page.get_by_role("button", name="Switch now").click()
    page.get_by_text("Only the new secret signs now.").wait_for()
    page.get_by_role("link", name="Webhooks").first.click()
    row = page.get_by_role("row").filter(has_text=str(viewport["width"]))
    row.get_by_text("All flows").wait_for()
    assert_fits(page)
    assert_accessible(page)
    row.get_by_role("link").click()
    page.get_by_role("button", name="Remove").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.get_by_text("The endpoint is removed.").wait_for()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_flows_secret_is_rotated_and_switched(
    signed_in: Callable[..., Any], flow_id: str, installation: Installation, viewport: dict[str, int]
) -> None:
    page = signed_in(f"/flows/{flow_id}", viewport=viewport)
    page.get_by_role("link", name="Rotate the webhook secret").click()
    assert_fits(page)
    assert_accessible(page)
    page.get_by_label("New secret (optional)").fill("the-second-secret-of-32-characters")
    page.get_by_role("button", name="Rotate secret").click()
    assert page.get_by_label("New secret", exact=True).input_value() == "the-second-secret-of-32-characters"
    assert_fits(page)
    assert_accessible(page)
    read = installation.api("GET", f"/interview-flows/{flow_id}")
    assert read["webhook_secret_key"] == "the-second-secret-of-32-characters"
    page.goto(re.sub(r"/webhooks/.*", f"/flows/{flow_id}", page.url))
    page.get_by_text("set; the old one also signs until").wait_for()
    page.get_by_role("link", name="Rotate the webhook secret").click()
    page.get_by_role("button", name="Switch now").click()
    page.get_by_text("Only the new secret signs now.").wait_for()
    page.get_by_role("button", name="Rotate secret").wait_for()
