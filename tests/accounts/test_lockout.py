"""Who knows an address cannot keep its owner out, and guesses at one moment do not slip past the count."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask

from app import create_app
from app.accounts import passwords
from app.accounts.jobs import forget_old_attempts
from app.accounts.models import LoginFailure
from app.core import clock, queue
from app.core.db import db
from tests.mailing import mails
from tests.people import Browser, person

from .conftest import PASSWORD

OWNER = "owner@first.example"
WRONG = "wrong password!"


@pytest.fixture
def browser(app):
    """``browser("10.0.0.1")``: a new one at that address; ``.sign_in(password)`` gives the status."""

    def made(address):
        client = app.test_client()
        client.environ_base["REMOTE_ADDR"] = address

        def sign_in(password=PASSWORD, email=OWNER):
            return client.post("/sign-in", data={"email": email, "password": password})

        client.sign_in = sign_in
        return client

    return made


def test_guesses_from_one_address_do_not_keep_the_owner_out_elsewhere(known, browser):
    guesser = browser("10.6.6.6")
    assert {guesser.sign_in(WRONG).status_code for _ in range(60)} == {422, 429}
    assert browser("10.0.0.1").sign_in().status_code == 302
    assert guesser.sign_in().status_code == 429  # the guesser alone waits, also with the right password


def test_a_known_browser_comes_in_whatever_strangers_try_from_its_own_address(known, browser):
    mine = browser("10.0.0.1")
    assert mine.sign_in().status_code == 302
    mine.post("/sign-out")
    stranger = browser("10.0.0.1")
    for number in range(40):
        stranger.sign_in(WRONG, OWNER if number % 2 else f"person{number}@first.example")
    assert browser("10.0.0.1").sign_in().status_code == 429
    assert mine.sign_in().status_code == 302


def test_a_known_browser_may_not_guess_without_end(known, browser):
    mine = browser("10.0.0.1")
    mine.sign_in()
    mine.post("/sign-out")
    assert [mine.sign_in(WRONG).status_code for _ in range(7)] == [422] * 5 + [429] * 2
    assert mine.sign_in().status_code == 429


def test_the_cookie_counts_for_the_account_that_earned_it_and_is_signed(known, browser):
    mine = browser("10.0.0.1")
    cookie = next(c for c in mine.sign_in().headers.getlist("Set-Cookie") if c.startswith("browser="))
    assert "HttpOnly" in cookie
    assert OWNER not in cookie
    value = cookie.split(";")[0].partition("=")[2]
    guesser = browser("10.6.6.6")
    guesser.set_cookie("browser", value[:-2] + ("aa" if value[-2:] != "aa" else "bb"))
    [guesser.sign_in(WRONG) for _ in range(6)]
    assert {row.address for row in db.session.query(LoginFailure)} == {"10.6.6.6"}
    other = browser("10.7.7.7")
    other.set_cookie("browser", value)
    other.sign_in(WRONG, "somebody@first.example")
    assert db.session.query(LoginFailure).filter_by(address="10.7.7.7").count() == 1


def test_many_addresses_together_slow_an_account_by_half_a_minute_at_most(known, browser):
    start = clock.now()
    at = [start]
    with clock.replaced(lambda: at[0]):
        for number in range(60):
            browser(f"10.1.0.{number}").sign_in(WRONG)
            at[0] += timedelta(seconds=31 if number > 20 else 0)
        at[0] -= timedelta(seconds=30)
        slowed = browser("10.0.0.1").sign_in()
        assert (slowed.status_code, int(slowed.headers["Retry-After"]) <= 30) == (429, True)
        at[0] += timedelta(seconds=31)
        assert browser("10.0.0.1").sign_in().status_code == 302


def test_a_forgotten_password_opens_the_way_meanwhile(mailing, known, browser):
    mine = browser("10.0.0.1")
    guesser = browser("10.0.0.1")
    for _ in range(30):
        guesser.sign_in(WRONG)
    refused = mine.sign_in()
    assert refused.status_code == 429
    assert "Forgot your password?” below" in refused.text
    for _ in range(30):
        guesser_elsewhere = browser("10.6.6.6")
        guesser_elsewhere.post("/forgotten", data={"email": OWNER})
    assert mine.post("/forgotten", data={"email": OWNER}).status_code == 200
    link = re.search(r"/choose-password/\S+", mails()[-1].text).group()
    assert mine.post(link, data={"password": "another staple and a horse"}).status_code == 302
    for _ in range(30):
        guesser.sign_in(WRONG)
    assert mine.sign_in("another staple and a horse").status_code == 302


def test_an_attempt_is_noted_before_its_password_is_judged(own_database, settings, engines, tmp_path, monkeypatch):
    own = replace(settings, database_url=own_database, data_dir=tmp_path)
    app: Flask = create_app(own, gateways=engines, waker=queue.SilentWaker())
    with app.app_context():
        owner = person(app, OWNER, organization="First Ltd", role="admin")
        owner.member.password_hash = passwords.hashed(PASSWORD)
        db.session.commit()
    judged, lock, slow = [], threading.Lock(), threading.Event()

    def judge(_kept, _password):
        with lock:
            judged.append(1)
        slow.wait(3)
        return False

    monkeypatch.setattr(passwords, "matches", judge)

    app.test_client_class = Browser

    def guess(_number):
        return app.test_client().post("/sign-in", data={"email": OWNER, "password": WRONG}).status_code

    with ThreadPoolExecutor(20) as pool:
        codes = list(pool.map(guess, range(20)))
    with app.app_context():
        db.engine.dispose()
    assert len(judged) <= passwords.FREE_PER_ACCOUNT
    assert codes.count(429) >= 15


def test_attempts_that_no_longer_count_are_deleted(app, browser):
    person(app, OWNER, organization="First Ltd", role="admin")
    for _ in range(2):
        browser("10.0.0.9").sign_in(WRONG)
    early = clock.now() - passwords.WINDOW - timedelta(seconds=1)
    db.session.add(LoginFailure(account="0" * 64, address="10.0.0.8", at=early))
    db.session.commit()
    assert forget_old_attempts() == 1
    assert db.session.query(LoginFailure).count() == 2
