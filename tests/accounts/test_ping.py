"""GET /v1/ping, and the guard that every endpoint shares."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.accounts import actions, queries
from app.accounts.models import ApiKey, TeamMember
from app.core import clock
from app.core.db import db
from tests.people import person


def _ping(app, header=None):
    return app.test_client().get("/v1/ping", headers={"Authorization": header} if header is not None else {})


def test_a_key_that_works_gets_pong(owner):
    response = owner.api("GET", "/v1/ping")
    assert (response.status_code, response.json) == (200, {"message": "pong"})


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic abc",
        "Bearer {key}x",
        "Bearer x{key}",
        "Bearer {{{key}}}",
        "Bearer urn:uuid:{key}",
        "Bearer {plain}",
        "Bearer {unknown}",
        "Token {key}",
        "{key}",
        "Bearer {key} {key}",
    ],
)
def test_every_key_that_does_not_work_is_answered_alike(app, owner, header):
    written = (
        None if header is None else header.format(key=owner.key, plain=owner.key.replace("-", ""), unknown=uuid.uuid4())
    )
    response = _ping(app, written)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert response.json == {
        "code": 401,
        "status": "Unauthorized",
        "message": "Send a valid API key: Authorization: Bearer <API key>.",
    }


def test_the_scheme_and_the_key_may_be_written_in_either_case(app, owner):
    assert _ping(app, f"bearer {owner.key.upper()}").status_code == 200


def test_a_revoked_key_is_dead_with_the_commit(app, owner):
    (row,) = queries.keys_of(owner.organization)
    actions.revoke_api_key(row, by=owner.member)
    db.session.commit()
    assert owner.api("GET", "/v1/ping").status_code == 401


def test_an_expired_key_is_refused(app, owner):
    row, key = actions.issue_api_key(owner.organization, name="short", by=owner.member)
    row.expires_at = clock.now() - timedelta(seconds=1)
    db.session.commit()
    assert _ping(app, f"Bearer {key}").status_code == 401


def test_the_key_of_a_disabled_organization_is_refused(app, owner):
    owner.organization.disabled_at = clock.now()
    db.session.commit()
    assert owner.api("GET", "/v1/ping").status_code == 401


def test_last_use_is_written_at_most_once_a_minute(app, owner):
    begin = clock.now()
    at = [begin]
    with clock.replaced(lambda: at[0]):
        owner.api("GET", "/v1/ping")
        at[0] = begin + timedelta(seconds=30)
        owner.api("GET", "/v1/ping")
        db.session.expire_all()
        assert db.session.query(ApiKey).filter_by(organization_id=owner.organization.id).one().last_used_at == begin
        at[0] = begin + timedelta(seconds=61)
        owner.api("GET", "/v1/ping")
        db.session.expire_all()
        row = db.session.query(ApiKey).filter_by(organization_id=owner.organization.id).one()
    assert (row.last_used_at, row.last_address) == (at[0], "127.0.0.1")


def test_the_database_does_not_hold_the_key(owner):
    (row,) = queries.keys_of(owner.organization)
    assert owner.key not in {str(value) for value in vars(row).values()}
    assert row.last4 == owner.key[-4:]


def test_v1_ignores_a_signed_in_browser(owner):
    assert owner.browser.get("/v1/ping").status_code == 401


def test_a_first_use_is_noted_even_when_another_call_writes_at_the_same_moment(own_app):
    """The mark of the key comes after a read: whoever wrote in between must not turn the answer into a 503."""
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        written = sa.update(TeamMember).values(full_name="Someone Else")
        noted = []

        def someone_writes_now() -> datetime:
            if not noted:
                noted.append(True)
                with db.engine.connect() as elsewhere:
                    elsewhere.execute(written)
                    elsewhere.commit()
            return datetime.now(UTC)

        with clock.replaced(someone_writes_now):
            response = owner.api("GET", "/v1/teams")
        assert noted
        assert (response.status_code, len(response.json["teams"])) == (200, 1)
        db.session.expire_all()
        assert db.session.query(ApiKey).one().last_used_at is not None
