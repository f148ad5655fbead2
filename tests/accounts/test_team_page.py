"""The team page: members and teams."""

import pytest

from app.accounts import actions, queries
from app.accounts.models import AuditEntry, Team, TeamMember, TeamMembership
from app.core.db import db
from app.flows.models import FlowStatus

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


def post(person, path, **form):
    return person.browser.post(f"/team/teams/{path}", data=form, follow_redirects=True)


def entries(start):
    found = db.session.query(AuditEntry).filter(AuditEntry.action.startswith(start)).order_by(AuditEntry.number)
    return [one for one in found if one.action != "team.added"]


def test_a_team_is_renamed(owner):
    assert "Team renamed." in post(owner, f"{owner.team.id}/rename", name="  Night shift ").text
    assert db.session.get(Team, owner.team.id).name == "Night shift"
    for name, why in (
        (" ", "must have 1 to 300 characters"),
        ("Night\0", "contains a character that cannot be stored"),
    ):
        refused = post(owner, f"{owner.team.id}/rename", name=name)
        assert f"The team was not renamed. Its name {why}." in refused.text
    assert db.session.get(Team, owner.team.id).name == "Night shift"
    post(owner, f"{owner.team.id}/rename", name="Night shift")
    assert [entry.action for entry in entries("team.")] == ["team.renamed"], "once, and nothing for the same name"


def test_a_team_without_flows_is_deleted_and_its_members_leave_it(owner, colleague):
    team = actions.add_team(owner.organization, "Sales", by=owner.member)
    db.session.add(TeamMembership(team_id=team.id, member_id=colleague.member.id))
    db.session.commit()
    assert "Its only member will be removed from it." in owner.browser.get("/team").text
    assert "Team deleted." in post(owner, f"{team.id}/delete").text
    assert [one.name for one in queries.teams_of(owner.organization)] == [owner.team.name]
    db.session.expire_all()
    assert [one.id for one in colleague.member.teams] == [owner.team.id]
    assert [(one.action, one.details) for one in entries("team.deleted")] == [("team.deleted", {"members": 1})]
    assert ">Deleted<" in owner.browser.get("/audit?group=member").text


def test_a_team_with_flows_and_the_last_one_stay(owner, make_flow):
    assert "This is your last team." in post(owner, f"{owner.team.id}/delete").text
    other = actions.add_team(owner.organization, "Sales", by=owner.member)
    flow = make_flow(team_id=other.id)
    flow.status = FlowStatus.ARCHIVED
    db.session.commit()
    assert "This team has flows (open, closed or archived)" in post(owner, f"{other.id}/delete").text
    assert len(queries.teams_of(owner.organization)) == 2
    assert entries("team.deleted") == []


@pytest.mark.parametrize("verb", ["rename", "delete"])
def test_teams_are_changed_by_administrators_of_the_organization_alone(owner, colleague, viewer, outsider, verb):
    for person, team in ((colleague, owner.team), (viewer, owner.team), (owner, outsider.team)):
        assert person.browser.post(f"/team/teams/{team.id}/{verb}", data={"name": "Mine"}).status_code == 403
    assert "Mine" not in {team.name for team in db.session.query(Team)}
