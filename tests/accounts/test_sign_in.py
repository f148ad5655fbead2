"""The sign-in page and what a session is worth."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.accounts import access
from app.accounts.models import Login, LoginFailure
from app.core import clock
from app.core.db import db


def _cookie(response, name="sid"):
    return next(value for value in response.headers.getlist("Set-Cookie") if value.startswith(f"{name}="))


def test_the_right_password_opens_a_session_and_leads_on(known, sign_in, client):
    response = sign_in(fields={"next": "/team"})
    assert (response.status_code, response.location) == (302, "/team")
    assert client.get("/team").status_code == 200


def test_the_address_is_taken_in_any_case_and_with_spaces(known, sign_in):
    assert sign_in(" OWNER@First.example ").status_code == 302


def test_the_cookie_is_for_browsers_only_and_its_hash_alone_is_kept(known, sign_in):
    cookie = _cookie(sign_in())
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    token = cookie.split(";")[0].partition("=")[2]
    kept = db.session.query(Login).one().token_hash
    assert token not in kept
    assert len(kept) == 64


def test_over_tls_the_cookie_has_the_host_prefix(settings):
    assert access.cookie_name(replace(settings, app_url="https://parley.example")) == "__Host-sid"


@pytest.mark.parametrize(
    ("email", "password"), [("owner@first.example", "wrong password!"), ("nobody@first.example", "wrong password!")]
)
def test_a_wrong_password_and_an_unknown_address_look_alike(known, sign_in, email, password):
    response = sign_in(email, password)
    assert response.status_code == 422
    assert b"The email address or password is wrong." in response.data
    assert db.session.query(LoginFailure).count() == 1
    assert db.session.query(Login).count() == 0


def test_missing_input_is_named(known, sign_in):
    response = sign_in("", "")
    assert b"Enter your email address." in response.data
    assert b"Enter your password." in response.data


def test_a_disabled_member_cannot_sign_in(known, sign_in):
    known.member.disabled_at = clock.now()
    db.session.commit()
    assert sign_in().status_code == 422


def test_failures_slow_an_account_down_and_never_lock_it(known, sign_in):
    start = clock.now()
    at = [start]
    with clock.replaced(lambda: at[0]):
        for _ in range(5):
            assert sign_in(password="wrong password!").status_code == 422
        slowed = sign_in()
        assert slowed.status_code == 429
        assert 1 <= int(slowed.headers["Retry-After"]) <= 10
        at[0] = start + timedelta(seconds=int(slowed.headers["Retry-After"]) + 1)
        assert sign_in().status_code == 302


def test_failures_slow_an_address_down(known, sign_in):
    start = clock.now()
    with clock.replaced(lambda: start):
        for number in range(20):
            assert sign_in(f"person{number}@first.example", "wrong password!").status_code == 422
        assert sign_in().status_code == 429


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\t//evil.example"]
)
def test_signing_in_never_leads_to_another_site(known, sign_in, target):
    assert "evil" not in sign_in(fields={"next": target}).location


def test_a_page_behind_the_login_leads_to_it_and_back(known, client, sign_in):
    response = client.get("/api-keys?x=1")
    assert (response.status_code, response.location) == (302, "/sign-in?next=/api-keys?x%3D1")
    assert access.safe_next("/api-keys?x=1") == "/api-keys?x=1"


def test_signing_in_gives_a_new_session_and_ends_the_one_before(known, sign_in, client):
    first = _cookie(sign_in())
    second = _cookie(sign_in())
    assert first != second
    assert [login.ended_at is None for login in db.session.query(Login).order_by(Login.created_at)] == [False, True]


@pytest.mark.parametrize(
    ("after", "lives"),
    [(timedelta(minutes=29), True), (timedelta(minutes=31), False)],
)
def test_an_idle_session_ends(known, after, lives):
    browser = known.browser
    then = clock.now() + after
    with clock.replaced(lambda: then):
        assert (browser.get("/sessions").status_code == 200) is lives


def test_a_session_ends_after_twelve_hours_however_busy(known):
    browser = known.browser
    start = clock.now()
    at = [start]
    with clock.replaced(lambda: at[0]):
        for minutes in range(0, 12 * 60, 20):
            at[0] = start + timedelta(minutes=minutes)
            assert browser.get("/sessions").status_code == 200
        at[0] = start + timedelta(hours=12, seconds=1)
        assert browser.get("/sessions").status_code == 302


def test_what_was_typed_is_offered_again_after_the_session_ended(app, client):
    response = client.post("/team/teams", data={"name": "Night shift", "password": "hidden away"})
    assert response.status_code == 401
    assert b"Night shift" in response.data
    assert b"hidden away" not in response.data


def test_a_signed_in_member_is_led_on_at_once(known):
    assert known.browser.get("/sign-in").status_code == 302


def test_before_the_set_up_the_page_says_where_to_begin(client):
    assert b"This installation is not set up yet" in client.get("/sign-in").data


def test_after_the_set_up_the_page_says_nothing_of_it(owner, client):
    assert b"is not set up yet" not in client.get("/sign-in").data
