"""The team page: members and teams."""

import pytest

from app.accounts import queries
from app.accounts.models import Team, TeamMember
from app.db import db

FIELDS = {
    "email": "new@first.example",
    "full_name": "New Person",
    "role": "recruiter",
    "password": "a lamp and a ladder",
}


def test_everyone_sees_members_and_only_administrators_the_forms(owner, colleague):
    assert b"Add a member" in owner.browser.get("/team").data
    page = colleague.browser.get("/team").data
    assert b"owner@first.example" in page
    assert b"Add a member" not in page


def test_an_administrator_adds_a_member_who_can_sign_in(owner, client):
    response = owner.browser.post("/team/members", data={**FIELDS, "team": owner.team.id})
    assert response.status_code == 302
    assert client.post("/sign-in", data={"email": FIELDS["email"], "password": FIELDS["password"]}).status_code == 302
    assert [team.id for team in db.session.query(TeamMember).filter_by(email=FIELDS["email"]).one().teams] == [
        owner.team.id
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "nobody"),
        ("email", "OWNER@first.example"),
        ("role", "emperor"),
        ("team", "unknown"),
        ("password", "short"),
    ],
)
def test_bad_input_is_named_and_nothing_is_saved(owner, field, value):
    response = owner.browser.post("/team/members", data={**FIELDS, "team": owner.team.id, field: value})
    assert response.status_code == 422
    assert f'id="{field}-error"'.encode() in response.data
    assert db.session.query(TeamMember).count() == 1


def test_a_member_cannot_be_put_into_a_team_of_another_organization(owner, outsider):
    response = owner.browser.post("/team/members", data={**FIELDS, "team": outsider.team.id})
    assert response.status_code == 422


@pytest.mark.parametrize("path", ["/team/members", "/team/teams"])
def test_only_administrators_add_people_and_teams(owner, colleague, path):
    assert colleague.browser.post(path, data={**FIELDS, "team": owner.team.id, "name": "Sales"}).status_code == 403


def test_an_administrator_adds_a_team(owner):
    assert owner.browser.post("/team/teams", data={"name": "Sales"}).status_code == 302
    assert db.session.query(Team).filter_by(name="Sales", organization_id=owner.organization.id).count() == 1
    assert owner.browser.post("/team/teams", data={"name": ""}).status_code == 422


def test_of_two_who_add_the_same_member_at_once_one_does(owner, monkeypatch):
    monkeypatch.setattr(queries, "member_by_address", lambda _: None)  # as it is in between
    answer = owner.browser.post("/team/members", data={**FIELDS, "email": "owner@first.example", "team": owner.team.id})
    assert answer.status_code == 422
    assert b"already in use by a member" in answer.data
    assert db.session.query(TeamMember).filter_by(email="owner@first.example").count() == 1
