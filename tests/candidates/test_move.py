"""Moving a candidate: one history row and one event for each real move, in one order."""

import json
import threading
from typing import Any

import pytest
from flask import Flask

from app.candidates import actions
from app.candidates.models import DEFAULT_STATUSES, Candidate, PipelineStatus, StatusChange
from app.candidates.queries import history_of, statuses_of
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.core.errors import Rejected
from app.core.queue import SilentWaker
from app.flows.models import InterviewFlow
from app.webhooks import DRAIN_WEBHOOKS
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person, person

HOOK = "https://example.com/hook"


def _events() -> list[dict[str, Any]]:
    rows = db.session.query(Delivery).order_by(Delivery.sequence)
    return [json.loads(row.body or b"") for row in rows]


def test_a_move_sets_the_status_and_is_kept_with_who_made_it_and_why(make_candidate: Made, owner: Person) -> None:
    candidate = make_candidate()
    change = actions.move(candidate, "shortlisted", by=owner.member, note="Strong answers.")
    db.session.commit()
    assert change is not None
    assert (change.number, change.previous, change.new) == (1, "invited", "shortlisted")
    assert (change.by_id, change.note) == (owner.member.id, "Strong answers.")
    assert (candidate.status, candidate.status_changes) == ("shortlisted", 1)


def test_each_move_fires_exactly_one_event_with_exactly_the_fields_of_the_interface(
    make_flow: Made, make_candidate: Made, owner: Person, waker: SilentWaker
) -> None:
    flow = make_flow(webhook_url=HOOK, title="Nurse")
    candidate = make_candidate("Ada@Example.com", flow=flow)
    actions.move(candidate, "shortlisted", by=owner.member)
    actions.move(candidate, "accepted", by=None)
    db.session.commit()
    common = {
        "event_type": "candidate_status_updated",
        "interview_flow_id": flow.id,
        "interview_flow_name": "Nurse",
        "interviewee_email": "Ada@Example.com",
    }
    assert _events() == [
        {**common, "previous_status": "invited", "new_status": "shortlisted"},
        {**common, "previous_status": "shortlisted", "new_status": "accepted"},
    ]
    assert {row.subject for row in db.session.query(Delivery)} == {candidate.id}
    assert (DRAIN_WEBHOOKS, ()) in waker.enqueued


def test_the_same_status_is_no_move(make_flow: Made, make_candidate: Made) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url=HOOK))
    assert actions.move(candidate, "invited", by=None) is None
    db.session.commit()
    assert (candidate.status_changes, db.session.query(StatusChange).count(), _events()) == (0, 0, [])


def test_a_flow_without_a_webhook_tells_nobody(make_candidate: Made) -> None:
    assert actions.move(make_candidate(), "accepted", by=None) is not None
    db.session.commit()
    assert _events() == []


def test_a_move_that_is_rolled_back_leaves_neither_history_nor_event(make_flow: Made, make_candidate: Made) -> None:
    candidate = make_candidate(flow=make_flow(webhook_url=HOOK))
    actions.move(candidate, "accepted", by=None)
    db.session.rollback()
    assert (candidate.status, db.session.query(StatusChange).count(), _events()) == ("invited", 0, [])


@pytest.mark.parametrize("previous", DEFAULT_STATUSES)
@pytest.mark.parametrize("new", DEFAULT_STATUSES)
def test_any_move_is_allowed(make_candidate: Made, previous: str, new: str) -> None:
    candidate = make_candidate()
    actions.move(candidate, previous, by=None)
    change = actions.move(candidate, new, by=None)
    assert (change is None) == (previous == new)
    assert candidate.status == new


@pytest.mark.parametrize("status", ["hired", "", "Invited", "x" * 5_000])
def test_a_status_that_is_none_of_the_pipeline_is_refused(make_candidate: Made, status: str) -> None:
    candidate = make_candidate()
    with pytest.raises(Rejected) as refusal:
        actions.move(candidate, status, by=None)
    assert refusal.value.field == "status"
    assert candidate.status == "invited"


def test_a_note_has_a_greatest_length(make_candidate: Made) -> None:
    with pytest.raises(Rejected) as refusal:
        actions.move(make_candidate(), "accepted", by=None, note="x" * 2_001)
    assert (refusal.value.field, "2000" in refusal.value.message) == ("note", True)


def test_an_organization_may_have_statuses_of_its_own(make_candidate: Made, owner: Person, outsider: Person) -> None:
    names = ("second talk", "invited")
    for position, name in enumerate(names):
        db.session.add(PipelineStatus(organization_id=owner.organization.id, name=name, position=1 - position))
    db.session.flush()
    assert statuses_of(owner.organization) == ["invited", "second talk"]
    assert statuses_of(outsider.organization) == list(DEFAULT_STATUSES)
    assert actions.move(make_candidate(), "second talk", by=None) is not None


def test_the_history_is_newest_first(make_candidate: Made) -> None:
    candidate = make_candidate()
    for status in ("interviewed", "shortlisted", "rejected"):
        actions.move(candidate, status, by=None)
    assert [change.number for change in history_of(candidate)] == [3, 2, 1]


def test_moves_at_the_same_moment_all_count_and_never_share_a_number(own_app: Flask) -> None:
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        values = {"organization_id": owner.organization.id, "team_id": owner.team.id, "org_name": "x", "title": "x"}
        flow = InterviewFlow(**values, questions=[], webhook_url=HOOK)
        db.session.add(flow)
        db.session.flush()
        candidate = actions.enrol(flow, email="a@e.com", first_name=None, last_name=None, recruiter=None)
        db.session.commit()
        candidate_id = candidate.id
    targets = [status for status in DEFAULT_STATUSES if status != "invited"]
    together, wrong = threading.Barrier(len(targets)), []

    def move(status: str) -> None:
        with own_app.app_context():
            try:
                together.wait()
                actions.move(db.session.get_one(Candidate, candidate_id), status, by=None)
                db.session.commit()
            except Exception as error:  # noqa: BLE001 - whatever it is, the test must see it
                wrong.append(error)

    threads = [threading.Thread(target=as_chosen(move), args=(status,)) for status in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    with own_app.app_context():
        changes = history_of(db.session.get_one(Candidate, candidate_id))[::-1]
        assert [change.number for change in changes] == [1, 2, 3, 4, 5]
        assert [change.previous for change in changes] == ["invited", *(change.new for change in changes[:-1])]
        assert {change.new for change in changes} == set(targets)
        assert [(e["previous_status"], e["new_status"]) for e in _events()] == [(c.previous, c.new) for c in changes]
        db.session.remove()
        db.engine.dispose()
