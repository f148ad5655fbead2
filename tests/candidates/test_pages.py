"""Recruiters' pages of candidates: list, one candidate, move."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import Team
from app.candidates import actions
from app.candidates.models import Candidate, StatusChange
from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews.models import Interview, Stage
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person

NOBODYS = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
START = datetime(2026, 1, 1, tzinfo=UTC)


def _emails(person: Person, query: str = "") -> list[str]:
    seen = person.browser.get(f"/candidates?{query}")
    assert seen.status_code == 200
    return re.findall(r'class="(?:name|email)[^>]*>([^<]+@[^<]+)<', seen.text)


def test_the_list_shows_the_newest_first(owner: Person, make_candidate: Made) -> None:
    for day in range(3):
        make_candidate(f"c{day}@e.com").created_at = START + timedelta(days=day)
    db.session.commit()
    assert _emails(owner) == ["c2@e.com", "c1@e.com", "c0@e.com"]


def test_the_list_can_be_filtered_and_searched(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    flow = make_flow()
    make_candidate("ada@e.com", flow=flow)
    moved = make_candidate("eve@e.com", flow=flow, first_name="Eve", last_name="100%")
    make_candidate("bob@e.com", first_name="Bob")
    actions.move(moved, "shortlisted", by=None)
    db.session.commit()
    assert set(_emails(owner, f"flow={flow.id}")) == {"ada@e.com", "eve@e.com"}
    assert _emails(owner, "status=shortlisted") == ["eve@e.com"]
    assert _emails(owner, "text=ADA+byron") == ["ada@e.com"]
    assert _emails(owner, "text=100%25") == ["eve@e.com"]
    assert _emails(owner, f"flow={flow.id}&status=invited&text=eve") == []
    assert len(_emails(owner, "text=%00&flow=%ED%A0%80&offset=-3")) <= 3
    assert "No candidates match this filter" in owner.browser.get("/candidates?text=nobody").text


def test_an_empty_list_says_how_candidates_come(owner: Person) -> None:
    assert "No candidates yet" in owner.browser.get("/candidates").text


def test_names_are_escaped(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate(first_name="<script>", last_name="x")
    assert "&lt;script&gt; x" in owner.browser.get("/candidates").text
    assert "<script> x" not in owner.browser.get(f"/candidates/{candidate.id}").text


def _many(owner: Person, count: int) -> None:
    """Candidates of as many flows, so that no row can lean on what another one loaded."""
    owned = {"organization_id": owner.organization.id, "team_id": owner.team.id}
    for n in range(count):
        flow = InterviewFlow(org_name="x", title=f"Flow {n}", questions=[], **owned)
        db.session.add(flow)
        db.session.flush()
        db.session.add(Candidate(email=f"c{n}@e.com", address=f"c{n}@e.com", flow_id=flow.id, **owned))
    db.session.commit()


def test_a_long_list_is_paged(owner: Person) -> None:
    _many(owner, 60)
    first, second = _emails(owner), _emails(owner, "offset=50")
    assert (len(first), len(second)) == (50, 10)
    assert not set(first) & set(second)
    assert "1–50 of 60 candidates" in owner.browser.get("/candidates").text


def test_a_longer_list_asks_no_more_queries(owner: Person) -> None:
    asked: list[str] = []

    def note(*parts: Any) -> None:
        asked.append(parts[2])

    def queries() -> int:
        browser = owner.browser
        db.session.expire_all()
        asked.clear()
        assert browser.get("/candidates").status_code == 200
        return len(asked)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        _many(owner, 2)
        few = queries()
        _many(owner, 40)
        assert queries() == few
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_the_page_shows_history_and_interviews(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    actions.move(candidate, "shortlisted", by=owner.member, note="Strong <answers>.")
    values = {"organization_id": owner.organization.id, "team_id": owner.team.id, "flow_id": candidate.flow_id}
    interview = Interview(**values, candidate_id=candidate.id, org_seq=1, team_seq=1, stage=Stage.RUNNING)
    db.session.add(interview)
    db.session.commit()
    seen = owner.browser.get(f"/candidates/{candidate.id}").text
    assert "Strong &lt;answers&gt;." in seen
    assert "Owner" in seen
    assert "In progress" in seen
    assert 'value="shortlisted"' in seen


def test_a_move_is_kept_told_and_shown(colleague: Person, make_flow: Made, make_candidate: Made) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url="https://example.com/hook"))
    browser, page = colleague.browser, f"/candidates/{candidate.id}"
    answer = browser.post(
        f"{page}/move", data={"status": "rejected", "note": " Too far.\r\nSorry. "}, headers={"X-Request-Id": "call-3"}
    )
    assert (answer.status_code, answer.location) == (303, page)
    assert "The status is now rejected." in browser.get(page).text
    change = db.session.query(StatusChange).one()
    assert (change.new, change.note, change.by_id) == ("rejected", "Too far.\nSorry.", colleague.member.id)
    event = db.session.scalars(sa.select(Delivery)).one()
    assert event.request_id == "call-3"
    assert "call-3" in browser.get(f"/webhooks/deliveries/{event.id}").text


def test_ones_own_last_move_can_be_taken_back(owner: Person, colleague: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    at = f"/candidates/{candidate.id}"
    colleague.browser.post(f"{at}/move", data={"status": "rejected"})
    assert "/take-back" in colleague.browser.get(at).text
    assert "/take-back" not in owner.browser.get(at).text
    assert owner.browser.post(f"{at}/take-back", data={"status": "rejected"}).status_code == 409
    answer = colleague.browser.post(f"{at}/take-back", data={"status": "rejected"}, follow_redirects=True)
    assert "Undone. The status is invited again." in answer.text
    assert colleague.browser.post(f"{at}/take-back", data={"status": "rejected"}).status_code == 409
    moves = db.session.scalars(sa.select(StatusChange).where(StatusChange.candidate_id == candidate.id)).all()
    assert [(one.previous, one.new) for one in moves] == [("invited", "rejected"), ("rejected", "invited")]


def test_the_same_status_moves_nothing_and_says_so(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url="https://example.com/hook"))
    browser, page = owner.browser, f"/candidates/{candidate.id}"
    assert browser.post(f"{page}/move", data={"status": "invited"}).status_code == 303
    assert "Nothing has changed" in browser.get(page).text
    assert db.session.query(Delivery).count() == 0


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("status", {"status": "hired", "note": "Typed with care"}),
        ("status", {"note": "Typed with care"}),
        ("note", {"status": "accepted", "note": "Typed with care" + "x" * 2_000}),
        ("note", {"status": "accepted", "note": "Typed with care\x00"}),
    ],
)
def test_a_wrong_move_is_named_and_loses_nothing(
    owner: Person, make_candidate: Made, field: str, typed: dict[str, str]
) -> None:
    candidate = make_candidate()
    seen = owner.browser.post(f"/candidates/{candidate.id}/move", data=typed)
    assert seen.status_code == 422
    assert f'id="{field}-error"' in seen.text
    assert "Typed with care" in seen.text
    db.session.refresh(candidate)
    assert candidate.status == "invited"


def test_a_viewer_may_look_but_not_move(viewer: Person, make_candidate: Made) -> None:
    candidate, browser = make_candidate(), viewer.browser
    shown = browser.get(f"/candidates/{candidate.id}")
    assert (shown.status_code, "Change status" in shown.text) == (200, False)
    assert browser.post(f"/candidates/{candidate.id}/move", data={"status": "accepted"}).status_code == 403
    db.session.refresh(candidate)
    assert candidate.status == "invited"


def test_a_candidate_of_another_organization_is_forbidden(outsider: Person, make_candidate: Made) -> None:
    candidate, browser = make_candidate(), outsider.browser
    assert browser.get(f"/candidates/{candidate.id}").status_code == 403
    assert browser.post(f"/candidates/{candidate.id}/move", data={"status": "accepted"}).status_code == 403
    assert _emails(outsider) == []
    assert _emails(outsider, f"flow={candidate.flow_id}") == []
    db.session.refresh(candidate)
    assert candidate.status == "invited"


def test_a_recruiter_sees_only_candidates_of_their_teams(
    owner: Person, colleague: Person, make_flow: Made, make_candidate: Made
) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    db.session.flush()
    candidate = make_candidate(flow=make_flow(team_id=other.id))
    assert _emails(owner) == [candidate.email]
    assert _emails(colleague) == []
    browser = colleague.browser
    assert browser.get(f"/candidates/{candidate.id}").status_code == 403
    assert browser.post(f"/candidates/{candidate.id}/move", data={"status": "accepted"}).status_code == 403


@pytest.mark.parametrize("candidate_id", [NOBODYS, "x"])
def test_an_unknown_candidate_is_a_404(owner: Person, candidate_id: str) -> None:
    assert owner.browser.get(f"/candidates/{candidate_id}").status_code == 404
    assert owner.browser.post(f"/candidates/{candidate_id}/move", data={"status": "accepted"}).status_code == 404


def test_nobody_gets_in_without_signing_in(app: Flask, make_candidate: Made) -> None:
    candidate, client = make_candidate(), app.test_client()
    assert "/sign-in" in client.get("/candidates").location
    assert "/sign-in" in client.get(f"/candidates/{candidate.id}").location
    assert client.post(f"/candidates/{candidate.id}/move", data={"status": "accepted"}).status_code == 401


def test_a_forged_form_moves_nobody(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    answer = owner.browser.post(f"/candidates/{candidate.id}/move", data={"status": "accepted"}, forged=True)
    assert answer.status_code in {400, 403}
    db.session.refresh(candidate)
    assert candidate.status == "invited"
