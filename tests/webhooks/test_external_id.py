"""``X-Parley-External-Id``: on events of interviews that have one, with the contract's body and signature."""

from datetime import UTC, datetime

import pytest

from app.core.db import db
from app.flows.models import InterviewType
from app.interviews import actions as interviews
from app.webhooks import delivery
from app.webhooks.delivery import Message
from app.webhooks.secret_keys import Secrets
from app.webhooks.signature import sign

SECRET = "a secret of more than 32 characters"
HEADER = "X-Parley-External-Id"


def told(office, flow, external_id):
    interview = interviews.book(office.organization, flow.id, email="ada@c.example")
    interviews.set_metadata(interview, {"external_id": external_id} if external_id else {"office": "Oslo"})
    db.session.commit()
    return interview


def test_events_of_an_interview_carry_its_id_elsewhere(office, receiver):
    flow = office.flow(receiver.url, secret=SECRET)
    interview = told(office, flow, "application 4711")
    office.processed(flow, interview.id)
    office.drain()
    interviews.set_metadata(interview, {"external_id": "changed"})
    office.processed(flow, interview.id, video=True)
    office.drain()
    first, second = receiver.requests
    assert (first.headers[HEADER], second.headers[HEADER]) == ("application 4711", "changed")
    assert first.headers["x-service-signature"] == sign(SECRET, first.body)
    assert b"4711" not in first.body


def test_other_events_have_no_such_header(office, receiver):
    flow = office.flow(receiver.url)
    interview = told(office, flow, "")
    office.processed(flow, interview.id)
    office.processed(flow)
    flow.interview_type = InterviewType.RECRUITMENT
    office.moved(flow, told(office, flow, "4711").candidate_id, 1)
    office.drain()
    assert len(receiver.requests) == 3
    assert not any(HEADER in request.headers for request in receiver.requests)


@pytest.mark.parametrize("text", ["1\r\nX-Evil: 1", "1\n", "\r", "ü", "", "\x00", "1\x7f"])
def test_a_text_that_is_not_one_line_never_becomes_a_header(text):
    message = Message("https://c.example", Secrets(SECRET), "evt_1", b"{}", datetime.now(UTC), external_id=text)
    assert HEADER not in delivery.headers(message, timestamp=1)
