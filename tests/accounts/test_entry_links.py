"""Invitations and new passwords by link: made by administrators, or asked for by who has forgotten theirs."""

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask

from app.accounts import actions, password_links, passwords
from app.accounts.models import AuditEntry, EntryLink, Login, TeamMember
from app.accounts.password_links import Post
from app.core import clock
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.core.errors import Conflict
from app.mail_outbox.models import QueuedMail
from tests.mailing import mails
from tests.people import Browser, Person

from .conftest import PASSWORD

NEW = "seven lanterns in fog"
INVITED = {"email": "New@First.example", "full_name": "New Person", "role": "recruiter", "password": ""}


@pytest.fixture
def stranger(app: Flask) -> Browser:
    browser: Any = app.test_client()
    return browser


def link_in(text: str) -> str:
    """The path of the link."""
    found = re.search(r"/choose-password/[A-Za-z0-9_-]+", text)
    assert found is not None, text
    return found.group()


def invited(owner: Person) -> tuple[TeamMember, str]:
    """Somebody new, and the path of the link."""
    browser = owner.browser
    sent = browser.post("/team/members", data={**INVITED, "team": owner.team.id})
    assert sent.status_code == 302
    member = db.session.query(TeamMember).filter_by(email="new@first.example").one()
    return member, link_in(browser.get(sent.location).text)


def told(action: str) -> int:
    return db.session.query(AuditEntry).filter_by(action=action).count()


def test_an_invited_member_chooses_a_password_and_is_in(owner: Person, stranger: Browser) -> None:
    member, link = invited(owner)
    assert (member.password_hash, told("member.invited")) == (None, 1)
    assert "Invited" in owner.browser.get("/team").text
    welcome = stranger.get(link).text
    assert "Welcome to" in welcome
    assert "new@first.example" in welcome
    done = stranger.post(link, data={"full_name": "Someone New", "password": NEW})
    assert done.status_code == 302
    assert stranger.get("/team").status_code == 200
    db.session.refresh(member)
    assert member.full_name == "Someone New"
    assert passwords.matches(member.password_hash, NEW)
    assert told("member.joined") == 1
    again = stranger.get(link)
    assert (again.status_code, "This link no longer works" in again.text) == (410, True)
    assert stranger.post(link, data={"password": NEW}).status_code == 410


def test_the_link_is_shown_once_and_only_its_hash_is_kept(owner: Person) -> None:
    browser = owner.browser
    page = browser.get(browser.post("/team/members", data={**INVITED, "team": owner.team.id}).location)
    link = link_in(page.text)
    assert "This installation does not send email" in page.text
    assert db.session.query(QueuedMail).count() == 0
    member = db.session.query(TeamMember).filter_by(email="new@first.example").one()
    assert "/choose-password/" not in browser.get(f"/team/members/{member.id}").text
    assert db.session.query(EntryLink).one().token_hash not in link


def test_the_link_goes_out_by_mail_where_mail_is_configured(mailing, owner: Person, stranger: Browser) -> None:
    member, link = invited(owner)
    (mail,) = mails()
    assert mail.to == "new@first.example"
    assert "Owner invites you" in mail.text
    assert "http://" in mail.text
    assert link_in(mail.text) == link
    assert "Email: being sent" in " ".join(owner.browser.get(f"/team/members/{member.id}").text.split())
    assert stranger.get(link).status_code == 200


def test_bad_input_is_named_and_the_link_lives_on(owner: Person, stranger: Browser) -> None:
    _, link = invited(owner)
    for fields, error in (({"password": "short"}, "12 to 128"), ({"password": ""}, "Choose a password.")):
        answer = stranger.post(link, data={"full_name": "X", **fields})
        assert (answer.status_code, error in answer.text) == (422, True)
    long = stranger.post(link, data={"full_name": "x" * 301, "password": NEW})
    assert (long.status_code, "at most 300" in long.text) == (422, True)
    assert stranger.post(link, data={"full_name": "", "password": NEW}).status_code == 302


def test_a_newer_link_ends_the_one_of_before(owner: Person, stranger: Browser) -> None:
    member, first = invited(owner)
    browser = owner.browser
    page = browser.get(browser.post(f"/team/members/{member.id}/link").location)
    assert stranger.get(first).status_code == 410
    assert stranger.get(link_in(page.text)).status_code == 200


@pytest.mark.parametrize(("days", "status"), [(6.9, 200), (7.1, 410)])
def test_an_invitation_lasts_a_week(owner: Person, stranger: Browser, days: float, status: int) -> None:
    _, link = invited(owner)
    with time_machine.travel(datetime.now(UTC) + timedelta(days=days)), clock.replaced(lambda: datetime.now(UTC)):
        assert stranger.get(link).status_code == status


@pytest.mark.parametrize("token", ["x", "x" * 300, "%00", "%ED%A0%80", "..%2f", "é"])
def test_other_links_lead_nowhere(stranger: Browser, token: str) -> None:
    assert stranger.get(f"/choose-password/{token}").status_code in {404, 410}


def test_disabling_ends_the_link(owner: Person, stranger: Browser) -> None:
    member, link = invited(owner)
    owner.browser.post(f"/team/members/{member.id}/disable")
    assert stranger.get(link).status_code == 410
    refused = owner.browser.post(f"/team/members/{member.id}/link")
    assert (refused.status_code, "Enable them first" in refused.text) == (422, True)
    owner.browser.post(f"/team/members/{member.id}/enable")
    assert stranger.get(link).status_code == 410


def test_whoever_was_only_invited_is_no_administrator_yet(owner: Person) -> None:
    owner.browser.post("/team/members", data={**INVITED, "role": "admin", "team": owner.team.id})
    refused = owner.browser.post(f"/team/members/{owner.member.id}", data={"role": "viewer"})
    assert (refused.status_code, "last administrator" in refused.text) == (422, True)
    member = db.session.query(TeamMember).filter_by(email="new@first.example").one()
    assert owner.browser.post(f"/team/members/{member.id}/disable").status_code == 302


def test_an_administrator_gives_a_link_for_a_new_password(known: Person, colleague: Person, stranger: Browser) -> None:
    colleague_browser, browser = colleague.browser, known.browser
    page = browser.get(browser.post(f"/team/members/{colleague.member.id}/link").location)
    link = link_in(page.text)
    assert colleague_browser.get("/team").status_code == 200  # nothing happens before it is used
    done = stranger.post(link, data={"password": NEW, "full_name": "Taken over"})
    assert (done.status_code, done.location) == (302, "/sign-in")
    assert colleague_browser.get("/team").status_code == 302
    assert db.session.query(Login).filter_by(member_id=colleague.member.id, ended_at=None).count() == 0
    signed = stranger.post("/sign-in", data={"email": colleague.member.email, "password": NEW})
    assert signed.status_code == 302
    assert db.session.get(TeamMember, colleague.member.id).full_name == "Colleague"


def test_a_new_password_in_another_way_ends_the_link(known: Person, stranger: Browser) -> None:
    address = password_links.issue(
        known.member, Post(lambda token: f"/choose-password/{token}", by_mail=False), by=None
    )
    db.session.commit()
    browser = known.browser
    browser.post("/password", data={"current": PASSWORD, "password": NEW})
    assert stranger.get(address).status_code == 410


def test_a_link_by_mail_for_whoever_forgot(mailing, known: Person, stranger: Browser) -> None:
    assert "Forgot your password?" in stranger.get("/sign-in").text
    sent = stranger.post("/forgotten", data={"email": " OWNER@first.example"})
    assert "we have sent a link to it" in sent.text
    (mail,) = mails()
    assert (mail.to, "for 1 hour)" in mail.text) == ("owner@first.example", True)
    link = link_in(mail.text)
    assert stranger.post(link, data={"password": NEW}).location == "/sign-in"
    assert stranger.post("/sign-in", data={"email": "owner@first.example", "password": NEW}).status_code == 302


def test_who_exists_cannot_be_told(mailing, known: Person, colleague: Person, stranger: Browser) -> None:
    colleague.member.disabled_at = datetime.now(UTC)
    db.session.commit()
    seen = [
        re.sub(r'value="[^"]*"', "", stranger.post("/forgotten", data={"email": email}).text)
        for email in ("owner@first.example", "nobody@first.example", "colleague@first.example")
    ]
    assert seen[0] == seen[1] == seen[2]
    assert [mail.to for mail in mails()] == ["owner@first.example"]


def test_nobody_is_flooded_with_mail(mailing, known: Person, stranger: Browser) -> None:
    answers = [stranger.post("/forgotten", data={"email": "owner@first.example"}).status_code for _ in range(7)]
    assert answers == [200] * 5 + [429] * 2
    assert len(mails()) == 5
    assert stranger.post("/sign-in", data={"email": "owner@first.example", "password": PASSWORD}).status_code == 302


def test_one_address_cannot_ask_for_everyone(mailing, known: Person, stranger: Browser) -> None:
    answers = {stranger.post("/forgotten", data={"email": f"p{n}@first.example"}).status_code for n in range(21)}
    assert answers == {200, 429}


def test_without_mail_the_page_says_who_helps(known: Person, stranger: Browser) -> None:
    assert "Ask an administrator" in stranger.get("/forgotten").text
    assert stranger.post("/forgotten", data={"email": "owner@first.example"}).status_code == 200
    assert db.session.query(EntryLink).count() == 0
    assert "Enter an email address such" not in stranger.get("/forgotten").text


def test_a_wrong_address_is_named(mailing, stranger: Browser) -> None:
    answer = stranger.post("/forgotten", data={"email": "nobody"})
    assert (answer.status_code, "Enter an email address such as" in answer.text) == (422, True)


def test_somebody_invited_who_forgot_the_mail_gets_an_invitation(mailing, owner: Person, stranger: Browser) -> None:
    invited(owner)
    stranger.post("/forgotten", data={"email": "new@first.example"})
    assert "You are invited" in mails()[-1].text
    assert "Welcome to" in stranger.get(link_in(mails()[-1].text)).text


def test_a_stranger_who_knows_the_address_ends_no_invitation(mailing, owner: Person, stranger: Browser) -> None:
    member, link = invited(owner)
    for _ in range(2):
        stranger.post("/forgotten", data={"email": "new@first.example"})
    _first, older, newer = mails()
    assert [("for 7 days)" in mail.text, "for 1 hour)" in mail.text) for mail in mails()] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    assert stranger.get(link_in(older.text)).status_code == 410
    assert (stranger.get(link).status_code, stranger.get(link_in(newer.text)).status_code) == (200, 200)
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=2)), clock.replaced(lambda: datetime.now(UTC)):
        assert (stranger.get(link).status_code, stranger.get(link_in(newer.text)).status_code) == (200, 410)
        found = password_links.latest(db.session.get_one(TeamMember, member.id))
        assert found is not None
        assert found.created_by_id == owner.member.id, "the page tells of the link that works"
    assert stranger.post(link, data={"full_name": "", "password": NEW}).status_code == 302
    assert stranger.get(link_in(newer.text)).status_code == 410


def test_two_step_sign_in_stays_after_a_new_password(mailing, known: Person, stranger: Browser) -> None:
    known.member.totp_secret, known.member.totp_since = "v1.x", datetime.now(UTC)
    db.session.commit()
    stranger.post("/forgotten", data={"email": "owner@first.example"})
    stranger.post(link_in(mails()[0].text), data={"password": NEW})
    asked = stranger.post("/sign-in", data={"email": "owner@first.example", "password": NEW})
    assert asked.location == "/sign-in/code"


def test_of_two_browsers_with_one_link_one_wins(own_app: Flask, password_hash: str) -> None:
    with own_app.app_context():
        founded = actions.create_organization("A", team_name="T", admin_email="a@b.example", admin_hash=password_hash)
        token = password_links.issue(founded.admin, Post(str, by_mail=False), by=None)
        db.session.commit()
    ready, results = threading.Barrier(2), []

    def choose(number: int) -> None:
        with own_app.app_context():
            link = password_links.link_for(token)
            db.session.rollback()
            ready.wait()
            try:
                password_links.use(link, f"hash {number}", full_name=None)
                db.session.commit()
                results.append(True)
            except Conflict:
                db.session.rollback()
                results.append(False)

    threads = [threading.Thread(target=as_chosen(choose), args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, True]


def test_no_line_break_of_a_name_reaches_the_head_of_a_mail(mailing, owner: Person) -> None:
    owner.organization.name = "First\r\nBcc: everyone@evil.example"
    db.session.commit()
    invited(owner)
    assert "\n" not in mails()[0].subject
