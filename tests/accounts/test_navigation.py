"""The main navigation: who gets which links, and which one the page shown belongs to."""

import re

import pytest
from flask import Flask, render_template_string

from app.accounts.models import Role, TeamMember
from app.accounts.pages.navigation import LINKS, SECTIONS, links_of, pages_of
from tests.people import Person

FOR_ADMINS = [
    "Organization",
    "Statuses",
    "Emails and schedule",
    "Message templates",
    "Reply deadlines",
    "Retention",
    "API keys",
    "Slack and Microsoft Teams",
    "Usage",
    "Audit log",
    "Background jobs",
]


def test_there_are_six_sections() -> None:
    assert [section.text for section in SECTIONS] == ["Home", "Candidates", "Flows", "Insights", "Inbox", "Settings"]


@pytest.mark.parametrize("role", Role)
def test_administrators_alone_get_the_links_of_the_installation(role: Role) -> None:
    texts = [link.text for link in pages_of(links_of(TeamMember(role=role)))]
    assert [text for text in FOR_ADMINS if text in texts] == (FOR_ADMINS if role == Role.ADMIN else [])
    assert len(texts) == len(LINKS) - (0 if role == Role.ADMIN else len(FOR_ADMINS))


def test_without_a_member_no_link_is_for_administrators() -> None:
    assert not [link for link in pages_of(links_of(None)) if link.is_for_admins]


@pytest.mark.parametrize("role", Role)
def test_a_section_leads_to_its_first_page_that_the_member_may_open(role: Role) -> None:
    settings = links_of(TeamMember(role=role))[-1]
    assert settings.endpoint == settings.below[0].endpoint
    assert settings.endpoint == ("accounts.organization" if role == Role.ADMIN else "accounts.team")


@pytest.mark.parametrize("name", ["owner", "colleague", "viewer"])
def test_absent_are_exactly_the_pages_that_are_refused(request, app: Flask, name: str) -> None:
    who: Person = request.getfixturevalue(name)
    shown = {link.endpoint for link in pages_of(links_of(who.member))}
    browser = who.browser
    paths = {link.endpoint: next(iter(app.url_map.iter_rules(link.endpoint))).rule for link in LINKS}
    assert {endpoint for endpoint, path in paths.items() if browser.get(path).status_code == 200} == shown


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.endpoint)
def test_every_link_leads_to_a_page_and_marks_itself_alone(shared_app: Flask, link) -> None:
    [rule] = shared_app.url_map.iter_rules(link.endpoint)
    with shared_app.test_request_context(rule.rule):
        assert {other.endpoint: other.current for other in LINKS if other.current} == {link.endpoint: "page"}
        [section] = [section for section in SECTIONS if section.current]
        assert link in (section.below or (section,))
        assert section.current == ("true" if section.below else "page")


@pytest.mark.parametrize(
    ("path", "endpoint"),
    [
        ("/interviews/new", "interviews.index"),
        ("/candidates/compare", "candidates.index"),
        ("/candidates/invite", "candidates.index"),
        ("/flows/new", "flows.index"),
        ("/access", "flows.index"),
        ("/webhooks/test", "webhooks.index"),
        ("/profile", None),
    ],
)
def test_a_page_below_a_link_marks_that_link(shared_app: Flask, path: str, endpoint: str | None) -> None:
    with shared_app.test_request_context(path):
        assert {link.endpoint: link.current for link in LINKS if link.current} == (
            {endpoint: "true"} if endpoint else {}
        )


@pytest.mark.parametrize(
    ("path", "endpoint"),
    [
        ("/candidates/mails/reminder/en-US", "outreach.plan"),
        ("/candidates/reasons", "candidates.statuses"),
        ("/candidates/reasons/other/rename", "candidates.statuses"),
        ("/candidates/statuses/x/meaning", "candidates.statuses"),
        ("/candidates/statuses/x/remove", "candidates.statuses"),
    ],
)
def test_a_refused_form_marks_the_link_of_its_page(shared_app: Flask, path: str, endpoint: str) -> None:
    with shared_app.test_request_context(path, method="POST"):
        assert [link.endpoint for link in LINKS if link.current] == [endpoint]


def test_no_two_pages_have_the_same_key() -> None:
    keys = [link.key for link in LINKS if link.key]
    assert len(keys) == len(set(keys))
    assert all(re.fullmatch("[a-z]", key) and key != "g" for key in keys)


def test_only_the_pages_of_the_section_shown_stand_below_it(owner: Person) -> None:
    home, settings = (owner.browser.get(path).text for path in ("/dashboard", "/settings"))
    assert '<ul aria-label="Settings">' in settings
    assert "Audit log" in settings[settings.index('aria-label="Main"') : settings.index("</nav>")]
    assert "Audit log" not in home[home.index('aria-label="Main"') : home.index("</nav>")]
    assert settings.count('aria-current="page"') == home.count('aria-current="page"') == 1


def test_the_layout_shows_icons_of_the_design_system(shared_app: Flask) -> None:
    template = '{% from "components/icons.html" import icon %}{{ icon(name) }}'
    with shared_app.test_request_context("/"):
        assert all("<svg" in render_template_string(template, name=section.icon) for section in SECTIONS)
