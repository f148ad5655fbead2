"""Another address: after the password, by a link where mail is sent, and nobody learns who else is here."""

import re
from datetime import timedelta

import pytest

from app.accounts import actions, address_changes, members, passwords
from app.accounts.models import AddressChange, AuditEntry, Login, TeamMember
from app.accounts.password_links import Post
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from tests.mailing import mails
from tests.people import Browser, Person

from .conftest import PASSWORD
from .test_entry_links import stranger  # noqa: F401 - a fixture

NEW = "New.Name@First.example"
ADDRESS = NEW.lower()


@pytest.fixture
def me(owner: Person, password_hash: str) -> Person:
    owner.member.password_hash = password_hash
    db.session.commit()
    return owner


def ask(browser: Browser, email: str = NEW, password: str = PASSWORD) -> str:
    return browser.post("/profile/address", data={"email": email, "password": password}, follow_redirects=True).text


def link_in(text: str) -> str:
    found = re.search(r"/confirm-address/[A-Za-z0-9_-]+", text)
    assert found is not None, text
    return found.group()


def now(person: Person) -> str:
    return db.session.get_one(TeamMember, person.member.id, populate_existing=True).email


def sessions(person: Person) -> int:
    return db.session.query(Login).filter_by(member_id=person.member.id, ended_at=None).count()


def told(action: str) -> int:
    return db.session.query(AuditEntry).filter_by(action=action).count()


def test_without_mail_it_counts_at_once_and_ends_other_sessions(me: Person) -> None:
    browser, _other = me.browser, me.browser
    assert "Email address changed" in ask(browser)
    assert (now(me), sessions(me), told("member.address_changed")) == (ADDRESS, 1, 1)
    assert browser.get("/profile").status_code == 200


@pytest.mark.usefixtures("mailing")
def test_with_mail_the_link_at_the_new_address_decides(me: Person, stranger: Browser) -> None:  # noqa: F811
    old, browser, _other = now(me), me.browser, me.browser
    page = ask(browser)
    assert "we have sent a link to it" in page
    (mail,) = mails()
    assert (now(me), mail.to, sessions(me)) == (old, ADDRESS, 2)
    link = link_in(mail.text)
    assert "Use this email address" in stranger.get(link).text
    assert now(me) == old, "opening it changes nothing"
    assert stranger.post(link).headers["Location"].endswith("/sign-in")
    assert (now(me), sessions(me)) == (ADDRESS, 0)
    assert mails()[1].to == old
    assert ADDRESS not in mails()[1].text
    assert (told("member.address_asked"), told("member.address_changed")) == (1, 1)
    assert stranger.get(link).status_code == 410
    assert stranger.post(link).status_code == 410
    details = [entry.details for entry in db.session.query(AuditEntry)]
    assert ADDRESS not in str(details)
    assert old not in str(details)


@pytest.mark.usefixtures("mailing")
def test_the_browser_that_follows_the_link_stays_signed_in(me: Person) -> None:
    browser, _other = me.browser, me.browser
    ask(browser)
    assert browser.post(link_in(mails()[0].text)).headers["Location"].endswith("/profile")
    assert sessions(me) == 1


@pytest.mark.usefixtures("mailing")
def test_by_mail_nobody_learns_who_has_an_account(me: Person, outsider: Person) -> None:
    browser = me.browser
    taken, free = ask(browser, outsider.member.email), ask(browser)
    assert "we have sent a link to it" in taken
    token = re.compile(r'name="csrf_token"[^>]*>|content="[^"]{40,}"')
    assert token.sub("", taken) == token.sub("", free)
    assert [mail.to for mail in mails()] == [ADDRESS]
    assert "is already the current address" in ask(browser, now(me).upper())


@pytest.mark.usefixtures("mailing")
def test_of_many_asked_for_within_a_day_the_last_are_refused(me: Person, outsider: Person) -> None:
    browser, most = me.browser, address_changes.MOST_ASKED
    assert "we have sent a link to it" in ask(browser, outsider.member.email)
    for number in range(1, most):
        assert "we have sent a link to it" in ask(browser, f"{number}@second.example")
    assert (told("member.address_asked"), len(mails())) == (most, most - 1), "one in use counts like the others"
    for refused in (NEW, outsider.member.email):
        assert f"{most} changes were requested within a day" in ask(browser, refused)
    assert len(mails()) == most - 1
    assert address_changes.change_for(link_in(mails()[-1].text).rpartition("/")[2]) is not None
    later = clock.now() + address_changes.LASTS
    with clock.replaced(lambda: later):
        asked(me)


def test_an_address_in_use_and_none_at_all_are_refused(me: Person, outsider: Person) -> None:
    browser, old = me.browser, now(me)
    assert "is already in use" in ask(browser, outsider.member.email)
    assert "Enter an email address such as" in ask(browser, "nobody")
    assert now(me) == old


def test_a_wrong_password_changes_nothing_and_is_counted(me: Person) -> None:
    browser, old = me.browser, now(me)
    assert "This is not your password" in ask(browser, password="another sentence")
    for _ in range(passwords.FREE_PER_ACCOUNT):
        ask(browser, password="another sentence")
    assert "Too many attempts" in ask(browser)
    assert now(me) == old


def asked(person: Person, email: str = NEW) -> str:
    link = address_changes.ask(person.member, email, Post(lambda token: token, by_mail=False), by=person.member)
    db.session.commit()
    return link


def test_a_link_ends_with_its_time_a_newer_one_a_password_and_disabling(
    me: Person, colleague: Person, password_hash: str
) -> None:
    first, second = asked(colleague), asked(colleague)
    assert address_changes.change_for(first) is None
    later = clock.now() + address_changes.LASTS
    with clock.replaced(lambda: later):
        assert address_changes.change_for(second) is None
    actions.change_password(colleague.member, password_hash, but=None)
    assert address_changes.change_for(second) is None
    third = asked(colleague)
    members.disable(colleague.member, by=me.member)
    members.enable(colleague.member, by=me.member)
    assert address_changes.change_for(third) is None
    fourth = asked(colleague)
    members.restored(taken_at="2026-01-01")
    db.session.expire_all()
    assert address_changes.change_for(fourth) is None


def test_a_link_works_once_and_not_for_an_address_that_was_taken_since(me: Person, colleague: Person) -> None:
    change = address_changes.change_for(asked(me))
    assert change is not None
    other = address_changes.change_for(asked(colleague))
    assert other is not None
    address_changes.confirm(change, by_mail=False, but=None)
    db.session.commit()
    with pytest.raises(Conflict):
        address_changes.confirm(change, by_mail=False, but=None)
    with pytest.raises(Rejected, match="in use"):
        address_changes.confirm(other, by_mail=False, but=None)


def test_administrators_make_the_link_for_members_of_their_own(
    me: Person,
    colleague: Person,
    outsider: Person,
    stranger: Browser,  # noqa: F811
    password_hash: str,
) -> None:
    colleague.member.password_hash = password_hash
    db.session.commit()
    path = f"/team/members/{colleague.member.id}"
    page = me.browser.post(f"{path}/address", data={"email": NEW}, follow_redirects=True).text
    link = link_in(page)
    assert stranger.post(link).status_code == 302
    assert now(colleague) == ADDRESS
    entry = db.session.query(AuditEntry).filter_by(action="member.address_changed").one()
    assert entry.details == {"by_link": True, "asked_by": me.member.id}
    for person in (colleague, outsider):
        assert person.browser.post(f"{path}/address", data={"email": "x@y.example"}).status_code == 403
    assert db.session.query(AddressChange).count() == 1


def test_nobody_gets_a_link_who_has_not_signed_in_yet(me: Person, colleague: Person) -> None:
    colleague.member.password_hash = None
    db.session.commit()
    path = f"/team/members/{colleague.member.id}"
    page = me.browser.post(f"{path}/address", data={"email": NEW}, follow_redirects=True).text
    assert "this member cannot sign in" in page
    assert db.session.query(AddressChange).count() == 0


def test_a_late_link_says_that_it_is_over(me: Person, stranger: Browser) -> None:  # noqa: F811
    token = asked(me)
    later = clock.now() + timedelta(days=2)
    with clock.replaced(lambda: later):
        answer = stranger.get(f"/confirm-address/{token}")
    assert answer.status_code == 410
    assert "This link no longer works" in answer.text
