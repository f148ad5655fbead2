"""The log over all flows: narrowed, sent again as it is narrowed, and how each receiver is."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db, new_id
from app.webhooks import actions, health, queries
from app.webhooks.models import Attempt, Delivery, DeliveryState, ErrorClass, EventType
from app.webhooks.queries import LogFilter
from tests.factories import Made
from tests.people import Person, moved_away

from .conftest import status_updated

URL = "https://receiver.example.com/hook"


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


@pytest.fixture
def flow(make_flow: Made) -> Any:
    return make_flow(webhook_url=URL, title="Night nurse")


@pytest.fixture
def ended(flow: Any) -> Made:
    """``ended(state, days=…, of=…)``: an event that was announced, and ended, so many days ago."""

    def make(
        state: str = "exhausted", *, days: float = 1, of: Any = None, subject: str = "", number: int = 1
    ) -> Delivery:
        payload = status_updated(flow)
        made = actions.announce(
            of or flow, event_type=payload["event_type"], payload=payload, subject=subject or new_id(), sequence=number
        )
        assert made is not None
        made.created_at = made.finished_at = clock.now() - timedelta(days=days)
        made.state = DeliveryState(state)
        made.hold = None
        if state == "delivered":
            made.delivered_at = made.finished_at
        db.session.commit()
        return made

    return make


def tried(
    delivery: Delivery, *, status: int | None, seconds: float = 0.2, hours: float = 1, there: str | None = None
) -> None:
    """An attempt at the event's endpoint, or at another one ``there``."""
    db.session.add(
        Attempt(
            delivery_id=delivery.id,
            endpoint_id=there or delivery.endpoint_id,
            number=1,
            at=clock.now() - timedelta(hours=hours),
            seconds=seconds,
            url=URL,
            status=status,
            error=None if status == 200 else ErrorClass.HTTP,
        )
    )
    db.session.commit()


def test_the_log_is_narrowed_by_event_and_days(owner: Person, ended: Made) -> None:
    old, new = ended(days=9), ended(days=1)
    browser = owner.browser
    day = (clock.now() - timedelta(days=9)).date()
    for query, shown, hidden in (
        (f"since={day + timedelta(days=1)}", new, old),
        (f"until={day}", old, new),
        (f"since={day}&until={day}", old, new),
    ):
        page = browser.get(f"/webhooks?{query}").text
        assert shown.id in page, query
        assert hidden.id not in page, query
    assert "No deliveries match" in browser.get("/webhooks?event=video_processed").text
    assert old.id in browser.get("/webhooks?event=candidate_status_updated&since=nonsense&until=%00").text


def test_what_the_filter_finds_is_sent_again_after_a_look_and_once(owner: Person, ended: Made) -> None:
    lost, fine, old = ended("exhausted"), ended("delivered"), ended("exhausted", days=31)
    emptied = ended("exhausted")
    emptied.body = None
    db.session.commit()
    browser = owner.browser
    assert "/webhooks/again?state=exhausted" in browser.get("/webhooks?state=exhausted").text
    page = browser.get("/webhooks/again?state=exhausted")
    assert "Deliveries in the log 3 Can be replayed 1" in words_of(page)
    found = re.search(r'name="as_of" value="([^"]+)"', page.text)
    assert found is not None
    form = {"state": "exhausted", "as_of": html.unescape(found.group(1))}
    assert lost.state is DeliveryState.EXHAUSTED, "looking sends nothing"
    answer = browser.post("/webhooks/again", data=form, follow_redirects=True)
    assert "1 delivery is being replayed" in words_of(answer)
    db.session.expire_all()
    assert [one.state.value for one in (lost, fine, old, emptied)] == ["pending", "delivered", "exhausted", "exhausted"]
    assert (lost.attempts, lost.finished_at) == (0, None)
    now = clock.now()
    lost.state, lost.finished_at = DeliveryState.EXHAUSTED, now
    db.session.commit()
    assert "There is nothing to replay" in words_of(browser.post("/webhooks/again", data=form, follow_redirects=True))
    db.session.expire_all()
    assert lost.state is DeliveryState.EXHAUSTED
    written = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "webhook.range_resent")).one()
    assert written.details == {"filter": {"state": "exhausted"}, "events": 1}


def test_later_events_wait_for_earlier_ones_that_are_sent_again(owner: Person, ended: Made) -> None:
    subject = new_id()
    ended("exhausted", subject=subject)
    ended("exhausted", subject=subject, number=2)
    filters = LogFilter(state=DeliveryState.EXHAUSTED)
    assert actions.resend_found(filters, as_of=clock.now(), by=owner.member) == 2
    rows = db.session.scalars(sa.select(Delivery).order_by(Delivery.sequence)).all()
    assert [one.state.value for one in rows] == ["pending", "held"]


def test_nothing_goes_to_an_endpoint_that_is_disabled_and_all_to_the_present_address(
    owner: Person, ended: Made, flow: Any
) -> None:
    lost = ended()
    first = lost.endpoint
    everything = LogFilter(event=EventType.CANDIDATE_STATUS_UPDATED)
    first.disabled_at = clock.now()
    db.session.commit()
    assert actions.resend_found(everything, as_of=clock.now(), by=owner.member) == 0
    flow.webhook_url = "https://other.example.com/hook"
    db.session.commit()
    actions.tidy()
    newer = ended("delivered")
    assert newer.endpoint_id != first.id
    assert actions.resend_found(everything, as_of=clock.now(), by=owner.member) == 2
    db.session.refresh(lost)
    assert lost.endpoint_id == newer.endpoint_id


@pytest.mark.parametrize("as_of", ["", "nonsense", "2026-01-31T09:15", "0001-01-01T00:00:00+23:59"])
def test_a_form_that_is_not_whole_sends_nothing(owner: Person, ended: Made, as_of: str) -> None:
    lost = ended()
    answer = owner.browser.post("/webhooks/again", data={"as_of": as_of}, follow_redirects=True)
    assert "Open the confirmation page again" in words_of(answer)
    db.session.expire_all()
    assert lost.state is DeliveryState.EXHAUSTED


def test_only_administrators_send_a_selection_and_only_their_own(
    owner: Person, colleague: Person, outsider: Person, ended: Made
) -> None:
    lost = ended()
    far = {"as_of": "2200-01-01T00:00:00+00:00"}
    assert colleague.browser.get("/webhooks/again").status_code == 403
    assert colleague.browser.post("/webhooks/again", data=far).status_code == 403
    assert "Send these again" not in colleague.browser.get("/webhooks").text
    assert "Can be replayed 0" in words_of(outsider.browser.get("/webhooks/again"))
    outsider.browser.post("/webhooks/again", data=far)
    assert outsider.browser.get(f"/webhooks/again?flow={lost.flow_id}").status_code == 403
    db.session.expire_all()
    assert lost.state is DeliveryState.EXHAUSTED


def test_the_health_of_a_receiver_counts_what_was_sent_to_it(owner: Person, ended: Made, make_flow: Made) -> None:
    delivery = ended()
    earlier = ended(of=make_flow(webhook_url="https://earlier.example.com")).endpoint
    for number in range(19):
        tried(delivery, status=200, seconds=0.1, hours=2 + number / 100)
    tried(delivery, status=500, seconds=3.0, hours=1)
    tried(delivery, status=None, seconds=15.0, hours=0.5)
    tried(delivery, status=200, seconds=9.0, hours=30)
    tried(delivery, status=500, hours=24 * 8)
    tried(delivery, status=500, hours=1, there=earlier.id)
    endpoint = delivery.endpoint
    day, week = health.day_and_week(endpoint)
    assert (day.attempts, day.succeeded, day.median, day.most) == (21, 19, 0.1, 3.0)
    assert (week.attempts, week.succeeded) == (22, 20)
    assert health.failures_in_a_row(endpoint) == 2
    assert health.rates([endpoint, earlier])[endpoint.id].share == 19 / 21
    assert health.day_and_week(earlier)[0].attempts == 1, "it counts where it went, not where its event goes now"
    words = words_of(owner.browser.get(f"/webhooks/endpoints/{endpoint.id}"))
    assert "Last 24 hours 21 90.5% 0.10 s 3.00 s" in words
    assert "Failed attempts in a row 2" in words
    assert "Night nurse" in words
    assert "90% of 21" in words_of(owner.browser.get("/webhooks"))


def test_a_receiver_without_attempts_says_so(owner: Person, ended: Made) -> None:
    endpoint = ended().endpoint
    assert [one.share for one in health.day_and_week(endpoint)] == [None, None]
    assert "Last 7 days 0 – – –" in words_of(owner.browser.get(f"/webhooks/endpoints/{endpoint.id}"))


def test_recruiters_see_receivers_of_their_teams_only(
    owner: Person, colleague: Person, outsider: Person, ended: Made
) -> None:
    delivery = ended()
    tried(delivery, status=500)
    path = f"/webhooks/endpoints/{delivery.endpoint_id}"
    page = colleague.browser.get(path)
    assert page.status_code == 200
    assert "Disable" not in page.text
    assert delivery.id not in page.text, "another team may share the receiver"
    assert outsider.browser.get(path).status_code == 403
    moved_away(colleague)
    assert colleague.browser.get(path).status_code == 403
    assert owner.browser.get(path).status_code == 200
    assert queries.endpoint_seen_by(owner.member, delivery.endpoint_id) is not None
