"""One member's page: role, teams, disabling, a new password."""

import pytest

from app.accounts.models import AuditEntry, Role, Team, TeamMember
from app.core.db import db

from .conftest import PASSWORD

NEW = "seven lanterns in fog"


def _path(person, verb=""):
    return f"/team/members/{person.member.id}{verb}"


def _told(action):
    return db.session.query(AuditEntry).filter_by(action=action).count()


def test_the_page_is_for_administrators_of_the_same_organization(owner, colleague, outsider, client):
    assert "colleague@first.example" in owner.browser.get(_path(colleague)).text
    assert colleague.browser.get(_path(owner)).status_code == 403
    assert outsider.browser.get(_path(colleague)).status_code == 403
    assert owner.browser.get("/team/members/unknown").status_code == 404
    assert client.get(_path(colleague)).status_code == 302


@pytest.mark.parametrize("verb", ["", "/password", "/disable", "/enable"])
def test_only_administrators_of_the_same_organization_change_anything(owner, colleague, outsider, verb):
    fields = {"role": "admin", "password": NEW}
    assert colleague.browser.post(_path(colleague, verb), data=fields).status_code == 403
    assert outsider.browser.post(_path(colleague, verb), data=fields).status_code == 403
    assert db.session.get(TeamMember, colleague.member.id).role is Role.RECRUITER


def test_role_and_teams_change_with_the_members_next_request(owner, colleague):
    sales = Team(organization_id=owner.organization.id, name="Sales")
    db.session.add(sales)
    db.session.commit()
    theirs = colleague.browser
    assert owner.browser.post(_path(colleague), data={"role": "admin", "teams": [sales.id]}).status_code == 302
    assert theirs.get("/api-keys").status_code == 200
    assert [team.name for team in db.session.get(TeamMember, colleague.member.id).teams] == ["Sales"]
    assert _told("member.changed") == 1


@pytest.mark.parametrize(("field", "value"), [("role", "emperor"), ("teams", "unknown")])
def test_bad_input_is_named_and_changes_nothing(owner, colleague, field, value):
    answer = owner.browser.post(_path(colleague), data={"role": "viewer", field: value})
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text
    assert db.session.get(TeamMember, colleague.member.id).role is Role.RECRUITER


def test_a_team_of_another_organization_cannot_be_given(owner, colleague, outsider):
    answer = owner.browser.post(_path(colleague), data={"role": "viewer", "teams": [outsider.team.id]})
    assert answer.status_code == 422


def test_the_last_administrator_stays_one(owner):
    answer = owner.browser.post(_path(owner), data={"role": "viewer"})
    assert answer.status_code == 422
    assert "last administrator" in answer.text
    assert db.session.get(TeamMember, owner.member.id).role is Role.ADMIN


def test_a_disabled_member_is_out_at_once_and_comes_back_when_enabled(owner, colleague, password_hash, sign_in):
    colleague.member.password_hash = password_hash
    db.session.commit()
    theirs = colleague.browser
    assert owner.browser.post(_path(colleague, "/disable")).status_code == 302
    assert theirs.get("/team").status_code == 302
    assert sign_in("colleague@first.example", PASSWORD).status_code == 422
    assert "Disabled" in owner.browser.get("/team").text
    assert owner.browser.post(_path(colleague, "/enable")).status_code == 302
    assert theirs.get("/team").status_code == 302, "a session that has ended never comes back"
    assert sign_in("colleague@first.example", PASSWORD).status_code == 302
    assert (_told("member.disabled"), _told("member.enabled")) == (1, 1)


def test_nobody_disables_themselves(owner):
    browser = owner.browser
    browser.post(_path(owner, "/disable"))
    assert "You cannot disable yourself" in browser.get(_path(owner)).text
    assert db.session.get(TeamMember, owner.member.id).disabled_at is None


def test_a_reset_password_counts_at_once_and_ends_the_sessions(owner, colleague, sign_in):
    theirs = colleague.browser
    assert owner.browser.post(_path(colleague, "/password"), data={"password": "short"}).status_code == 422
    assert theirs.get("/team").status_code == 200
    assert owner.browser.post(_path(colleague, "/password"), data={"password": NEW}).status_code == 302
    assert theirs.get("/team").status_code == 302
    assert sign_in("colleague@first.example", NEW).status_code == 302
    assert _told("member.password_reset") == 1


def test_a_second_administrator_can_be_disabled_by_the_first(owner, colleague):
    colleague.member.role = Role.ADMIN
    db.session.commit()
    owner.browser.post(_path(colleague, "/disable"))
    assert db.session.get(TeamMember, colleague.member.id).disabled_at is not None
