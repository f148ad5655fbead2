"""Triage: results that wait, the oldest first; decided, left, taken back."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.candidates import actions
from app.candidates.models import Candidate, StatusChange
from app.core.db import db
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person, person

FIRST = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def waiting(owner: Person, make_flow: Made, make_candidate: Made) -> list[Candidate]:
    """Three results, Ada's the oldest; and Dee, who has none."""
    flow, found = make_flow(webhook_url="https://customer.example/hook"), []
    for day, name in enumerate(("Ada", "Bob", "Cyd")):
        one = make_candidate(f"{name}@e.com", flow=flow, first_name=name, last_name="X")
        actions.move(one, "interviewed", by=None)
        actions.note_result(one, {"motivation": 3.0, "skills": 3.0}, at=FIRST + timedelta(days=day))
        found.append(one)
    make_candidate("dee@e.com", flow=flow)
    db.session.commit()
    return found


def shown(seen: Any) -> str:
    found = re.search(r"<title>(.*?) ·", seen.text)
    assert found
    return found[1]


def decide(person: Person, candidate: Candidate, decision: str, note: str = "") -> Any:
    data = {"decision": decision, "note": note, "flow": ""}
    return person.browser.post(f"/candidates/triage/{candidate.id}", data=data)


def test_the_oldest_comes_first_and_others_can_be_looked_at(owner: Person, waiting: list[Candidate]) -> None:
    seen = owner.browser.get("/candidates/triage")
    assert shown(seen) == "Ada X"
    assert "3 results to review" in seen.text
    order = [shown(owner.browser.get(f"/candidates/triage?after={one.id}")) for one in waiting]
    assert order == ["Bob X", "Cyd X", "Ada X"]


def test_a_decision_moves_tells_and_goes_on(owner: Person, waiting: list[Candidate]) -> None:
    before = db.session.query(Delivery).count()
    answer = decide(owner, waiting[0], "shortlisted", "good talk")
    assert answer.status_code == 303
    seen = owner.browser.get(answer.location)
    assert shown(seen) == "Bob X"
    assert "Undo: move Ada X back to interviewed" in " ".join(seen.text.split())
    db.session.expire_all()
    assert waiting[0].status == "shortlisted"
    assert waiting[0].reviewed_at is not None
    assert (
        db.session.query(StatusChange).filter_by(candidate_id=waiting[0].id, new="shortlisted").one().note
        == "good talk"
    )
    assert db.session.query(Delivery).count() == before + 1


def test_a_decision_is_taken_back(owner: Person, waiting: list[Candidate]) -> None:
    decide(owner, waiting[0], "rejected")
    data = {"was": "interviewed", "now": "rejected", "flow": ""}
    answer = owner.browser.post(f"/candidates/triage/{waiting[0].id}/undo", data=data)
    assert shown(owner.browser.get(answer.location)) == "Ada X"
    db.session.expire_all()
    assert (waiting[0].status, waiting[0].reviewed_at) == ("interviewed", None)
    assert owner.browser.post(f"/candidates/triage/{waiting[0].id}/undo", data=data).status_code == 409


def test_a_flow_that_cannot_be_one_is_no_flow(owner: Person, waiting: list[Candidate]) -> None:
    data = {"decision": "rejected", "was": "interviewed", "now": "rejected", "flow": "\x00"}
    for path in ("", "/undo"):
        answer = owner.browser.post(f"/candidates/triage/{waiting[0].id}{path}", data=data)
        assert (answer.status_code, "flow=" in answer.location) == (303, False)


def test_judged_without_a_move(owner: Person, waiting: list[Candidate]) -> None:
    decide(owner, waiting[0], "judged")
    db.session.expire_all()
    assert waiting[0].status == "interviewed"
    assert waiting[0].reviewed_at is not None


def test_a_review_without_a_move_is_taken_back_and_no_earlier_move(owner: Person, waiting: list[Candidate]) -> None:
    owner.browser.post(f"/candidates/{waiting[0].id}/move", data={"status": "shortlisted", "note": ""})
    decide(owner, waiting[0], "judged")
    data = {"was": "shortlisted", "now": "shortlisted", "flow": ""}
    assert owner.browser.post(f"/candidates/triage/{waiting[0].id}/undo", data=data).status_code == 303
    db.session.expire_all()
    assert (waiting[0].status, waiting[0].reviewed_at) == ("shortlisted", None)


def test_a_note_without_a_move_is_given_back(owner: Person, waiting: list[Candidate]) -> None:
    for decision in ("judged", "interviewed"):
        answer = decide(owner, waiting[0], decision, "think about it")
        assert answer.status_code == 422
        assert "think about it</textarea>" in answer.text
    db.session.expire_all()
    assert waiting[0].reviewed_at is None


@pytest.mark.parametrize(("decision", "note"), [("promoted", ""), ("", ""), ("rejected", "x" * 2001), ("re\x00", "")])
def test_a_decision_that_is_none(owner: Person, waiting: list[Candidate], decision: str, note: str) -> None:
    assert decide(owner, waiting[0], decision, note).status_code == 422
    db.session.expire_all()
    assert waiting[0].status == "interviewed"


def test_the_last_one_and_after(owner: Person, waiting: list[Candidate]) -> None:
    for one in waiting:
        seen = owner.browser.get(decide(owner, one, "rejected").location)
    assert "There are no results to review" in seen.text


def test_a_viewer_looks_and_decides_nothing(app: Any, owner: Person, waiting: list[Candidate]) -> None:
    viewer = person(app, "viewer@e.com", organization=owner.organization, role="viewer")
    seen = viewer.browser.get("/candidates/triage").text
    assert "Ada X" in seen
    assert 'name="decision"' not in seen
    assert decide(viewer, waiting[0], "rejected").status_code == 403


def test_what_cannot_be_an_id_finds_the_first(owner: Person, waiting: list[Candidate]) -> None:
    for query in ("after=%00", "after=x", "flow=%00", "undo=x&was=y"):
        assert owner.browser.get(f"/candidates/triage?{query}").status_code == 200
