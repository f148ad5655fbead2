"""Enrolling: one candidate per flow and address, and no event."""

import threading

import pytest
from flask import Flask

from app.candidates import actions
from app.candidates.models import Candidate, StatusChange
from app.candidates.queries import candidate_seen_by, enrolled
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.core.errors import Forbidden, NotFound
from app.flows.models import InterviewFlow
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person, person

NAMES = {"first_name": None, "last_name": None}


def test_a_candidate_begins_as_invited_and_nobody_is_told(make_flow: Made, owner: Person) -> None:
    flow = make_flow(webhook_url="https://example.com/hook")
    candidate = actions.enrol(flow, email="Ada@Example.com", first_name="Ada", last_name=None, recruiter=owner.member)
    db.session.commit()
    assert (candidate.status, candidate.email, candidate.full_name) == ("invited", "Ada@Example.com", "Ada")
    assert (candidate.organization_id, candidate.team_id) == (flow.organization_id, flow.team_id)
    assert candidate.assigned_recruiter_id == owner.member.id
    assert db.session.query(StatusChange).count() == 0
    assert db.session.query(Delivery).count() == 0


def test_the_same_address_is_the_same_candidate_in_whatever_letters(make_flow: Made) -> None:
    flow = make_flow()
    first = actions.enrol(flow, email="Ada@Example.com", **NAMES, recruiter=None)
    second = actions.enrol(flow, email="ada@EXAMPLE.com", **NAMES, recruiter=None)
    assert first is second
    assert first.email == "Ada@Example.com"


def test_a_second_enrolment_only_fills_gaps(make_flow: Made, owner: Person) -> None:
    flow = make_flow()
    actions.enrol(flow, email="a@e.com", first_name="Ada", last_name=None, recruiter=None)
    again = actions.enrol(flow, email="a@e.com", first_name="Eve", last_name="Byron", recruiter=owner.member)
    assert (again.first_name, again.last_name, again.assigned_recruiter_id) == ("Ada", "Byron", owner.member.id)


def test_the_same_person_in_another_flow_is_another_candidate(make_flow: Made) -> None:
    one = actions.enrol(make_flow(), email="a@e.com", **NAMES, recruiter=None)
    two = actions.enrol(make_flow(), email="a@e.com", **NAMES, recruiter=None)
    assert one.id != two.id


def test_enrolling_again_keeps_the_status(make_flow: Made, owner: Person) -> None:
    flow = make_flow()
    candidate = actions.enrol(flow, email="a@e.com", **NAMES, recruiter=None)
    actions.move(candidate, "accepted", by=owner.member)
    assert actions.enrol(flow, email="a@e.com", **NAMES, recruiter=None).status == "accepted"


def test_enrolments_at_the_same_moment_agree_on_one_candidate(own_app: Flask) -> None:
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        values = {"organization_id": owner.organization.id, "team_id": owner.team.id, "org_name": "x", "title": "x"}
        flow = InterviewFlow(**values, questions=[])
        db.session.add(flow)
        db.session.commit()
        flow_id = flow.id
    together, found, wrong = threading.Barrier(6), [], []

    def enrol() -> None:
        with own_app.app_context():
            try:
                together.wait()
                flow = db.session.get_one(InterviewFlow, flow_id)
                found.append(actions.enrol(flow, email="a@e.com", **NAMES, recruiter=None).id)
                db.session.commit()
            except Exception as error:  # noqa: BLE001 - whatever it is, the test must see it
                wrong.append(error)

    threads = [threading.Thread(target=as_chosen(enrol)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(set(found)) == 1
    with own_app.app_context():
        assert db.session.query(Candidate).count() == 1
        assert enrolled(flow_id, "A@E.COM") is not None
        db.session.remove()
        db.engine.dispose()


def test_an_organization_finds_its_own_candidates_only(make_candidate: Made, owner: Person, outsider: Person) -> None:
    candidate = make_candidate()
    assert candidate_seen_by(owner.member, candidate.id) is candidate
    with pytest.raises(Forbidden):
        candidate_seen_by(outsider.member, candidate.id)
    for unknown in ("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "x\x00", ""):
        with pytest.raises(NotFound):
            candidate_seen_by(owner.member, unknown)
