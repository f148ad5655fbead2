"""GET /v1/teams."""

import re

from app.accounts import actions
from app.core.db import db


def test_all_teams_of_the_organization_are_listed_the_oldest_first(owner, outsider):
    actions.add_team(owner.organization, "Sales", by=owner.member)
    db.session.commit()
    response = owner.api("GET", "/v1/teams")
    assert response.status_code == 200
    assert [team["name"] for team in response.json["teams"]] == ["Hiring", "Sales"]
    assert outsider.team.id not in {team["id"] for team in response.json["teams"]}


def test_a_team_carries_exactly_the_published_fields(owner):
    (team,) = owner.api("GET", "/v1/teams").json["teams"]
    assert set(team) == {"id", "name", "created_at"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", team["created_at"])


def test_teams_need_a_key(app):
    assert app.test_client().get("/v1/teams").status_code == 401
