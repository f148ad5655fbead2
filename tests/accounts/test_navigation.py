"""The main navigation: who gets which links, and which one the page shown belongs to."""

import pytest
from flask import Flask, render_template_string

from app.accounts.models import Role, TeamMember
from app.accounts.pages.navigation import LINKS, links_of

FOR_ADMINS = ["Usage", "Jobs", "API keys", "Audit log"]


@pytest.mark.parametrize("role", Role)
def test_administrators_alone_get_the_links_of_the_installation(role: Role) -> None:
    texts = [link.text for link in links_of(TeamMember(role=role))]
    assert [text for text in FOR_ADMINS if text in texts] == (FOR_ADMINS if role == Role.ADMIN else [])
    assert len(texts) == len(LINKS) - (0 if role == Role.ADMIN else len(FOR_ADMINS))


def test_without_a_member_no_link_is_for_administrators() -> None:
    assert not [link for link in links_of(None) if link.is_for_admins]


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.endpoint)
def test_every_link_leads_to_a_page_and_marks_itself_alone(shared_app: Flask, link) -> None:
    [rule] = shared_app.url_map.iter_rules(link.endpoint)
    with shared_app.test_request_context(rule.rule):
        assert {other.endpoint: other.current for other in LINKS if other.current} == {link.endpoint: "page"}


@pytest.mark.parametrize(
    ("path", "endpoint"),
    [
        ("/interviews/new", "interviews.index"),
        ("/candidates/triage", "candidates.index"),
        ("/candidates/board", "candidates.index"),
        ("/flows/new", "flows.index"),
        ("/requests/deadlines", "candidate_requests.index"),
        ("/account", None),
    ],
)
def test_a_page_below_a_link_marks_that_link(shared_app: Flask, path: str, endpoint: str | None) -> None:
    with shared_app.test_request_context(path):
        assert {link.endpoint: link.current for link in LINKS if link.current} == (
            {endpoint: "true"} if endpoint else {}
        )


def test_the_layout_shows_icons_of_the_design_system(shared_app: Flask) -> None:
    template = '{% from "components/icons.html" import icon %}{{ icon(name) }}'
    with shared_app.test_request_context("/"):
        assert all("<svg" in render_template_string(template, name=link.icon) for link in LINKS)
