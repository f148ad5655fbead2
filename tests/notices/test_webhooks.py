"""Notices about failing endpoints: once for each turn for the worse, to administrators and channels."""

from typing import Any

import pytest

from app.core import clock
from app.core.db import db, new_id
from app.review.flow_access import actions as flow_access
from app.review.notices import jobs
from app.review.notices.models import NoticeKind, Pace
from app.webhooks import actions
from app.webhooks.actions.telling import tell
from app.webhooks.models import Delivery, DisabledBy, Endpoint, Trouble
from tests.factories import Made
from tests.mailing import mails
from tests.outbound.receiver import Receiver
from tests.people import Person
from tests.webhooks.conftest import status_updated

from .conftest import notices, spread, wants
from .services import slack_seen

pytestmark = pytest.mark.usefixtures("mailing")


@pytest.fixture
def endpoint(owner: Person, make_flow: Made) -> Endpoint:
    flow = make_flow(webhook_url="https://receiver.example.com/hook?token=very-secret", title="Night\nnurse")
    payload = status_updated(flow)
    made = actions.announce(flow, event_type=payload["event_type"], payload=payload, subject=new_id(), sequence=1)
    assert made is not None
    db.session.commit()
    return made.endpoint


def becomes(endpoint: Endpoint, trouble: Trouble | None = None, **columns: Any) -> None:
    for name, value in columns.items():
        setattr(endpoint, name, value)
    if trouble:
        tell(endpoint, trouble)
    db.session.commit()


def mailed() -> int:
    before = len(mails())
    spread()
    return len(mails()) - before


def test_each_turn_for_the_worse_is_mailed_once_to_administrators_alone(
    owner: Person, colleague: Person, outsider: Person, endpoint: Endpoint
) -> None:
    now = clock.now()
    assert mailed() == 0
    becomes(endpoint, Trouble.FAILING, failing_since=now, noticed_at=now)
    becomes(endpoint, Trouble.FAILING)
    assert [mailed(), mailed()] == [1, 0]
    becomes(endpoint, Trouble.WARNED, warned_at=now)
    assert mailed() == 1
    actions.disable(endpoint, because=DisabledBy.FAILING)
    becomes(endpoint, Trouble.WARNED)
    assert mailed() == 1
    assert {one.to for one in mails()} == {owner.member.email}
    assert [one.subject for one in mails()] == [
        "Webhooks are failing: receiver.example.com",
        "A webhook endpoint will be disabled soon: receiver.example.com",
        "A webhook endpoint is disabled: receiver.example.com",
    ]
    for one in mails():
        assert "very-secret" not in one.text + one.subject
        assert f"http://localhost/webhooks/endpoints/{endpoint.id}" in one.text
        assert "Flows that use the endpoint: Night nurse" in one.text


def test_the_next_incident_is_told_again(endpoint: Endpoint) -> None:
    becomes(endpoint, failing_since=clock.now())
    actions.disable(endpoint, because=DisabledBy.GONE)
    db.session.commit()
    assert mailed() == 1
    assert "410" in mails()[0].text


def test_after_it_was_enabled_it_may_fail_again(owner: Person, endpoint: Endpoint) -> None:
    becomes(endpoint, failing_since=clock.now())
    actions.disable(endpoint, because=DisabledBy.GONE)
    db.session.commit()
    actions.enable(endpoint, by=owner.member)
    db.session.commit()
    assert mailed() == 0  # it was enabled before the notice went out
    becomes(endpoint, Trouble.FAILING, failing_since=clock.now())
    assert mailed() == 1


def test_what_an_administrator_disabled_is_told_to_nobody(owner: Person, endpoint: Endpoint) -> None:
    actions.disable(endpoint, because=DisabledBy.MEMBER, by=owner.member)
    db.session.commit()
    assert notices() == []


def test_an_endpoint_that_recovered_meanwhile_is_no_news(endpoint: Endpoint) -> None:
    becomes(endpoint, Trouble.FAILING, failing_since=clock.now())
    becomes(endpoint, failing_since=None)
    assert mailed() == 0


def test_an_administrator_can_turn_it_off(owner: Person, endpoint: Endpoint) -> None:
    wants(owner, webhook_failing=Pace.OFF)
    becomes(endpoint, Trouble.FAILING, failing_since=clock.now())
    assert mailed() == 0


def test_channels_of_the_flows_that_send_there_get_it(
    endpoint: Endpoint, make_flow: Made, channel: Made, receiver: Receiver
) -> None:
    channel(flow=make_flow(title="Another flow"))
    channel(flow=actions_flow(endpoint), kinds=(NoticeKind.WEBHOOK_FAILING,), address=receiver.url + "/mine")
    becomes(endpoint, Trouble.FAILING, failing_since=clock.now())
    spread()
    assert jobs.send() == 1
    [request] = receiver.requests
    assert request.path == "/hook/mine"
    seen = slack_seen(request.body)
    assert "Webhooks are failing" in seen
    assert "Endpoint: receiver.example.com" in seen
    assert "very-secret" not in seen


def test_channels_read_no_titles_of_flows_that_only_named_members_see(
    owner: Person, endpoint: Endpoint, channel: Made, receiver: Receiver
) -> None:
    channel()
    flow_access.narrow(actions_flow(endpoint), by=owner.member)
    becomes(endpoint, Trouble.FAILING, failing_since=clock.now())
    assert mailed() == 1
    assert jobs.send() == 1
    assert "Night nurse" in mails()[-1].text
    assert "Night nurse" not in slack_seen(receiver.bodies[0])


def actions_flow(endpoint: Endpoint) -> Any:
    return db.session.query(Delivery).filter_by(endpoint_id=endpoint.id).one().flow
