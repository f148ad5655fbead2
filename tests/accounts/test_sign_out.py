"""Signing out, and sessions in other browsers."""

from app.accounts.models import Login
from app.core.db import db


def test_a_copied_cookie_is_worth_nothing_after_signing_out(owner):
    browser = owner.browser
    token = browser.get_cookie("sid").value
    assert browser.post("/sign-out").status_code == 302
    thief = owner.app.test_client()
    thief.set_cookie("sid", token)
    assert thief.get("/team").status_code == 302


def test_signing_out_needs_the_token_of_the_page(owner):
    browser = owner.browser
    assert browser.post("/sign-out", forged=True).status_code == 400
    assert browser.get("/team").status_code == 200


def test_a_member_sees_their_sessions_and_ends_one(owner):
    browser, other = owner.browser, owner.browser
    logins = db.session.query(Login).order_by(Login.created_at).all()
    assert b"(this one)" in browser.get("/sessions").data
    assert browser.post(f"/sessions/{logins[1].id}/end").status_code == 302
    assert other.get("/sessions").status_code == 302
    assert browser.get("/sessions").status_code == 200


def test_nobody_ends_the_session_of_someone_else(owner, outsider):
    victim = outsider.browser
    login = db.session.query(Login).filter_by(member_id=outsider.member.id).one()
    assert owner.browser.post(f"/sessions/{login.id}/end").status_code == 404
    assert victim.get("/sessions").status_code == 200
