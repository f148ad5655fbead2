"""Questions about forbidden topics in the flow's form: a warning, and a written reason that overrules it."""

import html
from typing import Any

import pytest

from app.accounts.models import AuditEntry
from app.core.db import db
from app.flows.models import InterviewFlow
from app.flows.overrules import field_of
from tests.factories import Made
from tests.flows.test_pages import _typed
from tests.people import Person

ASKS_AGE = "How old are you?"
REASON = "The law asks bar staff for their age."


def _flow() -> InterviewFlow:
    return db.session.query(InterviewFlow).one()


def _entries() -> list[dict[str, Any]]:
    rows = db.session.query(AuditEntry).filter_by(action="flow.topic_overruled").order_by(AuditEntry.at)
    return [row.details for row in rows]


def test_a_warning_names_the_question_the_topic_and_why(colleague: Person) -> None:
    page = colleague.browser.post("/flows/new", data=_typed(colleague, **{"questions-1": ASKS_AGE}))
    text = html.unescape(page.text)
    assert page.status_code == 422
    assert "“How old are you?” asks about age. Change the question, or give a reason below" in text
    assert "Words found: “How old are you”. Age says nothing about how someone works" in text
    assert f'name="{field_of(ASKS_AGE)}"' in text
    assert db.session.query(InterviewFlow).count() == 0


def test_a_reason_overrules_it_and_is_kept(colleague: Person) -> None:
    data = _typed(colleague, **{"questions-1": ASKS_AGE, field_of(ASKS_AGE): f" {REASON} "})
    assert colleague.browser.post("/flows/new", data=data).status_code == 303
    flow = _flow()
    assert flow.overrules == {ASKS_AGE: REASON}
    assert _entries() == [{"question": 2, "topics": ["age"]}]
    assert f"Reason: {REASON}" in colleague.browser.get(f"/flows/{flow.id}").text
    assert REASON in colleague.browser.get(f"/flows/{flow.id}/edit").text


@pytest.mark.parametrize("reason", ["", "   "])
def test_an_empty_reason_is_none(colleague: Person, reason: str) -> None:
    data = _typed(colleague, **{"questions-0": ASKS_AGE, field_of(ASKS_AGE): reason})
    assert colleague.browser.post("/flows/new", data=data).status_code == 422


def test_a_stored_reason_counts_until_the_question_changes(colleague: Person) -> None:
    data = _typed(colleague, **{"questions-0": ASKS_AGE})
    colleague.browser.post("/flows/new", data={**data, field_of(ASKS_AGE): REASON})
    edit = f"/flows/{_flow().id}/edit"
    assert colleague.browser.post(edit, data={**data, "title": "Other"}).status_code == 303
    assert len(_entries()) == 1
    assert colleague.browser.post(edit, data={**data, "questions-0": "What is your age?"}).status_code == 422
    assert colleague.browser.post(edit, data={**data, "questions-0": "Why?"}).status_code == 303
    assert _flow().overrules is None


def test_the_rules_of_the_flows_language_count(colleague: Person) -> None:
    german = _typed(colleague, **{"questions-0": "Sind Sie verheiratet?", "language": "de-DE"})
    page = colleague.browser.post("/flows/new", data=german)
    assert page.status_code == 422
    assert "asks about family and marital status" in html.unescape(page.text)


def test_flows_of_the_api_are_not_refused_but_the_form_warns(owner: Person, make_flow: Made) -> None:
    flow = make_flow(questions=[ASKS_AGE])
    assert flow.overrules is None
    assert "asks about age" in html.unescape(owner.browser.get(f"/flows/{flow.id}/edit").text)
    copied = owner.browser.post(f"/flows/{flow.id}/duplicate")
    assert copied.status_code == 303


def test_a_copy_takes_the_reasons_along(colleague: Person) -> None:
    colleague.browser.post(
        "/flows/new", data=_typed(colleague, **{"questions-0": ASKS_AGE, field_of(ASKS_AGE): REASON})
    )
    colleague.browser.post(f"/flows/{_flow().id}/duplicate")
    assert [flow.overrules for flow in db.session.query(InterviewFlow)] == [{ASKS_AGE: REASON}] * 2
