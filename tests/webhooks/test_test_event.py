"""A test event from the page: what real ones look like, sent once, about nobody."""

import json

import pytest

from app.accounts.models import AuditEntry
from app.core import encryption
from app.core.db import db
from app.flows.models import FlowStatus
from app.flows.queries import secret_context
from app.webhooks import actions, signature
from app.webhooks.actions.outbox import FIELDS
from app.webhooks.models import Delivery, Endpoint, EventType
from tests.outbound.receiver import Receiver, says


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def flow(make_flow, receiver):
    made = make_flow(webhook_url=receiver.url, title="Night nurse")
    made.webhook_secret_sealed = encryption.seal("secret", context=secret_context(made.id))
    db.session.commit()
    return made


def send(person, flow, event="interview_processed"):
    return person.browser.post("/webhooks/test", data={"flow": flow.id, "event": event})


@pytest.mark.parametrize("kind", list(EventType))
def test_each_event_has_the_shape_and_the_signatures_of_real_ones(colleague, flow, receiver, kind):
    receiver.script = says(202, b"<b>taken</b>")
    page = send(colleague, flow, kind.value)
    assert page.status_code == 200
    assert "Your receiver responded with 202" in page.text
    assert "&lt;b&gt;taken" in page.text
    (request,) = receiver.requests
    told = json.loads(request.body)
    assert tuple(told) == FIELDS[kind]
    assert (told["event_type"], told["interview_flow_id"], told["interview_flow_name"]) == (kind, flow.id, flow.title)
    assert {told.get("interviewee_email"), told.get("interviewee_email_address")} == {"test@example.com", None}
    assert request.headers["x-service-signature"] == signature.sign("secret", request.body)
    assert request.headers["webhook-id"].startswith("evt_test_")
    assert request.headers["X-Parley-Test"] == "1"
    standard = signature.standard(
        "secret",
        request.body,
        event_id=request.headers["webhook-id"],
        timestamp=int(request.headers["webhook-timestamp"]),
    )
    assert request.headers["webhook-signature"] == standard


def test_nothing_of_it_is_in_the_outbox_and_all_of_it_in_the_audit_log(owner, flow, receiver):
    receiver.script = says(500)
    assert "Only 200 to 299 count as delivered" in send(owner, flow).text
    assert len(receiver.requests) == 1  # a test is never tried again
    assert db.session.query(Delivery).count() == 0
    assert db.session.query(Endpoint).count() == 0
    entry = db.session.query(AuditEntry).filter_by(action="webhook.tested").one()
    assert (entry.subject, entry.member_id) == (flow.id, owner.member.id)
    assert entry.details == {"event": "interview_processed", "answer": 500}


def test_a_receiver_that_is_not_there_is_told_and_noted(owner, flow, receiver):
    flow.webhook_url = "http://127.0.0.1:9/hook"  # a port on which nobody listens
    flow.webhook_secret_sealed = None
    db.session.commit()
    page = send(owner, flow)
    assert page.status_code == 200
    assert "The event was not delivered" in page.text
    assert "not signed because this flow has no secret" in page.text
    entry = db.session.query(AuditEntry).filter_by(action="webhook.tested").one()
    assert entry.details["answer"] in {"connect", "forbidden_address"}


def test_the_page_shows_what_would_be_sent_and_sends_nothing(colleague, flow, receiver):
    page = colleague.browser.get(f"/webhooks/test?flow={flow.id}&event=candidate_status_updated")
    assert "&#34;new_status&#34;: &#34;interviewed&#34;" in page.text
    assert f"/webhooks/test?flow={flow.id}" in colleague.browser.get(f"/flows/{flow.id}").text
    assert receiver.requests == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"webhook_url": None}, "no webhook URL"), ({"status": FlowStatus.ARCHIVED}, "is archived")],
)
def test_a_flow_without_an_address_sends_none(owner, flow, receiver, changed, said):
    for name, value in changed.items():
        setattr(flow, name, value)
    db.session.commit()
    answer = send(owner, flow)
    assert answer.status_code == 422
    assert said in answer.text
    assert "Send a test event" not in owner.browser.get(f"/flows/{flow.id}").text
    assert receiver.requests == []


def test_who_may_not_and_what_is_no_event(viewer, owner, outsider, flow, receiver):
    assert send(viewer, flow).status_code == 403
    assert send(outsider, flow).status_code == 403
    for wrong in ("", "test", "interview_deleted"):
        answer = send(owner, flow, wrong)
        assert answer.status_code == 422
        assert "Choose an event" in answer.text
    assert receiver.requests == []


def test_an_administrator_sends_one_to_the_organizations_endpoint_with_both_secrets(owner, colleague, receiver):
    endpoint, old = actions.add(owner.organization, url=receiver.url, by=owner.member)
    new = actions.rotate(endpoint, by=owner.member).secret
    db.session.commit()
    assert "Send a test event" in owner.browser.get(f"/webhooks/endpoints/{endpoint.id}").text
    assert "signed with both secrets" in owner.browser.get(f"/webhooks/test?endpoint_id={endpoint.id}").text
    data = {"endpoint_id": endpoint.id, "event": "candidate_status_updated"}
    assert colleague.browser.post("/webhooks/test", data=data).status_code == 403
    page = owner.browser.post("/webhooks/test", data=data)
    assert "It accepts events" in page.text
    (request,) = receiver.requests
    assert json.loads(request.body)["interview_flow_name"] == "Test flow"
    assert request.headers["x-service-signature"] == signature.sign(old, request.body)
    given = request.headers["webhook-signature"].split(" ")
    at, event_id = int(request.headers["webhook-timestamp"]), request.headers["webhook-id"]
    assert given == [signature.standard(one, request.body, event_id=event_id, timestamp=at) for one in (new, old)]
    entry = db.session.query(AuditEntry).filter_by(action="webhook.tested").one()
    assert entry.subject == endpoint.id


def test_there_is_none_for_a_removed_endpoint_or_one_of_flows(owner, receiver):
    endpoint, _secret = actions.add(owner.organization, url=receiver.url, by=owner.member)
    actions.remove(endpoint, by=owner.member)
    of_flows = Endpoint(organization_id=owner.organization.id, url=receiver.url, url_hash="x" * 64)
    db.session.add(of_flows)
    db.session.commit()
    for one in (endpoint, of_flows):
        page = owner.browser.post("/webhooks/test", data={"endpoint_id": one.id, "event": "interview_processed"})
        assert page.status_code == 422
    assert receiver.requests == []
