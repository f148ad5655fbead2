"""Rights to single flows: given, taken, narrowed."""

import html
import re
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import AuditEntry, Role, Team
from app.candidates import bulk
from app.candidates.bulk import Change, Kind
from app.candidates.models import Candidate
from app.candidates.queries import next_to_review
from app.db import db
from app.flows.models import FlowGrant, InterviewFlow
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.overview.queries import tasks_of
from tests.factories import Made
from tests.people import Person, person


@pytest.fixture
def flow(make_flow: Made) -> InterviewFlow:
    found: InterviewFlow = make_flow(title="Zoo keeper")
    return found


@pytest.fixture
def neighbour(app: Flask, owner: Person) -> Person:
    """A recruiter of the organization's other team."""
    found = person(app, "neighbour@first.example", organization=owner.organization, role="recruiter")
    found.member.teams = [Team(organization_id=owner.organization.id, name="Sales")]
    db.session.commit()
    return found


@pytest.fixture
def interview(owner: Person, flow: InterviewFlow) -> Interview:
    found = interviews.book(owner.organization, flow.id, email="mary@candidate.example", first_name="Mary")
    db.session.commit()
    return found


def rows(kind: Any) -> Any:
    """As they are in the database now, whatever requests have changed."""
    db.session.expire_all()
    return db.session.query(kind)


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def give(who: Person, flow: InterviewFlow, to: Person, right: str = "view") -> Any:
    return who.browser.post(f"/flows/{flow.id}/access", data={"member": to.member.id, "right": right})


def narrow(who: Person, flow: InterviewFlow, narrowed: str = "yes") -> Any:
    return who.browser.post(f"/flows/{flow.id}/access/narrow", data={"narrowed": narrowed})


def noted() -> list[str]:
    entries = rows(AuditEntry).order_by(AuditEntry.number)
    return [one.action for one in entries if one.action.startswith("flow.") and one.action != "flow.created"]


def test_the_right_to_view_shows_everything_of_the_flow_and_changes_nothing(
    colleague: Person, neighbour: Person, flow: InterviewFlow, interview: Interview
) -> None:
    browser = neighbour.browser
    for path in (f"/flows/{flow.id}", f"/interviews/{interview.id}", f"/candidates/{interview.candidate_id}"):
        assert browser.get(path).status_code == 403
    assert give(colleague, flow, neighbour).status_code == 303
    page = browser.get(f"/flows/{flow.id}")
    assert page.status_code == 200
    assert f"/flows/{flow.id}/edit" not in page.text
    assert f"/flows/{flow.id}/access" not in page.text
    assert "Zoo keeper" in browser.get("/flows").text
    assert "Mary" in browser.get("/candidates").text
    assert "Mary" in browser.get("/interviews").text
    assert "Add note" not in browser.get(f"/interviews/{interview.id}").text
    assert "Zoo keeper" not in browser.get("/candidates/invite").text
    assert "Move Mary" not in browser.get("/candidates/board").text
    for path in (f"/flows/{flow.id}/close", f"/interviews/{interview.id}/notes", f"/flows/{flow.id}/access"):
        refused = browser.post(path, data={"text": "x", "member": neighbour.member.id, "right": "edit"})
        assert refused.status_code == 403
        assert "may look at this flow" in words_of(refused)
    assert noted() == ["flow.access_given"]


def test_the_right_to_edit_is_given_and_taken(colleague: Person, neighbour: Person, flow: InterviewFlow) -> None:
    give(colleague, flow, neighbour)
    give(colleague, flow, neighbour, "edit")
    assert neighbour.browser.post(f"/flows/{flow.id}/close").status_code == 303
    assert "Zoo keeper" in words_of(neighbour.browser.get(f"/flows/{flow.id}/access"))
    taken = neighbour.browser.post(f"/flows/{flow.id}/access/{neighbour.member.id}/take")
    assert (taken.status_code, taken.location) == (303, "/flows"), "the page itself is closed to them now"
    assert neighbour.browser.get(f"/flows/{flow.id}").status_code == 403
    assert noted() == ["flow.access_given", "flow.access_given", "flow.closed", "flow.access_taken"]


def test_nobody_is_given_more_than_their_role_or_what_they_have(
    app: Flask, owner: Person, colleague: Person, viewer: Person, outsider: Person, flow: InterviewFlow
) -> None:
    refused = give(colleague, flow, viewer, "edit")
    assert refused.status_code == 422
    assert "This member is a viewer, who may look but not change anything." in words_of(refused)
    assert "Administrators see and change every flow already." in words_of(give(colleague, flow, owner))
    assert give(colleague, flow, outsider).status_code == 403
    assert give(colleague, flow, viewer, "own").status_code == 422
    assert give(viewer, flow, viewer).status_code == 403
    assert rows(FlowGrant).count() == 0


def test_who_becomes_a_viewer_keeps_the_right_to_view(
    colleague: Person, neighbour: Person, flow: InterviewFlow
) -> None:
    give(colleague, flow, neighbour, "edit")
    neighbour.member.role = Role.VIEWER
    db.session.commit()
    assert neighbour.browser.get(f"/flows/{flow.id}").status_code == 200
    assert neighbour.browser.post(f"/flows/{flow.id}/close").status_code == 403
    assert "May view" in words_of(colleague.browser.get(f"/flows/{flow.id}/access"))


def test_a_narrowed_flow_is_seen_by_those_who_are_named(
    owner: Person, colleague: Person, viewer: Person, flow: InterviewFlow, interview: Interview
) -> None:
    assert narrow(colleague, flow).status_code == 303
    assert colleague.browser.get(f"/flows/{flow.id}").status_code == 200, "who narrows it is named with it"
    assert owner.browser.get(f"/flows/{flow.id}").status_code == 200
    for path in (f"/flows/{flow.id}", f"/interviews/{interview.id}", f"/candidates/{interview.candidate_id}"):
        assert viewer.browser.get(path).status_code == 403
    for path in ("/flows", "/interviews", "/candidates", "/candidates/board", "/dashboard"):
        page = viewer.browser.get(path).text
        assert "Zoo keeper" not in page, path
        assert "Mary" not in page, path
    give(colleague, flow, viewer)
    assert viewer.browser.get(f"/interviews/{interview.id}").status_code == 200
    assert narrow(owner, flow, "no").status_code == 303
    assert rows(FlowGrant).count() == 2
    assert noted() == ["flow.access_given", "flow.narrowed", "flow.access_given", "flow.widened"]


def test_a_copy_keeps_who_may_see_it(colleague: Person, neighbour: Person, viewer: Person, flow: InterviewFlow) -> None:
    narrow(colleague, flow)
    give(colleague, flow, neighbour, "edit")
    answer = neighbour.browser.post(f"/flows/{flow.id}/duplicate")
    assert answer.status_code == 303
    copied = answer.location.split("/")[2]
    assert copied != flow.id
    assert neighbour.browser.get(f"/flows/{copied}/edit").status_code == 200
    assert viewer.browser.get(f"/flows/{copied}").status_code == 403


def test_what_is_only_viewed_is_neither_changed_in_bulk_nor_exported_nor_waits(
    colleague: Person, neighbour: Person, flow: InterviewFlow, interview: Interview
) -> None:
    candidate = interview.candidate
    assert candidate is not None
    candidate.interviewed_at = candidate.created_at
    give(colleague, flow, neighbour)
    (row,) = bulk.apply(neighbour.member, [candidate.id], Change(Kind.TAG, "seen"))
    assert (row.outcome, row.reason) == ("refused", bulk.VIEWED)
    assert "mary@" not in neighbour.browser.post("/candidates/export").text
    assert next_to_review(neighbour.member) is None
    assert tasks_of(neighbour.member, link_days=30) == []
    give(colleague, flow, neighbour, "edit")
    db.session.expire_all()
    (row,) = bulk.apply(neighbour.member, [candidate.id], Change(Kind.TAG, "seen"))
    assert row.outcome == "done"
    assert "mary@" in neighbour.browser.post("/candidates/export").text
    assert next_to_review(neighbour.member) == db.session.get_one(Candidate, candidate.id)
