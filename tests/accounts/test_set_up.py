"""The one-time set-up page."""

import re
import threading
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa

from app.accounts import access, actions, passwords
from app.accounts.models import ApiKey, Installation, Organization, Team, TeamMember
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.core.errors import Conflict

FIELDS = {
    "organization": "Harbour Clinic",
    "team": "Wards",
    "full_name": "Ada Example",
    "email": "Ada@harbour.example",
    "password": "three herons at dusk",
}


@pytest.fixture
def path(settings):
    return urlsplit(access.setup_address(settings)).path


def test_the_first_administrator_names_everything_and_is_signed_in(app, client, path):
    assert client.get(path).status_code == 200
    response = client.post(path, data=FIELDS)
    assert (response.status_code, response.location) == (302, "/dashboard")
    assert db.session.query(Organization).one().name == "Harbour Clinic"
    assert db.session.query(Team).one().name == "Wards"
    assert db.session.query(TeamMember).one().email == "ada@harbour.example"
    page = client.get("/dashboard")
    assert page.status_code == 200
    assert "0 of 4 steps done" in page.text


def test_a_key_is_made_on_demand_and_shown_this_once(app, client, path):
    client.post(path, data=FIELDS)
    assert db.session.query(ApiKey).count() == 0, "a key that no one has seen"
    assert 'href="/api-keys"' in client.get("/dashboard").text
    token = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/dashboard").text)[1]
    client.post("/api-keys", data={"name": "First key", "csrf_token": token})
    page = client.get("/api-keys")
    assert f'{db.session.query(ApiKey).one().last4}"' in page.text  # the whole key, in the field to copy
    assert "shown only once" in page.text
    assert "shown only once" not in client.get("/api-keys").text


def test_the_address_is_dead_once_an_organization_exists(owner, client, path):
    assert client.get(path).status_code == 410
    assert client.post(path, data=FIELDS).status_code == 410
    assert db.session.query(Organization).count() == 1


def test_browsers_know_what_to_fill_in(app, client, path):
    found = dict(re.findall(r'<input[^>]*?autocomplete="([^"]+)"[^>]*? id="([^"]+)"', client.get(path).text))
    wanted = {"organization": "organization", "off": "team", "name": "full_name", "username": "email"}
    assert found == {**wanted, "new-password": "password"}


def test_a_wrong_token_finds_nothing(app, client):
    assert client.get("/setup/" + "0" * 40).status_code == 404
    assert client.get("/setup/%E2%82%AC").status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("organization", ""),
        ("organization", "x" * 301),
        ("team", " "),
        ("email", "nobody"),
        ("password", "short"),
        ("password", "password1234"),
        ("password", "x" * 129),
        ("team", "a\x00b"),
    ],
)
def test_bad_input_is_named_and_what_was_typed_stays(app, client, path, field, value):
    response = client.post(path, data={**FIELDS, field: value})
    assert response.status_code == 422
    assert f'id="{field}-error"'.encode() in response.data
    assert b"three herons" not in response.data
    if field != "organization":
        assert b"Harbour Clinic" in response.data
    assert db.session.query(Organization).count() == 0


def test_of_two_set_ups_at_once_one_wins(own_app):
    hashed = passwords.hashed("three herons at dusk")
    gate, results = threading.Barrier(2), []

    def found(number):
        with own_app.app_context():
            gate.wait(10)
            try:
                actions.create_organization(
                    f"Number {number}",
                    team_name="Team",
                    admin_email=f"n{number}@first.example",
                    admin_hash=hashed,
                    is_first=True,
                )
                db.session.commit()
                results.append("won")
            except Conflict:
                db.session.rollback()
                results.append("lost")

    threads = [threading.Thread(target=as_chosen(found), args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(results) == ["lost", "won"]
    with own_app.app_context():
        assert db.session.query(Installation).count() == db.session.query(Organization).count() == 1


def test_later_organizations_leave_the_first_set_up_alone(owner):
    hashed = passwords.hashed("three herons at dusk")
    for number in range(2):
        actions.create_organization(
            f"Further {number}", team_name="Team", admin_email=f"f{number}@second.example", admin_hash=hashed
        )
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Installation)) == 1
