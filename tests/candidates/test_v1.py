"""``/v1/candidates`` and ``/v1/statuses``: the moves of the pages, made by a program."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts import actions as accounts
from app.accounts.models import AuditEntry, Role
from app.candidates import actions as candidates
from app.candidates import statuses
from app.candidates.models import Candidate, DecisionRecord, StatusChange
from app.candidates.queries import history_of
from app.core import clock
from app.core.db import db, new_id
from app.interviews import actions as interviews
from app.webhooks.models import Delivery
from tests.factories import Made, a_flow
from tests.people import Person, moved_away


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.headers["X-Parley-Error"]


def ids_of(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.json
    return [one["candidate_id"] for one in answer.json["candidates"]]


def move(person: Person, candidate: Candidate, **body: Any) -> Any:
    return person.api("POST", f"/v1/candidates/{candidate.id}/move", json=body)


def moves_of(candidate: Candidate) -> list[tuple[str, str]]:
    db.session.expire_all()
    return [(one.previous, one.new) for one in history_of(candidate)]


def test_a_candidate_is_shown_with_their_interviews_newest_first(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    first = interviews.book(owner.organization, flow.id, email="Ada@c.example", first_name="Ada")
    second = interviews.book(owner.organization, flow.id, email="ada@c.example", last_name="Byron")
    db.session.commit()
    candidate = first.candidate
    assert candidate is not None
    answer = owner.api("GET", f"/v1/candidates/{str(first.candidate_id).upper()}")
    assert answer.json == {
        "candidate_id": candidate.id,
        "team_id": owner.team.id,
        "interview_flow_id": flow.id,
        "interviewee_email_address": "Ada@c.example",
        "interviewee_first_name": "Ada",
        "interviewee_last_name": "Byron",
        "status": "invited",
        "assigned_recruiter_id": None,
        "interview_ids": [second.id, first.id],
        "created_at": clock.rfc3339(candidate.created_at),
    }
    assert owner.api("GET", "/v1/candidates").json == {"candidates": [answer.json], "next": None}


def test_a_list_is_read_page_by_page_newest_first_even_at_equal_times(owner: Person, make_candidate: Made) -> None:
    made = [make_candidate(f"c{number}@c.example") for number in range(7)]
    for number, candidate in enumerate(made):
        candidate.created_at = clock.now() - timedelta(hours=number // 3)
    db.session.commit()
    expected = [one.id for one in sorted(made, key=lambda one: (one.created_at, one.id), reverse=True)]
    found: list[str] = []
    after = ""
    while True:
        answer = owner.api("GET", f"/v1/candidates?limit=2{after}")
        found += ids_of(answer)
        if answer.json["next"] is None:
            break
        after = f"&after={answer.json['next']}"
    assert found == expected


@pytest.mark.parametrize(
    "cursor", ["x", "bm8", "WyJ4IiwieSJd", "%F0%9F%98%80", "W10", "WzEsMl0", "WyI5OTk5LTEyLTMxVDIzOjU5OjU5LTIzOjU5Il0"]
)
def test_a_cursor_that_cannot_be_read_is_refused(owner: Person, cursor: str) -> None:
    answer = owner.api("GET", f"/v1/candidates?after={cursor}")
    assert code_of(answer) == (422, "cursor_invalid")
    assert "begin again without" in answer.json["message"]


def test_a_list_is_filtered(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    flow = make_flow()
    ada, bob = make_candidate("Ada@c.example", flow=flow), make_candidate("bob@c.example")
    move(owner, bob, status="interviewed")
    assert ids_of(owner.api("GET", f"/v1/candidates?interview_flow_id={flow.id}")) == [ada.id]
    assert ids_of(owner.api("GET", "/v1/candidates?status=interviewed")) == [bob.id]
    assert ids_of(owner.api("GET", "/v1/candidates?email=aDA@c.example")) == [ada.id]
    assert ids_of(owner.api("GET", f"/v1/candidates?team_id={owner.team.id}")) == [bob.id, ada.id]


def test_a_status_that_is_not_in_the_pipeline_is_refused_with_those_that_are(
    owner: Person, make_candidate: Made
) -> None:
    candidate, column = make_candidate(), statuses.add(owner.organization, "Trial day", by=owner.member)
    db.session.commit()
    for answer, place in (
        (owner.api("GET", "/v1/candidates?status=hired"), "query"),
        (move(owner, candidate, status="hired"), "json"),
    ):
        assert code_of(answer) == (422, "invalid_input")
        assert list(answer.json["errors"]) == [place]
        assert answer.json["message"] == (
            "“hired” is not a status in your pipeline. Choose one of these: invited, interviewed, shortlisted, "
            "accepted, rejected, withdrawn, Trial day."
        )
    assert ids_of(owner.api("GET", "/v1/candidates?status=Trial+day")) == []
    statuses.rename(owner.organization, column.id, "Trial shift", by=owner.member)
    db.session.commit()
    assert owner.api("GET", "/v1/candidates?status=Trial+day").status_code == 422
    assert ids_of(owner.api("GET", "/v1/candidates?status=Trial+shift")) == []


def test_a_removed_status_is_taken_while_a_candidate_is_in_it(
    owner: Person, outsider: Person, make_candidate: Made
) -> None:
    candidate = make_candidate()
    candidate.status = "Gone"  # as after a move that was under way while the status was removed
    db.session.commit()
    assert ids_of(owner.api("GET", "/v1/candidates?status=Gone")) == [candidate.id]
    assert owner.api("GET", "/v1/candidates?status=Gone&email=other@c.example").json["candidates"] == []
    assert outsider.api("GET", "/v1/candidates?status=Gone").status_code == 422


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=x", "email=nobody", "status=", "after=", "order=name", "limit=1&limit=2"]
)
def test_a_query_that_is_wrong_is_refused(owner: Person, query: str) -> None:
    assert code_of(owner.api("GET", f"/v1/candidates?{query}")) == (422, "invalid_input")


def test_those_in_quarantine_and_those_of_tests_are_apart(owner: Person, make_candidate: Made) -> None:
    gone, trial, seen = (make_candidate(f"{name}@c.example") for name in ("gone", "trial", "seen"))
    gone.quarantined_at, trial.is_test = clock.now(), True
    _row, key = accounts.issue_api_key(owner.organization, name="Trial", by=owner.member, is_test=True)
    db.session.commit()
    assert ids_of(owner.api("GET", "/v1/candidates")) == [seen.id]
    tests = {"Authorization": f"Bearer {key}"}
    assert ids_of(owner.app.test_client().get("/v1/candidates", headers=tests)) == [trial.id]


def test_others_candidates_are_not_listed_and_refused_by_id(owner: Person, outsider: Person, make_flow: Made) -> None:
    foreign = interviews.book(outsider.organization, a_flow(outsider).id, email="secret@c.example")
    db.session.commit()
    assert ids_of(owner.api("GET", "/v1/candidates")) == []
    for method, path, body in (("GET", "", None), ("POST", "/move", {"status": "rejected"})):
        answer = owner.api(method, f"/v1/candidates/{foreign.candidate_id}{path}", json=body)
        assert code_of(answer) == (403, "other_organization")
        assert "secret" not in answer.text
    for unknown in (new_id(), "nope"):
        assert code_of(owner.api("GET", f"/v1/candidates/{unknown}")) == (422, "not_found")
    for name, status in (("interview_flow_id", 403), ("team_id", 403)):
        foreign_id = foreign.flow_id if name == "interview_flow_id" else outsider.team.id
        assert owner.api("GET", f"/v1/candidates?{name}={foreign_id}").status_code == status


def test_the_history_tells_a_move_with_a_key_from_parleys_own(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    candidates.move(candidate, "interviewed", by=None)
    db.session.commit()
    assert "with an API key" not in owner.browser.get(f"/candidates/{candidate.id}").text
    assert move(owner, candidate, status="withdrawn").status_code == 200
    assert moves_of(candidate) == [("interviewed", "withdrawn"), ("invited", "interviewed")]
    page = " ".join(owner.browser.get(f"/candidates/{candidate.id}").text.split())
    assert page.index("with an API key") < page.index("automatically")
    assert page.count("with an API key") == 1


def test_a_decision_leaves_history_record_event_and_audit(owner: Person, make_flow: Made, make_candidate: Made) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url="https://customer.example/hook"))
    body = {"status": "rejected", "decided_by": owner.member.id, "reason_code": "skills", "note": "Said so.\r\nTwice."}
    answer = move(owner, candidate, **body, previous_status="invited")
    assert (answer.status_code, answer.json["status"]) == (200, "rejected")
    change = db.session.scalars(sa.select(StatusChange).filter_by(candidate_id=candidate.id)).one()
    assert (change.previous, change.new, change.note, change.by_id) == ("invited", "rejected", "Said so.\nTwice.", None)
    record = db.session.scalars(sa.select(DecisionRecord)).one()
    assert (record.source, record.reason_code, record.decided_by) == ("api_key", "skills", owner.member.email)
    assert record.by_id is None
    event = db.session.scalars(sa.select(Delivery).filter_by(subject=candidate.id)).one()
    assert event.event_type == "candidate_status_updated"
    db.session.refresh(candidate)
    assert candidate.reviewed_at is not None
    entries = {one.action: one.details for one in db.session.scalars(sa.select(AuditEntry))}
    assert entries["candidate.moved"] == {"through": "/v1", "decided_by": owner.member.id}
    assert entries["decision.recorded"]["through"] == "/v1"
    page = owner.browser.get(f"/candidates/{candidate.id}").text
    assert f"with an API key by {owner.member.email}" in page
    log = owner.browser.get("/audit").text
    assert "Used an API key to move a candidate" in log


def test_a_move_that_decides_nothing_needs_no_person(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    assert move(owner, candidate, status="interviewed", note=None, previous_status=None).status_code == 200
    assert moves_of(candidate) == [("invited", "interviewed")]
    assert db.session.scalar(sa.select(sa.func.count()).select_from(DecisionRecord)) == 0
    assert db.session.get_one(Candidate, candidate.id).reviewed_at is None


@pytest.mark.parametrize("status", ["shortlisted", "accepted", "rejected"])
def test_a_decision_without_person_or_reason_is_refused(owner: Person, make_candidate: Made, status: str) -> None:
    candidate = make_candidate()
    reason = {"shortlisted": "skills_fit", "accepted": "best_fit", "rejected": "skills"}[status]
    whole = {"decided_by": owner.member.id, "reason_code": reason}
    for missing in ({"decided_by"}, {"reason_code"}, {"decided_by", "reason_code"}):
        given = {name: value for name, value in whole.items() if name not in missing}
        answer = move(owner, candidate, status=status, **given)
        assert code_of(answer) == (422, "decision_incomplete")
        assert all(name in answer.json["message"] for name in missing)
        assert set(answer.json["errors"]["json"]) == missing
    assert moves_of(candidate) == []
    assert move(owner, candidate, status=status, **whole).status_code == 200


def test_the_status_that_was_seen_must_be_the_present_one(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    assert move(owner, candidate, status="interviewed").status_code == 200
    answer = move(owner, candidate, status="withdrawn", previous_status="invited")
    assert code_of(answer) == (409, "conflict")
    assert "interviewed" in answer.json["message"]
    assert moves_of(candidate) == [("invited", "interviewed")]


def test_the_same_status_again_changes_nothing(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    answer = move(owner, candidate, status="invited")
    assert (answer.status_code, answer.json["status"]) == (200, "invited")
    assert moves_of(candidate) == []


def test_a_repeat_with_the_same_key_moves_once(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    call = {"json": {"status": "interviewed", "previous_status": "invited"}, "headers": {"Idempotency-Key": "k1"}}
    answers = [owner.api("POST", f"/v1/candidates/{candidate.id}/move", **call) for _ in range(2)]
    assert answers[0].data == answers[1].data
    assert answers[1].headers["Idempotent-Replayed"] == "true"
    assert len(moves_of(candidate)) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "status"),
        ({"status": ""}, "status"),
        ({"status": "no such status"}, "status"),
        ({"status": None}, "status"),
        ({"status": "interviewed", "reason_code": "skills"}, "reason_code"),
        ({"status": "interviewed", "note": "x" * 2_001}, "note"),
        ({"status": "interviewed", "note": "x" * 10_001}, "note"),
        ({"status": "interviewed", "note": "\x00"}, "note"),
        ({"status": "interviewed", "notify": True}, "notify"),
        ({"status": "interviewed", "decided_by": 7}, "decided_by"),
    ],
)
def test_a_body_that_is_wrong_is_refused_by_field(
    owner: Person, make_candidate: Made, body: dict[str, Any], field: str
) -> None:
    candidate = make_candidate()
    answer = move(owner, candidate, **body)
    assert code_of(answer) == (422, "invalid_input")
    assert field in answer.json["errors"]["json"], answer.json
    assert moves_of(candidate) == []


def test_a_reason_of_another_decision_or_of_no_list_is_refused(owner: Person, make_candidate: Made) -> None:
    candidate = make_candidate()
    for code in ("best_fit", "no such code"):
        answer = move(owner, candidate, status="rejected", decided_by=owner.member.id, reason_code=code)
        assert code_of(answer) == (422, "invalid_input")
        assert "reason_code" in answer.json["errors"]["json"]
        assert "GET /v1/statuses" in answer.json["message"]


def test_only_a_member_who_may_change_the_candidate_decides(
    owner: Person, viewer: Person, outsider: Person, make_candidate: Made
) -> None:
    candidate = make_candidate()
    decision = {"status": "rejected", "reason_code": "skills"}
    assert code_of(move(owner, candidate, **decision, decided_by=viewer.member.id)) == (422, "invalid_input")
    assert code_of(move(owner, candidate, **decision, decided_by=outsider.member.id)) == (403, "other_organization")
    assert code_of(move(owner, candidate, **decision, decided_by=new_id())) == (422, "not_found")
    viewer.member.role = Role.RECRUITER
    db.session.commit()
    moved_away(viewer)
    assert code_of(move(owner, candidate, **decision, decided_by=viewer.member.id)) == (422, "invalid_input")
    assert moves_of(candidate) == []


def test_the_pipeline_is_shown_in_order_with_its_reasons(owner: Person) -> None:
    shown = owner.api("GET", "/v1/statuses").json["statuses"]
    assert [one["name"] for one in shown] == [
        *("invited", "interviewed", "shortlisted", "accepted", "rejected", "withdrawn")
    ]
    assert [one["position"] for one in shown] == list(range(6))
    assert [one["meaning"] for one in shown] == ["open", "open", "advanced", "accepted", "rejected", "withdrawn"]
    assert shown[0]["reason_codes"] == []
    assert {"code": "skills", "label": "Skills do not match the role"} in shown[4]["reason_codes"]
    column = statuses.add(owner.organization, "Trial day", by=owner.member)
    column.meaning = None
    db.session.commit()
    last = owner.api("GET", "/v1/statuses").json["statuses"][-1]
    assert last == {
        "status_id": column.id,
        "name": "Trial day",
        "meaning": None,
        "position": 6,
        "reason_codes": [],
    }
