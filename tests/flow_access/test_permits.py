"""Rights to single flows: given, taken, narrowed, and asked for without being told what there is."""

import html
import re
import uuid
from typing import Any

import pytest
from flask import Flask

from app.accounts.models import AuditEntry, Role, Team
from app.candidates import bulk
from app.candidates.bulk import Change, Kind
from app.candidates.models import Candidate
from app.candidates.queries import next_to_review
from app.core.db import db
from app.core.errors import Conflict
from app.flows.models import FlowGrant, InterviewFlow, Right
from app.flows.queries import VIEWED
from app.interviews import actions as interviews
from app.interviews.models import Interview
from app.review.dashboard.queries import tasks_of
from app.review.flow_access import actions
from app.review.flow_access.models import LONGEST_NOTE, AccessRequest, RequestState
from tests.factories import Made, a_flow
from tests.mailing import Postbox, send_due
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


def ask(who: Person, kind: str, thing_id: str) -> Any:
    return who.browser.post("/access", data={"kind": kind, "id": thing_id})


def answer(who: Person, decision: str, note: str = "") -> Any:
    asked = rows(AccessRequest).filter_by(state=RequestState.OPEN).one()
    return who.browser.post(f"/access/{asked.id}/answer", data={"decision": decision, "note": note})


def noted() -> list[str]:
    entries = rows(AuditEntry).order_by(AuditEntry.number)
    return [one.action for one in entries if one.action.startswith("flow.") and one.action != "flow.created"]


# --- given and taken -------------------------------------------------------------------------------------------------


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
        assert "You can view this flow" in words_of(refused)
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
    assert "This member is a viewer and cannot edit anything." in words_of(refused)
    assert "Administrators can already view and edit every flow." in words_of(give(colleague, flow, owner))
    assert "There is no such member in your organization." in words_of(give(colleague, flow, outsider))
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
    assert "Can view" in words_of(colleague.browser.get(f"/flows/{flow.id}/access"))


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
    assert (row.outcome, row.reason) == ("refused", VIEWED)
    assert VIEWED in words_of(neighbour.browser.post("/candidates/remind", data={"id": candidate.id}))
    assert "mary@" not in neighbour.browser.post("/candidates/export").text
    assert next_to_review(neighbour.member) is None
    assert tasks_of(neighbour.member, link_days=30) == []
    give(colleague, flow, neighbour, "edit")
    db.session.expire_all()
    (row,) = bulk.apply(neighbour.member, [candidate.id], Change(Kind.TAG, "seen"))
    assert row.outcome == "done"
    assert "mary@" in neighbour.browser.post("/candidates/export").text
    assert next_to_review(neighbour.member) == db.session.get_one(Candidate, candidate.id)


# --- asked for -------------------------------------------------------------------------------------------------------


def bare(page: Any, thing_id: str) -> str:
    """A page without what differs between any two visits."""
    return re.sub(r'name="csrf_token" value="[^"]*"', "", page.text).replace(thing_id, "ID")


@pytest.mark.parametrize("kind", ["flow", "interview", "candidate"])
def test_what_is_not_theirs_and_what_is_not_there_look_the_same(
    neighbour: Person, outsider: Person, interview: Interview, kind: str
) -> None:
    foreign = a_flow(outsider)
    theirs = interviews.book(outsider.organization, foreign.id, email="joe@candidate.example")
    db.session.commit()
    known = {
        "flow": (interview.flow_id, foreign.id),
        "interview": (interview.id, theirs.id),
        "candidate": (interview.candidate_id, theirs.candidate_id),
    }
    pages, answers = set(), set()
    for thing_id in (*known[kind], str(uuid.uuid4())):
        assert thing_id is not None
        page = neighbour.browser.get(f"/{kind}s/{thing_id}")
        assert page.status_code == 403
        assert f'name="id" value="{thing_id}"' in page.text
        assert "Request access" in page.text
        pages.add(bare(page, thing_id))
        browser = neighbour.browser
        answer = browser.post("/access", data={"kind": kind, "id": thing_id})
        answers.add((answer.status_code, answer.location, bare(browser.get("/access"), thing_id)))
    assert len(pages) == 1
    assert len(answers) == 1
    assert "Zoo" not in pages.pop()
    (asked,) = rows(AccessRequest)
    assert (asked.flow_id, asked.member_id) == (interview.flow_id, neighbour.member.id)


@pytest.mark.parametrize("given", [("flow", "x' OR 1=1"), ("flow", "\x00"), ("", ""), ("member", "0" * 36)])
def test_what_is_no_request_is_answered_alike(neighbour: Person, given: tuple[str, str]) -> None:
    assert ask(neighbour, *given).location == "/access"
    assert rows(AccessRequest).count() == 0


def test_a_request_is_made_once_and_waits_for_those_who_may_decide(
    owner: Person, colleague: Person, viewer: Person, neighbour: Person, flow: InterviewFlow, postbox: Postbox
) -> None:
    for _ in range(2):
        ask(neighbour, "flow", flow.id)
    send_due()
    assert sorted(mail.to for mail in postbox.mails) == ["colleague@first.example", "owner@first.example"]
    assert noted() == ["flow.access_asked"]
    for who, count in ((owner, 1), (colleague, 1), (neighbour, 0)):
        tasks = {task.kind: task.count for task in tasks_of(who.member, link_days=30)}
        assert tasks.get("access", 0) == count, who.member.email
        assert words_of(who.browser.get("/access")).count("Requests access") == count
    assert "Requests for access to a flow" in words_of(colleague.browser.get("/dashboard"))
    asked = rows(AccessRequest).one()
    for who in (viewer, neighbour):
        refused = who.browser.post(f"/access/{asked.id}/answer", data={"decision": "edit"})
        assert refused.status_code in {403, 404}
    assert asked.state is RequestState.OPEN


def test_a_request_is_granted_with_a_note(
    colleague: Person, neighbour: Person, flow: InterviewFlow, interview: Interview, postbox: Postbox
) -> None:
    ask(neighbour, "interview", interview.id)
    send_due()
    postbox.mails.clear()
    assert answer(colleague, "view", "Only until <May>.").status_code == 303
    send_due()
    (mail,) = postbox.mails
    assert (mail.to, "May" in mail.text) == ("neighbour@first.example", False)
    assert f"http://localhost/flows/{flow.id}" in mail.text
    assert neighbour.browser.get(f"/interviews/{interview.id}").status_code == 200
    page = neighbour.browser.get("/access")
    assert "Only until &lt;May&gt;." in page.text
    assert "Zoo keeper" in page.text
    assert ask(neighbour, "interview", interview.id).location == f"/interviews/{interview.id}"
    assert noted() == ["flow.access_asked", "flow.access_given"]
    colleague.browser.post(f"/flows/{flow.id}/access/{neighbour.member.id}/take")
    assert "Zoo" not in neighbour.browser.get("/access").text, "who lost the right loses the title with it"


def test_a_request_is_refused_and_may_be_made_again(
    colleague: Person, neighbour: Person, flow: InterviewFlow, postbox: Postbox
) -> None:
    ask(neighbour, "flow", flow.id)
    answer(colleague, "refused", "Please ask Ann.")
    send_due()
    assert not [mail for mail in postbox.mails if mail.to == "neighbour@first.example" and "Zoo" in mail.text]
    page = words_of(neighbour.browser.get("/access"))
    assert "Please ask Ann." in page
    assert "Zoo" not in page
    assert neighbour.browser.get(f"/flows/{flow.id}").status_code == 403
    ask(neighbour, "flow", flow.id)
    assert rows(AccessRequest).filter_by(state=RequestState.OPEN).count() == 1
    assert noted() == ["flow.access_asked", "flow.access_refused", "flow.access_asked"]


@pytest.mark.parametrize(
    ("decision", "note", "said"),
    [
        ("open", "", "Choose whether to grant or decline"),
        ("", "", "Choose whether to grant or decline"),
        ("view", "\x00", "the NUL character"),
        ("view", "x" * (LONGEST_NOTE + 1), f"up to {LONGEST_NOTE} characters"),
    ],
)
def test_what_is_no_answer_changes_nothing(
    colleague: Person, neighbour: Person, flow: InterviewFlow, decision: str, note: str, said: str
) -> None:
    ask(neighbour, "flow", flow.id)
    browser = colleague.browser
    asked = rows(AccessRequest).one()
    browser.post(f"/access/{asked.id}/answer", data={"decision": decision, "note": note})
    assert said in words_of(browser.get("/access"))
    assert rows(AccessRequest).one().state is RequestState.OPEN
    assert rows(FlowGrant).count() == 0


def test_of_two_answers_the_first_counts(
    owner: Person, colleague: Person, neighbour: Person, flow: InterviewFlow
) -> None:
    ask(neighbour, "flow", flow.id)
    asked = rows(AccessRequest).one()
    actions.answer(asked, RequestState.REFUSED, note=None, by=owner.member, mail_for=None)
    with pytest.raises(Conflict):
        actions.answer(asked, RequestState.EDIT, note=None, by=colleague.member, mail_for=None)
    assert rows(FlowGrant).count() == 0


def test_a_right_that_is_given_answers_the_request_for_it(
    colleague: Person, neighbour: Person, flow: InterviewFlow
) -> None:
    ask(neighbour, "flow", flow.id)
    give(colleague, flow, neighbour, "edit")
    asked = rows(AccessRequest).one()
    assert (asked.state, asked.decided_by_id) == (RequestState.EDIT, colleague.member.id)


def test_a_viewer_who_asks_is_given_the_right_to_view_alone(
    colleague: Person, neighbour: Person, flow: InterviewFlow
) -> None:
    neighbour.member.role = Role.VIEWER
    db.session.commit()
    ask(neighbour, "flow", flow.id)
    assert "Allow editing" not in colleague.browser.get("/access").text
    answer(colleague, "edit")
    asked = rows(AccessRequest).one()
    assert asked.state is RequestState.OPEN, "nothing was changed"
    answer(colleague, "view")
    assert rows(FlowGrant).one().right is Right.VIEW
