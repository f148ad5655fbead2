"""The page of a member's own sessions."""

import pytest

from app.accounts.models import Login
from app.accounts.pages.blueprint import browser_name
from app.core.db import db

LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605"


@pytest.mark.parametrize(
    ("given", "words"),
    [(LINUX, "Chrome on Linux"), (MAC, "Safari on macOS"), ("curl/8.5", "curl/8.5"), (None, "Unknown browser")],
)
def test_a_browser_is_named_so_that_its_owner_knows_it(given, words):
    assert browser_name(given) == words


def test_another_browser_can_be_signed_out_and_only_ones_own(owner, colleague):
    browser, other = owner.browser, owner.browser
    theirs = colleague.browser
    ids = {login.member_id: login.id for login in db.session.query(Login).order_by(Login.created_at)}
    assert browser.post(f"/sessions/{ids[colleague.member.id]}/end").status_code == 404
    assert theirs.get("/sessions").status_code == 200
    assert browser.post(f"/sessions/{ids[owner.member.id]}/end").status_code == 302
    assert other.get("/sessions").status_code == 302
    assert browser.get("/sessions").status_code == 200
