"""A member's own page."""

import pytest

from app.accounts.models import AuditEntry, TeamMember
from app.core.db import db


def told() -> int:
    return db.session.query(AuditEntry).filter_by(action="member.renamed").count()


@pytest.mark.parametrize("who", ["owner", "colleague", "viewer"])
def test_everyone_sees_who_they_are_and_the_ways_on(request, who) -> None:
    person = request.getfixturevalue(who)
    page = person.browser.get("/profile").text
    assert person.member.email in page
    assert "In 1 browser" in page
    for path in ("/password", "/second-factor", "/sessions"):
        assert f'href="{path}"' in page


def test_a_name_is_changed_once_for_all_pages(owner) -> None:
    browser = owner.browser
    assert browser.post("/profile", data={"full_name": "  Ada Example "}).status_code == 302
    assert db.session.get(TeamMember, owner.member.id).full_name == "Ada Example"
    assert browser.get("/team").text.count("Ada Example") == 2
    browser.post("/profile", data={"full_name": "Ada Example"})
    assert told() == 1  # the same name again is no change


def test_an_empty_name_leaves_the_address(owner) -> None:
    owner.browser.post("/profile", data={"full_name": " "})
    assert db.session.get(TeamMember, owner.member.id).full_name is None


@pytest.mark.parametrize("name", ["x" * 301, "nul\x00"])
def test_an_impossible_name_is_named_and_kept_for_mending(owner, name) -> None:
    answer = owner.browser.post("/profile", data={"full_name": name})
    assert (answer.status_code, 'id="full_name-error"' in answer.text) == (422, True)
    assert db.session.get(TeamMember, owner.member.id).full_name == "Owner"
    assert told() == 0


def test_nobody_changes_role_or_address_here(colleague) -> None:
    colleague.browser.post("/profile", data={"full_name": "X", "role": "admin", "email": "a@b.example"})
    kept = db.session.get(TeamMember, colleague.member.id)
    assert (kept.role.value, kept.email) == ("recruiter", "colleague@first.example")
