"""CVs in Chromium: an interview whose end waits for one, and an upload that becomes interviews."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.flows.server import picture

from .conftest import Installation, assert_accessible

pytestmark = [pytest.mark.platform, pytest.mark.xdist_group("platform")]
SHOTS = os.environ.get("SHOTS")


def _shot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def _flow(installation: Installation, signed_in: Callable[..., Any], cv: str) -> tuple[str, Any]:
    body = {"org_name": "Example Freight", "title": "Driver", "questions": ["Why?"], "team_id": installation.team_id}
    flow_id = installation.api("POST", "/interview-flows", json=body)["interview_flow_id"]
    page = signed_in(f"/flows/{flow_id}/edit")
    page.select_option("#cv", cv)
    page.click("button.button:has-text('Save changes')")
    page.wait_for_selector("text=The changes were saved.")
    return flow_id, page


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def test_the_end_waits_for_a_required_cv(
    installation: Installation, signed_in: Callable[..., Any], chromium: Any, watch: Callable[[Any], Any]
) -> None:
    flow_id, recruiter = _flow(installation, signed_in, "required")
    booking = {"interview_flow_id": flow_id, "interviewee_email_address": "ada@candidate.example"}
    booked = installation.api("POST", "/interviews", json=booking)
    page = watch(chromium.new_context(viewport={"width": 360, "height": 740}).new_page())
    page.goto(booked["interview_link"])
    page.locator(".brief li", has_text="Please have your CV ready").wait_for()
    page.check("#consent")
    page.click("[data-do=next]")
    page.check("input[name=mode][value=text]")
    for name in ("first_name", "last_name"):
        page.fill(f"#{name}", "Ada")
    page.click("[data-do=start]")
    page.wait_for_selector("#answer:visible")
    page.fill("#answer", "I have worked in a small team for three years and I like to help people.")
    page.click("[data-do=send]")
    page.locator("h2", has_text="One thing is left: your CV").wait_for(timeout=60_000)
    assert_accessible(page)
    _shot(page, "cv360")
    page.set_viewport_size({"width": 1280, "height": 800})
    _shot(page, "cv1280")
    page.click("[data-do=cv-added]")
    page.locator("[data-text=cv]", has_text="Please add your CV first").wait_for()
    page.set_input_files("#document", files=[_file("scan.png", picture())])
    page.locator(".documents li[data-document]", has_text="scan.png").wait_for()
    page.click("[data-do=cv-added]")
    page.locator("[data-text=cv]", has_text="There is no text that we can read").wait_for(timeout=60_000)
    assert_accessible(page)
    page.set_input_files("#document", files=[_file("cv.txt", b"Ada Lovelace, analyst since 1833")])
    page.locator(".documents li[data-document]", has_text="cv.txt").wait_for()
    page.click("[data-do=cv-added]")
    page.locator("h1", has_text="Thank you").wait_for(timeout=60_000)
    page.locator("main p", has_text="2 documents").wait_for()
    page.context.close()
    recruiter.goto(f"{installation.url}/interviews/{booked['interview_id']}#files")
    recruiter.locator(".document-row", has_text="cv.txt").wait_for()


ADA = b"Ada Lovelace\nada.lovelace@mail.example\n+44 20 7946 0958\n"


@pytest.mark.parametrize("width", [1280, 360])
def test_uploaded_cvs_are_checked_and_invited(
    installation: Installation, signed_in: Callable[..., Any], width: int
) -> None:
    body = {"org_name": "Example Freight", "title": "Analyst", "questions": ["Why?"], "team_id": installation.team_id}
    flow_id = installation.api("POST", "/interview-flows", json={**body, "interview_type": "recruitment"})[
        "interview_flow_id"
    ]
    page = signed_in(f"/candidates/invite?flow={flow_id}", viewport={"width": width, "height": 800})
    page.click("text=Upload CVs instead")
    assert_accessible(page)
    _shot(page, f"cvs-ask{width}")
    files = [_file("ada.txt", ADA), _file("grace.txt", b"Grace Hopper, compilers"), _file("page.html", b"<html>")]
    page.set_input_files("#files", files=files)
    page.click("button:has-text('Upload and check')")
    page.locator("h2", has_text="Check 2 candidates").wait_for(timeout=60_000)
    page.locator("th", has_text="page.html").wait_for()
    assert_accessible(page)
    _shot(page, f"cvs-check{width}")
    ada = page.locator(".cv-row", has_text="ada.txt")
    assert ada.locator("input[name^=email]").input_value() == "ada.lovelace@mail.example"
    assert [one.is_checked() for one in page.locator(".cv-row input[type=checkbox]").all()] == [True, False]
    page.click("button:has-text('for the chosen candidates')")
    page.locator("td", has_text="Link created").wait_for(timeout=60_000)
    assert page.locator(".cv-row").count() == 0
    assert_accessible(page)
    _shot(page, f"cvs-done{width}")
    page.click("td a:has-text('Ada Lovelace')")
    page.locator(".candidate-who", has_text="+44 20 7946 0958").wait_for()
