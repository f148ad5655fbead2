"""The live preview beside the editor of a flow: what candidates will see of what is typed, never stored."""

import html
from typing import Any

import pytest

from app.core.db import db
from app.flows.models import InterviewFlow
from tests.factories import Made
from tests.flows.test_pages import _typed
from tests.people import Person


def shown(person: Person, query: str = "", **fields: Any) -> str:
    answer = person.browser.post(f"/flows/appearance{query}", data=_typed(person, **fields))
    assert answer.status_code == 200
    return html.unescape(answer.text)


def test_it_shows_what_was_typed_and_stores_nothing(colleague: Person) -> None:
    page = shown(colleague, title="Night <nurse>", org_name="Ward 7", intro="Hello!", **{"questions-0": "Why nights?"})
    for text in ("Night <nurse>", "Ward 7 invites you to an interview.", "Hello!", "Why nights?", "1 question"):
        assert text in page
    assert page.index("Hello!") < page.index("Why nights?")
    assert "<html" not in page
    assert db.session.query(InterviewFlow).count() == 0


@pytest.mark.parametrize(
    ("language", "words", "direction"),
    [("de-DE", "lädt Sie zu einem Interview ein", "ltr"), ("ar-AE", "", "rtl"), ("xx", "invites you", "ltr")],
)
def test_its_words_are_in_the_language_of_the_flow(
    colleague: Person, language: str, words: str, direction: str
) -> None:
    page = shown(colleague, language=language)
    assert words in page
    assert f'dir="{direction}"' in page


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"title": "x" * 5_000, "intro": "y" * 50_000},
        {"time_limit_minutes": "soon", "language": ""},
        {f"questions-{n}": "Why?" for n in range(40)},
        {"questions-0": "\x00", "title": "\ufffe"},
    ],
)
def test_half_typed_forms_are_no_error(colleague: Person, fields: dict[str, str]) -> None:
    assert colleague.browser.post("/flows/appearance", data=fields).status_code == 200


def test_the_logo_is_shown_once_it_is_stored(colleague: Person, make_flow: Made) -> None:
    flow = make_flow(company_logo_url="https://example.com/a.png", logo_key="logos/a.png")
    at = f"?flow={flow.id}"
    same = shown(colleague, at, company_logo_url="https://example.com/a.png")
    assert f'src="/flows/{flow.id}/logo"' in same
    assert "after you save" not in same
    other = shown(colleague, at, company_logo_url="https://example.com/b.png")
    assert f'src="/flows/{flow.id}/logo"' not in other
    assert "The new logo appears after you save." in other


def test_the_editor_offers_it_to_scripts_alone(colleague: Person, viewer: Person, make_flow: Made) -> None:
    flow = make_flow()
    page = colleague.browser.get(f"/flows/{flow.id}/edit").text
    assert f'data-url="/flows/appearance?flow={flow.id}" hidden' in page
    assert viewer.browser.post("/flows/appearance", data={}).status_code == 403
