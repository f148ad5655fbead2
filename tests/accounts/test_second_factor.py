"""Two-step sign-in: setting it up, signing in with it, losing the phone, and administrators who need it."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.accounts import actions, second_factor
from app.accounts.models import AuditEntry, Login, RecoveryCode, Role, TeamMember
from app.core import clock
from app.core.db import db
from app.core.db.row_security import as_chosen
from tests.people import Person

from .conftest import PASSWORD

LATER = timedelta(seconds=60)
HALF_A_MINUTE = timedelta(seconds=30)


def code_of(member: TeamMember, *, after: timedelta = timedelta()) -> str:
    """What the app shows now, or ``after`` that."""
    secret = second_factor._opened(member)
    return pyotp.TOTP(secret).at(clock.now() + after)


@pytest.fixture
def later() -> Iterator[Callable[[timedelta], None]]:
    """``later(timedelta)``: moves the clock on."""
    with time_machine.travel(datetime.now(UTC), tick=False) as machine, clock.replaced(lambda: datetime.now(UTC)):
        yield machine.shift


@pytest.fixture
def guarded(known: Person, later: Callable[[timedelta], None]) -> tuple[Person, list[str]]:
    """The owner with two-step sign-in, a minute ago, and the recovery codes."""
    second_factor.begin(known.member)
    codes = second_factor.confirm(known.member, code_of(known.member), but=None)
    db.session.commit()
    later(LATER)
    return known, codes


def actions_of(person: Person) -> list[str]:
    found = sa.select(AuditEntry.action).where(AuditEntry.organization_id == person.organization.id)
    return list(db.session.scalars(found.order_by(AuditEntry.number)))


def test_it_is_set_up_with_the_first_code_and_the_codes_are_shown_once(owner: Person) -> None:
    browser, other = owner.browser, owner.browser
    assert "Setting up two-step sign-in takes about a minute" in browser.get("/second-factor").text
    assert browser.post("/second-factor/begin").status_code == 303
    db.session.refresh(owner.member)
    page = browser.get("/second-factor").text
    secret = second_factor._opened(owner.member)
    assert secret in page
    assert "<svg" in page
    assert secret not in owner.member.totp_secret
    wrong = browser.post("/second-factor/confirm", data={"code": "12345"})
    assert (wrong.status_code, "This code does not work." in wrong.text) == (422, True)
    assert browser.post("/second-factor/confirm", data={"code": code_of(owner.member)}).status_code == 303
    shown = browser.get("/second-factor").text
    assert shown.count("<li><code>") == 10
    assert "10 recovery codes left" in shown
    again = browser.get("/second-factor").text
    assert "<li><code>" not in again
    assert secret not in again
    assert other.get("/team").status_code == 302  # other browsers are signed out
    assert browser.get("/team").status_code == 200
    assert "member.second_factor_on" in actions_of(owner)
    refused = browser.post("/second-factor/begin", follow_redirects=True)
    assert "Turn it off first" in refused.text


def test_the_password_alone_opens_nothing(guarded, sign_in, client) -> None:
    person, _ = guarded
    asked = sign_in(fields={"next": "/team"})
    assert (asked.status_code, asked.location) == (302, "/sign-in/code")
    assert db.session.query(Login).count() == 0
    assert client.get("/team").status_code == 302
    assert "Enter the six digits" in client.get("/sign-in/code").text
    code = code_of(person.member)
    opened = client.post("/sign-in/code", data={"code": f"{code[:3]} {code[3:]}"})
    assert (opened.status_code, opened.location) == (302, "/team")
    assert client.get("/team").status_code == 200


def test_a_code_works_once(guarded, sign_in, client) -> None:
    person, _ = guarded
    code = code_of(person.member)
    sign_in()
    assert client.post("/sign-in/code", data={"code": code}).status_code == 302
    client.post("/sign-out")
    sign_in()
    again = client.post("/sign-in/code", data={"code": code})
    assert (again.status_code, "each code works once" in again.text) == (422, True)


@pytest.mark.parametrize("seconds", [-90, 90])
def test_a_code_of_long_ago_or_of_the_future_does_not_work(guarded, sign_in, client, seconds) -> None:
    sign_in()
    code = code_of(guarded[0].member, after=timedelta(seconds=seconds))
    assert client.post("/sign-in/code", data={"code": code}).status_code == 422


@pytest.mark.parametrize("seconds", [-30, 30])
def test_a_clock_that_is_a_little_off_does_no_harm(guarded, sign_in, client, seconds) -> None:
    sign_in()
    code = code_of(guarded[0].member, after=timedelta(seconds=seconds))
    assert client.post("/sign-in/code", data={"code": code}).status_code == 302


def test_a_recovery_code_works_once_in_any_spelling(guarded, sign_in, client) -> None:
    person, codes = guarded
    sign_in()
    assert client.post("/sign-in/code", data={"code": f" {codes[0].upper()} "}).status_code == 302
    assert "member.recovery_code_used" in actions_of(person)
    client.post("/sign-out")
    sign_in()
    assert client.post("/sign-in/code", data={"code": codes[0]}).status_code == 422
    assert client.post("/sign-in/code", data={"code": codes[1].replace("-", "")}).status_code == 302
    assert second_factor.codes_left(person.member) == 8
    assert not any(
        code.replace("-", "") in str(row.code_hash) for row in db.session.query(RecoveryCode) for code in codes
    )


def test_guessing_is_slowed_down_and_apart_from_the_password(guarded, sign_in, client, later) -> None:
    person, _ = guarded
    sign_in()
    answers = [client.post("/sign-in/code", data={"code": "000000"}).status_code for _ in range(6)]
    assert answers == [422] * 5 + [429]
    slowed = client.post("/sign-in/code", data={"code": code_of(person.member)})
    assert (slowed.status_code, int(slowed.headers["Retry-After"]) > 0) == (429, True)
    assert sign_in().status_code == 302  # the password's own count is another one
    later(timedelta(minutes=1))
    assert client.post("/sign-in/code", data={"code": code_of(person.member)}).status_code == 302


def test_nobody_waits_for_a_code_for_ever(guarded, sign_in, client, later) -> None:
    sign_in()
    later(timedelta(minutes=11))
    late = client.post("/sign-in/code", data={"code": code_of(guarded[0].member)}, follow_redirects=True)
    assert "The time for the code has run out" in late.text
    assert db.session.query(Login).count() == 0


def test_the_first_step_dies_with_its_password(guarded, sign_in, client) -> None:
    person, _ = guarded
    sign_in()
    person.member.password_hash = "$argon2id$another"
    db.session.commit()
    assert client.post("/sign-in/code", data={"code": code_of(person.member)}).location == "/sign-in"


def test_without_a_first_step_there_is_no_second(guarded, client) -> None:
    assert client.post("/sign-in/code", data={"code": code_of(guarded[0].member)}).location == "/sign-in"
    assert client.get("/sign-in/code").location == "/sign-in"


def test_new_recovery_codes_and_turning_off_take_a_code(guarded) -> None:
    person, codes = guarded
    browser = person.browser
    assert browser.post("/second-factor/codes", data={"code": "000000"}).status_code == 422
    assert browser.post("/second-factor/off", data={"code": ""}).status_code == 422
    assert browser.post("/second-factor/codes", data={"code": codes[0]}).status_code == 303
    assert "<li><code>" in browser.get("/second-factor").text
    assert browser.post("/second-factor/off", data={"code": codes[1]}).status_code == 422  # one of the old ones
    assert browser.post("/second-factor/off", data={"code": code_of(person.member)}).status_code == 303
    db.session.refresh(person.member)
    assert (person.member.totp_secret, person.member.totp_since) == (None, None)
    assert db.session.query(RecoveryCode).count() == 0
    assert {"member.recovery_codes", "member.second_factor_off"} <= set(actions_of(person))


def test_an_administrator_helps_whoever_has_lost_everything(owner: Person, colleague: Person, sign_in) -> None:
    second_factor.begin(colleague.member)
    second_factor.confirm(colleague.member, code_of(colleague.member), but=None)
    db.session.commit()
    theirs, path = colleague.browser, f"/team/members/{colleague.member.id}"
    assert "On since" in owner.browser.get(path).text
    assert owner.browser.post(f"{path}/second-factor-off").status_code == 302
    assert theirs.get("/team").status_code == 302
    assert "signs in with only a password" in owner.browser.get(path).text
    again = colleague.browser  # signed in once more, and without two-step sign-in by now
    assert again.get("/team").status_code == 200
    assert owner.browser.post(f"{path}/second-factor-off").status_code == 302
    assert again.get("/team").status_code == 302
    own = owner.browser.post(f"/team/members/{owner.member.id}/second-factor-off")
    assert (own.status_code, "in your profile, with a code" in own.text) == (422, True)


def test_a_changed_secret_key_lets_nobody_in_by_code_but_recovery_by_an_administrator_works(
    guarded, sign_in, client
) -> None:
    person, _ = guarded
    person.member.totp_secret = "v1.broken"
    db.session.commit()
    sign_in()
    assert client.post("/sign-in/code", data={"code": "123456"}).status_code == 422


@pytest.fixture
def demanding(app, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation whose administrators need two-step sign-in."""
    monkeypatch.setitem(app.extensions, "parley.settings", replace(app.extensions["parley.settings"], admin_totp=True))


def test_administrators_set_it_up_first_and_then_go_on(demanding, owner: Person) -> None:
    browser = owner.browser
    sent = browser.get("/team?x=1")
    assert (sent.status_code, sent.location) == (302, "/second-factor?next=/team?x%3D1")
    assert "Administrators need two-step sign-in" in browser.get(sent.location).text
    assert browser.post("/team/teams", data={"name": "New"}).status_code == 403
    begun = browser.post("/second-factor/begin", data={"next": "/team?x=1"})
    page = browser.get(begun.location).text
    assert 'value="/team?x=1"' in page
    db.session.refresh(owner.member)
    done = browser.post("/second-factor/confirm", data={"code": code_of(owner.member), "next": "/team?x=1"})
    assert 'href="/team?x=1"' in browser.get(done.location).text
    assert browser.get("/team").status_code == 200


def test_others_are_free_to_choose(demanding, colleague: Person, viewer: Person) -> None:
    for person in (colleague, viewer):
        assert person.member.role is not Role.ADMIN
        assert person.browser.get("/team").status_code == 200


def test_the_way_on_never_leads_to_another_site(demanding, owner: Person) -> None:
    assert "evil.example" not in owner.browser.get("/second-factor?next=https://evil.example/").text


@pytest.mark.parametrize(
    ("url", "set_to", "needed"),
    [
        ("https://a.example", None, True),
        ("http://a.example", None, False),
        ("https://a.example", False, False),
        ("http://a.example", True, True),
    ],
)
def test_the_setting_decides_and_else_the_address(settings, url, set_to, needed) -> None:
    assert replace(settings, app_url=url, admin_totp=set_to).admins_need_totp is needed


def test_of_two_browsers_with_one_code_one_gets_in(own_app: Flask, password_hash: str) -> None:
    with own_app.app_context():
        founded = actions.create_organization("A", team_name="T", admin_email="a@b.example", admin_hash=password_hash)
        second_factor.begin(founded.admin)
        second_factor.confirm(founded.admin, code_of(founded.admin, after=-HALF_A_MINUTE), but=None)
        member_id, code = founded.admin.id, code_of(founded.admin)
        db.session.commit()
    ready, results = threading.Barrier(2), []

    def enter() -> None:
        with own_app.app_context():
            ready.wait()
            results.append(second_factor.accepts(db.session.get_one(TeamMember, member_id), code))
            db.session.commit()

    threads = [threading.Thread(target=as_chosen(enter)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, True]


def test_the_address_of_the_code_names_service_and_person(owner: Person) -> None:
    second_factor.begin(owner.member)
    secret = second_factor.pending_secret(owner.member)
    address = second_factor.address_of(owner.member, secret)
    assert pyotp.parse_uri(address).now() == pyotp.TOTP(secret).now()
    assert "issuer=Parley" in address
    assert PASSWORD not in address
