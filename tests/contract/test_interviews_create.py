"""POST /v1/interviews against the interface."""

import re
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import Organization, Team, TeamMember
from app.candidates.models import Candidate
from app.core.db import db, new_id
from app.flows.models import FlowStatus, InterviewFlow, InterviewType
from app.interviews.models import Interview, InterviewBucket, Stage
from app.webhooks.models import Delivery
from tests.factories import Made, a_flow
from tests.people import Person

PATH = "/v1/interviews"
NOBODYS = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"


def test_the_answer_has_id_link_and_hint(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    answer = owner.api("POST", PATH, json={"interview_flow_id": flow.id})
    assert answer.status_code == 200
    assert sorted(answer.json) == ["hint", "interview_id", "interview_link"]
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", answer.json["interview_id"]
    )
    assert answer.json["interview_link"] == f"http://localhost/interview/api/{flow.id}/{answer.json['interview_id']}"
    interview = db.session.get_one(Interview, answer.json["interview_id"])
    assert (interview.team_id, interview.stage) == (flow.team_id, Stage.CREATED)


def test_the_link_carries_the_recruiter(owner: Person, colleague: Person, make_flow: Made) -> None:
    body = {"interview_flow_id": make_flow().id, "assigned_recruiter_id": colleague.member.id.upper()}
    answer = owner.api("POST", PATH, json=body)
    assert answer.json["interview_link"].endswith(f"?assignedRecruiterId={colleague.member.id}")


@pytest.mark.parametrize(
    ("kind", "email", "hint"),
    [
        (InterviewType.RECRUITMENT, "mary@candidate.example", "appears on"),
        (InterviewType.RECRUITMENT, None, "interviewee_email_address"),
        (InterviewType.GENERAL, "mary@candidate.example", "not of type recruitment"),
        (None, None, "not of type recruitment"),
    ],
)
def test_the_hint_says_whether_it_will_show_and_why_not(
    owner: Person, make_flow: Made, kind: InterviewType | None, email: str | None, hint: str
) -> None:
    flow = make_flow(interview_type=kind)
    body = {"interview_flow_id": flow.id, "interviewee_email_address": email}
    assert hint in owner.api("POST", PATH, json=body).json["hint"]
    enrolled = db.session.scalar(sa.select(sa.func.count(Candidate.id)).where(Candidate.flow_id == flow.id))
    assert enrolled == (1 if "appears on" in hint else 0)


def test_two_interviews_of_one_address_are_one_candidate_and_tell_nobody(owner: Person, make_flow: Made) -> None:
    flow = make_flow(webhook_url="https://receiver.example/hook")
    for address in ("mary@candidate.example", "Mary@Candidate.example"):
        body = {"interview_flow_id": flow.id, "interviewee_email_address": address}
        assert owner.api("POST", PATH, json=body).status_code == 200
    assert len({one.candidate_id for one in db.session.scalars(sa.select(Interview))}) == 1
    assert db.session.scalars(sa.select(Delivery)).all() == []


def test_a_flow_of_another_organization_is_forbidden(owner: Person, outsider: Person) -> None:
    flow = a_flow(outsider)
    answer = owner.api("POST", PATH, json={"interview_flow_id": flow.id})
    assert answer.status_code == 403
    assert sorted(answer.json) == ["code", "message", "status"]


@pytest.mark.parametrize("flow_id", [NOBODYS, "x", "", "a" * 101])
def test_an_unknown_flow_is_a_422(owner: Person, flow_id: str) -> None:
    assert owner.api("POST", PATH, json={"interview_flow_id": flow_id}).status_code == 422


@pytest.mark.parametrize("status", [FlowStatus.CLOSED, FlowStatus.ARCHIVED])
def test_a_flow_that_is_not_open_takes_no_interviews(owner: Person, make_flow: Made, status: FlowStatus) -> None:
    answer = owner.api("POST", PATH, json={"interview_flow_id": make_flow(status=status).id})
    assert answer.status_code == 422
    assert status.value in answer.json["message"]


def test_a_recruiter_must_belong_to_the_flows_team(owner: Person, outsider: Person, make_flow: Made) -> None:
    loner = TeamMember(organization_id=owner.organization.id, email="loner@first.example")
    db.session.add(loner)
    db.session.commit()
    flow = make_flow()
    for recruiter in (loner.id, outsider.member.id, new_id()):
        body = {"interview_flow_id": flow.id, "assigned_recruiter_id": recruiter}
        answer = owner.api("POST", PATH, json=body)
        assert answer.status_code == 422
        assert "assigned_recruiter_id" in answer.json["errors"]["json"]
    assert db.session.scalar(sa.select(sa.func.count(Interview.id))) == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "interview_flow_id"),
        ({"interview_flow_id": None}, "interview_flow_id"),
        ({"interview_flow_id": 7}, "interview_flow_id"),
        ({"interviewee_email_address": "no address"}, "interviewee_email_address"),
        ({"interviewee_first_name": "a" * 301}, "interviewee_first_name"),
        ({"interviewee_last_name": "a\u0000"}, "interviewee_last_name"),
        ({"assigned_recruiter_id": "not-a-uuid"}, "assigned_recruiter_id"),
        ({"team_id": "x"}, "team_id"),
    ],
)
def test_bad_input_names_the_field(owner: Person, make_flow: Made, body: dict[str, Any], field: str) -> None:
    given = {"interview_flow_id": make_flow().id, **body} if body else {}
    answer = owner.api("POST", PATH, json=given)
    assert answer.status_code == 422
    assert field in answer.json["errors"]["json"]


def test_numbers_are_dense_and_counted(owner: Person, make_flow: Made) -> None:
    other = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(other)
    db.session.commit()
    flows = [make_flow(), make_flow(team_id=other.id)]
    for flow in (flows[0], flows[1], flows[0]):
        owner.api("POST", PATH, json={"interview_flow_id": flow.id})
    found = db.session.execute(sa.select(Interview.org_seq, Interview.team_seq).order_by(Interview.org_seq)).all()
    assert [tuple(row) for row in found] == [(1, 1), (2, 1), (3, 2)]
    counted = db.session.execute(sa.select(InterviewBucket.owner_id, InterviewBucket.interviews)).all()
    assert dict(counted) == {owner.organization.id: 3, owner.team.id: 2, other.id: 1}  # type: ignore[arg-type]
    db.session.expire_all()
    assert db.session.get_one(Organization, owner.organization.id).interview_seq == 3


def test_a_refused_booking_leaves_no_hole(owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    owner.api("POST", PATH, json={"interview_flow_id": flow.id, "assigned_recruiter_id": new_id()})
    answer = owner.api("POST", PATH, json={"interview_flow_id": flow.id})
    assert db.session.get_one(Interview, answer.json["interview_id"]).org_seq == 1


def test_nobody_books_without_a_key(app: Flask, make_flow: Made) -> None:
    flow: InterviewFlow = make_flow()
    assert app.test_client().post(PATH, json={"interview_flow_id": flow.id}).status_code == 401


def test_a_repeated_call_with_its_key_books_once(owner: Person, make_flow: Made) -> None:
    headers = {"Idempotency-Key": "booking-1"}
    body = {"interview_flow_id": make_flow().id}
    first = owner.api("POST", PATH, json=body, headers=headers)
    second = owner.api("POST", PATH, json=body, headers=headers)
    assert first.json == second.json
    assert db.session.scalar(sa.select(sa.func.count(Interview.id))) == 1
