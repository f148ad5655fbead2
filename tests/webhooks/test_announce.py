"""The outbox: one row per event, its bytes final, in the transaction of the change."""

import json

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.core.db import db, new_id
from app.webhooks import DRAIN_WEBHOOKS, actions
from app.webhooks.models import Delivery, DeliveryState, EventType, Hold

URL = "https://receiver.example.com/hook"


def enqueued(office):
    return [job for job, _ids in office.app.extensions["parley.bell"].enqueued]


def test_an_event_is_written_with_its_final_bytes_and_rings_after_the_commit(office):
    flow = office.flow(URL)
    interview = office.processed(flow)
    delivery = office.delivery()
    assert delivery.state is DeliveryState.PENDING
    assert list(json.loads(delivery.body)) == [
        "event_type",
        "interview_flow_id",
        "interview_id",
        "interview_link",
        "interview_flow_name",
        "interviewee_email_address",
        "interviewee_first_name",
        "interviewee_last_name",
        "status",
    ]
    assert "Zoë".encode() in delivery.body
    assert delivery.subject == interview
    assert delivery.event_id.startswith("evt_")
    assert len(delivery.event_id) == 36
    assert enqueued(office) == [DRAIN_WEBHOOKS]


def test_a_rolled_back_change_leaves_no_event_and_no_bell(office):
    flow = office.flow(URL)
    payload = dict.fromkeys(actions.outbox.FIELDS[EventType.INTERVIEW_PROCESSED], "x")
    actions.announce(flow, event_type="interview_processed", payload=payload, subject=new_id(), sequence=1)
    db.session.rollback()
    assert office.deliveries() == []
    assert enqueued(office) == []


def test_a_flow_without_an_address_announces_nothing(office):
    office.processed(office.flow(None))
    office.processed(office.flow(""))
    assert office.deliveries() == []


def test_an_event_is_announced_once(office):
    flow = office.flow(URL)
    interview = office.processed(flow)
    first = office.delivery().event_id
    office.processed(flow, interview)
    assert office.delivery().event_id == first


@pytest.mark.parametrize("change", [{"sequence": 2}, {"event_type": EventType.VIDEO_PROCESSED}])
def test_the_database_itself_refuses_a_second_row(office, change):
    flow = office.flow(URL)
    office.processed(flow)
    row = office.delivery()
    same = {
        "organization_id": row.organization_id,
        "flow_id": row.flow_id,
        "endpoint_id": row.endpoint_id,
        "event_type": row.event_type,
        "subject": row.subject,
        "sequence": row.sequence,
        "body": b"{}",
        "state": DeliveryState.PENDING,
        "due_at": row.due_at,
    }
    db.session.add(Delivery(**{**same, **change}))
    with pytest.raises(IntegrityError):
        db.session.flush()
    db.session.rollback()


def test_several_status_events_of_one_candidate_are_one_row_each(office):
    flow, candidate = office.flow(URL), new_id()
    for number in (1, 2, 3, 3):
        office.moved(flow, candidate, number)
    assert [delivery.sequence for delivery in office.deliveries()] == [1, 2, 3]
    assert office.states() == ["pending", "held", "held"]


def test_a_video_waits_for_its_interview(office):
    flow = office.flow(URL)
    office.processed(flow, office.processed(flow), video=True)
    first, second = office.deliveries()
    assert (first.state, second.state, second.hold) == (DeliveryState.PENDING, DeliveryState.HELD, Hold.ORDER)


def test_a_video_whose_interview_was_never_announced_is_never_sent(office):
    flow = office.flow(URL)
    office.processed(flow, video=True)
    assert office.deliveries() == []


@pytest.mark.parametrize("wrong", [{"extra": "x"}, {"status": None, "event_type": "x" * 21_000}])
def test_a_payload_that_is_not_the_interfaces_is_an_error_of_the_program(office, wrong):
    flow = office.flow(URL)
    payload = {**dict.fromkeys(actions.outbox.FIELDS[EventType.INTERVIEW_PROCESSED], "x"), **wrong}
    with pytest.raises(ValueError, match=r"exactly the fields|bytes"):
        actions.announce(flow, event_type="interview_processed", payload=payload, subject=new_id(), sequence=1)


def test_flows_with_the_same_address_share_an_endpoint_within_their_organization(office):
    other, _member = office.found("Second")
    for flow in (office.flow(URL), office.flow(URL), office.flow(URL, of=other), office.flow(URL + "2")):
        office.processed(flow)
    endpoints = [delivery.endpoint_id for delivery in office.deliveries()]
    assert endpoints[0] == endpoints[1]
    assert len(set(endpoints)) == 3


def test_a_revoked_video_is_shown_as_cancelled_and_never_announced(office):
    flow = office.flow(URL)
    interview = office.processed(flow)
    actions.cancel(interview, "video_processed")
    db.session.commit()
    office.processed(flow, interview, video=True)
    assert office.states() == ["pending", "cancelled"]
    assert office.deliveries()[1].body is None


def test_a_waiting_video_event_is_cancelled_and_a_delivered_one_stays(office):
    flow = office.flow(URL)
    waiting, done = office.processed(flow), office.processed(flow)
    for interview in (waiting, done):
        office.processed(flow, interview, video=True)
    db.session.execute(
        sa.update(Delivery)
        .where(Delivery.subject == done)
        .values(state=DeliveryState.DELIVERED, delivered_at=Delivery.created_at, hold=None)
    )
    for interview in (waiting, done):
        actions.cancel(interview, "video_processed")
    db.session.commit()
    assert office.states(subject=waiting) == ["pending", "cancelled"]
    assert office.states(subject=done) == ["delivered", "delivered"]


def test_cancelling_what_was_never_announced_does_nothing(office):
    actions.cancel(new_id(), "video_processed")
    db.session.commit()
    assert office.deliveries() == []
