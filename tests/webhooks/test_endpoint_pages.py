"""Pages of the organization's endpoints and of secrets: who sees them, and what they say."""

import re

import pytest

from app.core.db import db, new_id
from app.review.dashboard.queries import tasks_of
from app.webhooks import actions, queries
from app.webhooks.actions.rotation import sealed_of
from app.webhooks.models import DeliveryState, Endpoint

from .conftest import status_updated

ALL = "https://receiver.example.com/all"


@pytest.fixture
def endpoint(owner):
    made, _secret = actions.add(owner.organization, url=ALL, by=owner.member)
    db.session.commit()
    return made


@pytest.fixture
def delivery(endpoint, make_flow):
    flow = make_flow(title="Night nurse")
    payload = status_updated(flow)
    made = actions.announce(flow, event_type=payload["event_type"], payload=payload, subject=new_id(), sequence=1)
    db.session.commit()
    return made


def shown_secret(page):
    found = re.search(r'id="new-secret" value="([^"]+)"', page.text)
    return found and found[1]


def present(holder):
    db.session.expire_all()
    return sealed_of(holder).opened(queries.present()).present


def test_an_endpoint_is_added_and_its_secret_shown_once(owner):
    browser = owner.browser
    assert "Add endpoint" in browser.get("/webhooks").text
    page = browser.post("/webhooks/endpoints/new", data={"url": f" {ALL} ", "secret": ""}, follow_redirects=True)
    endpoint = db.session.query(Endpoint).one()
    assert endpoint.url == ALL
    assert shown_secret(page) == present(endpoint)
    assert "Every flow in your organization sends its events to this endpoint" in page.text
    assert shown_secret(browser.get(f"/webhooks/endpoints/{endpoint.id}")) is None
    listed = browser.get("/webhooks").text
    assert ALL in listed
    assert "All flows" in listed


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"url": ""}, "URL"),
        ({"url": "ftp://x.example.com"}, "http"),
        ({"url": ALL, "secret": "x" * 1001}, "Longer than 1000 characters"),
        ({"url": ALL, "secret": "\x00"}, "NUL"),
        ({"url": "https://" + "x" * 3000}, "URL"),
    ],
)
def test_what_cannot_be_an_endpoint_is_said_beside_the_field(owner, data, words):
    page = owner.browser.post("/webhooks/endpoints/new", data=data)
    assert page.status_code == 422
    assert words in page.text
    assert db.session.query(Endpoint).count() == 0


def test_a_url_that_is_there_already_is_said_beside_the_field(owner, endpoint):
    page = owner.browser.post("/webhooks/endpoints/new", data={"url": ALL})
    assert page.status_code == 422
    assert "has an endpoint with this URL already" in page.text


def test_a_removed_endpoint_leaves_the_list_and_keeps_its_page_and_log(owner, endpoint, delivery):
    page = owner.browser.post(f"/webhooks/endpoints/{endpoint.id}/remove", follow_redirects=True)
    assert "The endpoint is removed. Cancelled deliveries: 1." in page.text
    assert "the endpoint was removed" in page.text
    assert f'href="/webhooks/endpoints/{endpoint.id}"' not in page.text
    assert "Nothing is sent to it anymore." in owner.browser.get(f"/webhooks/endpoints/{endpoint.id}").text
    one = owner.browser.get(f"/webhooks/deliveries/{delivery.id}").text
    assert "The endpoint was removed." in one
    again = owner.browser.post(f"/webhooks/endpoints/{endpoint.id}/remove", follow_redirects=True)
    assert "was removed" in again.text


def test_a_secret_of_an_endpoint_is_rotated_and_switched(owner, endpoint):
    path = f"/webhooks/endpoints/{endpoint.id}"
    page = owner.browser.post(f"{path}/secret/rotate", data={"secret": "", "overlap_hours": ""}, follow_redirects=True)
    assert shown_secret(page) == present(endpoint)
    assert "The old secret also signs until" in page.text
    again = owner.browser.post(f"{path}/secret/rotate", data={"overlap_hours": "24"}, follow_redirects=True)
    assert "Nothing was changed. The current rotation ends at" in again.text
    page = owner.browser.post(f"{path}/secret/switch", follow_redirects=True)
    assert "Only the new secret signs now." in page.text
    assert "Rotate secret" in page.text
    again = owner.browser.post(f"{path}/secret/switch", follow_redirects=True)
    assert "there is only one secret" in again.text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"overlap_hours": "0"}, "Choose 1 to 168 hours."),
        ({"overlap_hours": "169"}, "Choose 1 to 168 hours."),
        ({"overlap_hours": "a day"}, "Choose 1 to 168 hours."),
        ({"secret": "x" * 1001, "overlap_hours": "1"}, "The secret is longer than 1000 characters."),
    ],
)
def test_a_bad_rotation_changes_nothing(owner, make_flow, data, words):
    flow = make_flow(webhook_url="https://receiver.example.com/hook")
    page = owner.browser.post("/webhooks/secret/rotate", data={"flow": flow.id, **data}, follow_redirects=True)
    assert "Nothing was changed." in page.text
    assert words in page.text
    db.session.expire_all()
    assert flow.webhook_secret_sealed is None


def test_a_recruiter_rotates_the_secret_of_a_flow_that_they_may_change(owner, colleague, make_flow):
    flow = make_flow(webhook_url="https://receiver.example.com/hook")
    browser = colleague.browser
    given = {"flow": flow.id, "secret": "x" * 32, "overlap_hours": "24"}
    page = browser.post("/webhooks/secret/rotate", data=given, follow_redirects=True)
    assert shown_secret(page) == "x" * 32
    page = browser.post("/webhooks/secret/rotate", data={**given, "secret": "y" * 32}, follow_redirects=True)
    assert "The old one also signs until" in page.text
    assert "the old one also signs until" in browser.get(f"/flows/{flow.id}").text
    browser.post("/webhooks/secret/switch", data={"flow": flow.id})
    db.session.expire_all()
    assert flow.webhook_old_secret_sealed is None
    assert "the old one also signs until" not in browser.get(f"/flows/{flow.id}").text


def test_a_flow_without_a_secret_is_asked_for_one_and_not_about_an_old_one(owner, make_flow):
    flow = make_flow(webhook_url="https://receiver.example.com/hook")
    path = f"/webhooks/secret?flow={flow.id}"
    assert "Set a webhook secret" in owner.browser.get(f"/flows/{flow.id}").text
    page = owner.browser.get(path).text
    for words in ("has no webhook secret", "Set a secret", ">Secret (optional)<", ">Set secret<"):
        assert words in page
    for words in ("old secret", "overlap_hours", "Rotate"):
        assert words not in page
    made = owner.browser.post("/webhooks/secret/rotate", data={"flow": flow.id, "secret": ""}, follow_redirects=True)
    assert shown_secret(made) == present(flow)
    assert "also signs until" not in made.text
    page = owner.browser.get(path).text
    for words in ("Rotate the secret", "Hours to keep signing with the old secret", ">Rotate secret<"):
        assert words in page
    assert "Set secret" not in page
    assert "Rotate the webhook secret" in owner.browser.get(f"/flows/{flow.id}").text


def test_endpoints_of_the_organization_are_for_administrators(owner, colleague, viewer, endpoint, delivery):
    for person in (colleague, viewer):
        listed = person.browser.get("/webhooks").text
        assert ALL not in listed
        assert delivery.id not in listed
        assert "Add endpoint" not in listed
        assert person.browser.get(f"/webhooks/deliveries/{delivery.id}").status_code == 403
        assert person.browser.get(f"/webhooks/endpoints/{endpoint.id}").status_code == 403
        for path in ("new", f"{endpoint.id}/remove", f"{endpoint.id}/secret/rotate", f"{endpoint.id}/secret/switch"):
            assert person.browser.post(f"/webhooks/endpoints/{path}", data={"url": ALL}).status_code == 403
    assert delivery.id in owner.browser.get(f"/webhooks?endpoint_id={endpoint.id}").text
    assert delivery.state is DeliveryState.PENDING


def test_the_log_is_narrowed_to_an_endpoint(owner, endpoint, delivery, make_flow):
    other, _secret = actions.add(owner.organization, url=f"{ALL}/2", by=owner.member)
    db.session.commit()
    assert delivery.id in owner.browser.get(f"/webhooks?endpoint_id={endpoint.id}").text
    assert "No deliveries match" in owner.browser.get(f"/webhooks?endpoint_id={other.id}").text
    assert owner.browser.get(f"/webhooks?endpoint_id={new_id()}").status_code in {403, 404}
    delivery.state, delivery.finished_at = DeliveryState.EXHAUSTED, queries.present()
    db.session.commit()
    page = owner.browser.get(f"/webhooks/again?endpoint_id={endpoint.id}").text
    assert ALL in page
    assert "Replay 1 delivery" in page
    assert "None of these deliveries" in owner.browser.get(f"/webhooks/again?endpoint_id={other.id}").text


def test_the_dashboard_counts_a_failing_endpoint_for_administrators_alone(owner, colleague, endpoint):
    endpoint.failing_since = queries.present()
    db.session.commit()
    counted = {
        who.member.role: {task.kind for task in tasks_of(who.member, link_days=30)} for who in (owner, colleague)
    }
    assert "failing" in counted[owner.member.role]
    assert "failing" not in counted[colleague.member.role]
    assert "has been failing since" in owner.browser.get("/webhooks").text
    assert "has been failing since" not in colleague.browser.get("/webhooks").text
