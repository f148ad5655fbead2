"""GET /v1/team-members."""

import pytest

from app.accounts import actions, queries
from app.accounts.models import Role
from app.core import clock
from app.core.db import db
from app.core.errors import Forbidden, Rejected


def _members(response):
    return {member["email"] for member in response.json["team_members"]}


def test_members_of_all_teams_are_listed_with_exactly_the_published_fields(owner, colleague, outsider):
    response = owner.api("GET", "/v1/team-members")
    assert response.status_code == 200
    assert _members(response) == {"owner@first.example", "colleague@first.example"}
    assert set(response.json["team_members"][0]) == {"id", "email", "full_name"}


def test_one_team_can_be_asked_for(owner, colleague):
    sales = actions.add_team(owner.organization, "Sales", by=owner.member)
    actions.add_member(
        owner.organization,
        "sales@first.example",
        full_name=None,
        role=Role.RECRUITER,
        teams=[sales],
        password_hash=None,
        by=owner.member,
    )
    db.session.commit()
    response = owner.api("GET", f"/v1/team-members?team_id={sales.id}")
    assert response.json == {
        "team_members": [
            {"id": response.json["team_members"][0]["id"], "email": "sales@first.example", "full_name": None}
        ]
    }


def test_null_means_all_teams(owner):
    assert _members(owner.api("GET", "/v1/team-members?team_id=null")) == {"owner@first.example"}


def test_a_disabled_member_is_not_listed(owner, colleague):
    colleague.member.disabled_at = clock.now()
    db.session.commit()
    assert _members(owner.api("GET", "/v1/team-members")) == {"owner@first.example"}


@pytest.mark.parametrize("team_id", ["9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "no-id", "x" * 99])
def test_an_unknown_team_is_forbidden(owner, team_id):
    response = owner.api("GET", f"/v1/team-members?team_id={team_id}")
    assert response.status_code == 403
    assert set(response.json) == {"code", "status", "message"}


def test_a_team_of_another_organization_is_forbidden(owner, outsider):
    assert owner.api("GET", f"/v1/team-members?team_id={outsider.team.id}").status_code == 403


@pytest.mark.parametrize(
    "query", ["team_id=", "team_id=%20", "team_id=a&team_id=b", "team_id=a%00", "team_id=" + "x" * 101]
)
def test_an_impossible_team_id_is_invalid_and_named(owner, query):
    response = owner.api("GET", f"/v1/team-members?{query}")
    assert response.status_code == 422
    assert list(response.json["errors"]["query"]) == ["team_id"]
    assert response.json["message"].startswith("team_id: ")


def test_an_organization_without_teams_is_told_so(owner):
    empty = type(owner.organization)(name="Empty")
    db.session.add(empty)
    db.session.flush()
    with pytest.raises(Rejected, match="no teams"):
        queries.oldest_team(empty)


def test_members_are_found_in_their_own_team_only(owner, colleague, outsider):
    assert queries.member_in_team(owner.team.id, colleague.member.id.upper()) is colleague.member
    assert queries.member_in_team(owner.team.id, outsider.member.id) is None
    with pytest.raises(Forbidden):
        queries.team_of(owner.organization, outsider.team.id)


def test_administrators_see_all_teams_and_others_their_own(owner, colleague):
    actions.add_team(owner.organization, "Sales", by=owner.member)
    assert [team.name for team in queries.teams_seen_by(owner.member)] == ["Hiring", "Sales"]
    assert [team.name for team in queries.teams_seen_by(colleague.member)] == ["Hiring"]
