"""The log of webhooks on the platform: who sees it, and what administrators do there."""

import pytest

from app.core.db import db, new_id
from app.webhooks import actions, queries
from app.webhooks.models import Attempt, DeliveryState, DisabledBy, ErrorClass

from .conftest import status_updated

URL = "https://receiver.example.com/hook"


@pytest.fixture
def flow(make_flow):
    return make_flow(webhook_url=URL, title="Night nurse")


@pytest.fixture
def delivery(flow):
    payload = status_updated(flow, email="<b>someone</b>@example.com")
    made = actions.announce(flow, event_type=payload["event_type"], payload=payload, subject=new_id(), sequence=1)
    db.session.add(
        Attempt(
            delivery_id=made.id,
            number=1,
            at=queries.present(),
            seconds=0.25,
            url=URL,
            address="93.184.215.14",
            status=500,
            error=ErrorClass.HTTP,
            note="the receiver responded with 500",
            answer=b"<script>oops</script>\x00\xff",
        )
    )
    db.session.commit()
    return made


def ended(delivery, state):
    delivery.state, delivery.finished_at = state, queries.present()
    db.session.commit()


def test_the_log_lists_deliveries_with_their_state(owner, delivery):
    page = owner.browser.get("/webhooks")
    assert page.status_code == 200
    for text in ("Candidate status updated", "Night nurse", "Pending", URL, f"/webhooks/deliveries/{delivery.id}"):
        assert text in page.text


def test_the_log_is_narrowed_by_flow_and_state(owner, delivery, make_flow):
    other = make_flow(title="Cook")
    browser = owner.browser
    assert "Candidate status updated" in browser.get(f"/webhooks?flow={delivery.flow_id}&state=pending").text
    assert "No deliveries match" in browser.get(f"/webhooks?flow={other.id}").text
    assert "No deliveries match" in browser.get("/webhooks?state=delivered").text
    assert "Candidate status updated" in browser.get("/webhooks?state=nonsense&offset=x").text


def test_one_delivery_shows_its_body_and_attempts_as_plain_text(owner, delivery):
    page = owner.browser.get(f"/webhooks/deliveries/{delivery.id}").text
    for text in ("500", "0.25", "93.184.215.14", "The receiver responded with 500", delivery.event_id):
        assert text in page
    assert "&lt;script&gt;oops" in page
    assert "<script>oops" not in page
    assert "<b>someone" not in page


def test_without_events_the_log_says_so(owner):
    assert "No deliveries" in owner.browser.get("/webhooks").text


def test_the_log_of_another_organization_is_closed(outsider, delivery):
    browser = outsider.browser
    assert f"/webhooks/deliveries/{delivery.id}" not in browser.get("/webhooks").text
    assert browser.get(f"/webhooks?flow={delivery.flow_id}").status_code == 403
    assert browser.get(f"/webhooks/deliveries/{delivery.id}").status_code == 403
    endpoint = delivery.endpoint_id
    for path in (
        f"deliveries/{delivery.id}/resend",
        f"deliveries/{delivery.id}/dismiss",
        f"endpoints/{endpoint}/enable",
        f"endpoints/{endpoint}/disable",
    ):
        assert browser.post(f"/webhooks/{path}").status_code == 403, path
    assert browser.post("/webhooks/resend", data={"flow": delivery.flow_id, "since": "2026-01-01"}).status_code == 403
    db.session.expire_all()
    assert delivery.state is DeliveryState.PENDING
    assert delivery.endpoint.disabled_at is None


def test_nobody_sees_anything_without_signing_in(client, delivery):
    for path in ("/webhooks", f"/webhooks/deliveries/{delivery.id}"):
        assert client.get(path).status_code in {302, 303}


@pytest.mark.parametrize("known", ["9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "nonsense", "%00"])
def test_an_unknown_delivery_or_endpoint_is_not_found(owner, known):
    browser = owner.browser
    assert browser.get(f"/webhooks/deliveries/{known}").status_code == 404
    assert browser.post(f"/webhooks/endpoints/{known}/enable").status_code == 404


def test_colleagues_see_the_log_but_change_nothing(colleague, delivery):
    browser = colleague.browser
    page = browser.get(f"/webhooks/deliveries/{delivery.id}")
    assert page.status_code == 200
    assert "Try now" not in page.text
    assert browser.post(f"/webhooks/deliveries/{delivery.id}/resend").status_code == 403
    assert browser.post(f"/webhooks/endpoints/{delivery.endpoint_id}/disable").status_code == 403


def test_an_administrator_sends_an_event_again(owner, delivery):
    ended(delivery, DeliveryState.EXHAUSTED)
    answer = owner.browser.post(f"/webhooks/deliveries/{delivery.id}/resend", follow_redirects=True)
    assert "being replayed" in answer.text
    db.session.expire_all()
    assert (delivery.state, delivery.attempts) == (DeliveryState.PENDING, 0)


def test_a_form_without_its_token_changes_nothing(owner, delivery):
    ended(delivery, DeliveryState.EXHAUSTED)
    owner.browser.post(f"/webhooks/deliveries/{delivery.id}/resend", forged=True)
    db.session.expire_all()
    assert delivery.state is DeliveryState.EXHAUSTED


def test_what_cannot_be_sent_again_is_explained(owner, delivery):
    ended(delivery, DeliveryState.CANCELLED)
    answer = owner.browser.post(f"/webhooks/deliveries/{delivery.id}/resend", follow_redirects=True)
    assert "A cancelled event cannot be sent." in answer.text


def test_an_administrator_dismisses_an_exhausted_status_event(owner, delivery):
    browser = owner.browser
    assert "can be dismissed" in browser.post(f"/webhooks/deliveries/{delivery.id}/dismiss", follow_redirects=True).text
    ended(delivery, DeliveryState.EXHAUSTED)
    assert "was dismissed" in browser.post(f"/webhooks/deliveries/{delivery.id}/dismiss", follow_redirects=True).text
    db.session.expire_all()
    assert delivery.state is DeliveryState.CANCELLED


def test_an_administrator_disables_and_enables_an_endpoint(owner, delivery):
    browser = owner.browser
    page = browser.post(f"/webhooks/endpoints/{delivery.endpoint_id}/disable", follow_redirects=True).text
    assert "An administrator disabled" in page
    db.session.expire_all()
    assert delivery.endpoint.disabled_by is DisabledBy.MEMBER
    assert delivery.state is DeliveryState.HELD
    assert (
        "already disabled"
        in browser.post(f"/webhooks/endpoints/{delivery.endpoint_id}/disable", follow_redirects=True).text
    )
    page = browser.post(f"/webhooks/endpoints/{delivery.endpoint_id}/enable", follow_redirects=True).text
    assert "1 held event is" in page
    db.session.expire_all()
    assert delivery.state is DeliveryState.PENDING
    ended(delivery, DeliveryState.EXHAUSTED)
    for change in ("disable", "enable"):
        page = browser.post(f"/webhooks/endpoints/{delivery.endpoint_id}/{change}", follow_redirects=True).text
    assert "The endpoint is enabled." in page
    assert "being sent, at most" not in page


def test_a_range_of_a_flow_is_sent_again(owner, delivery):
    ended(delivery, DeliveryState.EXHAUSTED)
    since = queries.present().strftime("%Y-%m-%dT00:00")
    data = {"flow": delivery.flow_id, "since": since, "failed_only": "yes"}
    assert (
        "1 delivery is being replayed" in owner.browser.post("/webhooks/resend", data=data, follow_redirects=True).text
    )


@pytest.mark.parametrize(
    ("since", "said"),
    [
        ("", "Enter the date and time"),
        ("yesterday", "Enter the date and time"),
        ("2020-01-01T00:00", "30 days"),
        ("0001-01-01T00:00+14:00", "Enter the date and time"),
    ],
)
def test_a_range_that_cannot_be_read_is_explained(owner, delivery, since, said):
    data = {"flow": delivery.flow_id, "since": since}
    answer = owner.browser.post("/webhooks/resend", data=data, follow_redirects=True)
    assert answer.status_code == 200
    assert said in answer.text


def test_recruiters_see_the_deliveries_of_their_own_teams(owner, colleague, delivery):
    assert f"/webhooks/deliveries/{delivery.id}" in colleague.browser.get("/webhooks").text
    colleague.member.teams = []
    db.session.commit()
    theirs = colleague.browser
    log = theirs.get("/webhooks").text
    assert f"/webhooks/deliveries/{delivery.id}" not in log
    assert URL not in log
    assert theirs.get(f"/webhooks/deliveries/{delivery.id}").status_code == 403
    assert theirs.get(f"/webhooks?flow={delivery.flow_id}").status_code == 403
    assert owner.browser.get(f"/webhooks/deliveries/{delivery.id}").status_code == 200


def test_flows_of_one_title_are_told_apart_in_the_filter(owner, make_flow):
    first, second, other = make_flow(title="Nurse"), make_flow(title="Nurse"), make_flow(title="Driver")
    page = owner.browser.get("/webhooks").text
    assert f"({first.created_at.day} {first.created_at:%b %Y}, {first.id[:8]})" in page
    assert f", {second.id[:8]})" in page
    assert other.id[:8] not in page.replace(f'value="{other.id}"', "")
