"""Mail to administrators when a receiver takes nothing: once for each turn for the worse, and never twice."""

from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import db, new_id
from app.webhooks import actions, jobs, queries
from app.webhooks.models import DisabledBy, Endpoint
from tests.factories import Made
from tests.mailing import mails
from tests.people import Person

from .conftest import status_updated


@pytest.fixture
def endpoint(owner: Person, make_flow: Made) -> Endpoint:
    flow = make_flow(webhook_url="https://receiver.example.com/hook?token=very-secret", title="Night\nnurse")
    payload = status_updated(flow)
    made = actions.announce(flow, event_type=payload["event_type"], payload=payload, subject=new_id(), sequence=1)
    assert made is not None
    db.session.commit()
    return made.endpoint


def becomes(endpoint: Endpoint, **columns: Any) -> None:
    for name, value in columns.items():
        setattr(endpoint, name, value)
    db.session.commit()


def test_each_turn_for_the_worse_is_told_once_to_administrators_alone(
    owner: Person, colleague: Person, outsider: Person, endpoint: Endpoint, mailing: None
) -> None:
    now = clock.now()
    assert jobs.tell() == 0
    becomes(endpoint, failing_since=now, noticed_at=now)
    assert [jobs.tell(), jobs.tell()] == [1, 0]
    becomes(endpoint, warned_at=now)
    assert [jobs.tell(), jobs.tell()] == [1, 0]
    actions.disable(endpoint, because=DisabledBy.FAILING)
    db.session.commit()
    assert [jobs.tell(), jobs.tell()] == [1, 0]
    told = mails()
    assert {one.to for one in told} == {owner.member.email}
    assert [one.subject.partition("receiver.example.com ")[2] for one in told] == [
        "are failing",
        "will be disabled soon",
        "are disabled",
    ]
    for one in told:
        assert "very-secret" not in one.text + one.subject
        assert f"http://localhost/webhooks/endpoints/{endpoint.id}" in one.text
        assert "Night nurse" in one.text


def test_the_next_incident_is_told_anew(owner: Person, endpoint: Endpoint, mailing: None) -> None:
    now = clock.now()
    becomes(endpoint, failing_since=now, noticed_at=now, disabled_at=now, disabled_by=DisabledBy.GONE)
    assert jobs.tell() == 1
    assert "410" in mails()[0].text
    actions.enable(endpoint, by=owner.member)
    db.session.commit()
    assert jobs.tell() == 0
    becomes(endpoint, failing_since=now, noticed_at=now)
    assert jobs.tell() == 1


def test_what_an_administrator_disabled_is_told_to_nobody(owner: Person, endpoint: Endpoint, mailing: None) -> None:
    actions.disable(endpoint, because=DisabledBy.MEMBER, by=owner.member)
    db.session.commit()
    assert jobs.tell() == 0
    assert mails() == []


def test_without_a_mail_server_nothing_is_posted_until_there_is_one(
    app: Flask, owner: Person, endpoint: Endpoint, request: pytest.FixtureRequest
) -> None:
    becomes(endpoint, noticed_at=clock.now(), failing_since=clock.now())
    assert jobs.tell() == 0
    assert list(db.session.scalars(queries.untold())) == [endpoint.id]
    request.getfixturevalue("mailing")
    assert jobs.tell() == 1


def test_whoever_comes_second_posts_nothing(owner: Person, endpoint: Endpoint) -> None:
    becomes(endpoint, noticed_at=clock.now(), failing_since=clock.now())
    db.session.execute(sa.update(Endpoint).values(told="failing").execution_options(synchronize_session=False))
    assert actions.tell(endpoint.id, app_url="http://x") == 0
    assert mails() == []


def test_nobody_is_told_in_an_organization_that_is_shut_out(owner: Person, endpoint: Endpoint, mailing: None) -> None:
    becomes(endpoint, noticed_at=clock.now(), failing_since=clock.now())
    owner.organization.disabled_at = clock.now()
    db.session.execute(sa.update(TeamMember).values(disabled_at=None))
    db.session.commit()
    assert jobs.tell() == 0
    assert mails() == []
