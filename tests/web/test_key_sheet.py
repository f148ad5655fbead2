"""The sheet of keys stands on every page of the platform, and tells of keys that exist."""

import re
from pathlib import Path
from typing import Any

from flask import Flask, url_for

from app.accounts.pages.navigation import links_of, pages_of
from tests.factories import Made
from tests.people import Person

ROOT = Path(__file__).resolve().parents[2]


def sheet_of(answer: Any) -> str:
    found = re.search(r'<div class="dialog" id="key-sheet".*?</div>\s*</div>', answer.text, re.DOTALL)
    return found.group(0) if found else ""


def test_every_page_has_it_and_its_button_but_triage_which_has_its_own(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    browser = owner.browser
    for path in (
        "/dashboard",
        "/interviews",
        "/candidates",
        "/requests",
        "/webhooks",
        "/jobs",
        "/usage",
        f"/flows/{flow.id}",
    ):
        page = browser.get(path)
        assert "Show or hide this list" in sheet_of(page), path
        assert page.text.count('id="key-sheet"') == 1
        assert 'popovertarget="key-sheet">' in page.text
    assert sheet_of(browser.get("/candidates/triage")) == ""
    assert "key-sheet" not in owner.app.test_client().get("/sign-in").text


def told_of(owner: Person, where: str) -> set[str]:
    """The single keys that the sheet tells of below a heading."""
    sheet = sheet_of(owner.browser.get("/dashboard"))
    return set(re.findall(r"<kbd>([a-z/])</kbd>", sheet.split(f"<h3>{where}</h3>")[1].split("<h3>")[0]))


def test_the_keys_of_the_list_are_those_it_listens_to(owner: Person) -> None:
    listened = re.search(r"return \[(.*?)\]\.includes\(event\.key\)", (ROOT / "static/js/people.js").read_text())
    assert listened
    assert told_of(owner, "Candidate list") == set(re.findall(r'"(.)"', listened[1]))


def test_the_keys_of_triage_are_those_it_listens_to(owner: Person, make_flow: Made) -> None:
    make_flow()
    told = told_of(owner, "Triage")
    template = (ROOT / "templates/review/triage.html").read_text()
    listened = set(re.findall(r'data-key="([a-z])"', template)) | {"s", "r"}
    assert told == listened


def test_g_and_a_letter_lead_to_the_pages_that_the_member_may_open(app: Flask, owner: Person, viewer: Person) -> None:
    for who in (owner, viewer):
        sheet = sheet_of(who.browser.get("/dashboard"))
        led = dict(re.findall(r'<a href="([^"]+)" data-go="([a-z])">', sheet))
        with app.test_request_context():
            pages = [link for link in pages_of(links_of(who.member)) if link.key]
            assert led == {url_for(link.endpoint): link.key for link in pages}
        assert all(f"<kbd>g</kbd> then <kbd>{key}</kbd>" in sheet for key in led.values())
