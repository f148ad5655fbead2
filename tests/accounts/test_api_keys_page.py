"""The page of API keys."""

import re

import pytest

from app.accounts import queries
from app.accounts.models import ApiKey
from app.core.db import db


def test_a_new_key_is_shown_once_and_works(owner):
    browser = owner.browser
    assert browser.post("/api-keys", data={"name": "Import"}).location == "/api-keys"
    page = browser.get("/api-keys").get_data(as_text=True)
    key = re.search(r'value="([0-9a-f-]{36})"', page).group(1)
    assert key not in browser.get("/api-keys").get_data(as_text=True)
    response = owner.app.test_client().get("/v1/ping", headers={"Authorization": f"Bearer {key}"})
    assert response.status_code == 200


def test_the_session_cookie_does_not_hold_the_new_key_readably(owner):
    browser = owner.browser
    browser.post("/api-keys", data={"name": "Import"})
    row = db.session.query(ApiKey).filter_by(name="Import").one()
    with browser.session_transaction() as session:
        assert row.last4 not in session["new_key"] or len(session["new_key"]) > 80
        assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", session["new_key"])


def test_a_key_without_a_name_is_refused(owner):
    response = owner.browser.post("/api-keys", data={"name": ""})
    assert response.status_code == 422
    assert b"Name the program that will use this key." in response.data


def test_revoking_ends_a_key(owner):
    (key,) = queries.keys_of(owner.organization)
    assert owner.browser.post(f"/api-keys/{key.id}/revoke").status_code == 302
    assert owner.api("GET", "/v1/ping").status_code == 401
    assert owner.browser.post(f"/api-keys/{key.id}/revoke").status_code == 302


def test_a_key_of_another_organization_cannot_be_revoked(owner, outsider):
    (key,) = queries.keys_of(outsider.organization)
    assert owner.browser.post(f"/api-keys/{key.id}/revoke").status_code == 403
    assert outsider.api("GET", "/v1/ping").status_code == 200


def test_a_key_that_does_not_exist_is_not_found(owner):
    assert owner.browser.post("/api-keys/nothing/revoke").status_code == 404


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api-keys"), ("POST", "/api-keys"), ("POST", "/api-keys/x/revoke")]
)
def test_only_administrators_see_and_change_keys(colleague, method, path):
    assert colleague.browser.open(path, method=method).status_code == 403


def test_the_menu_leads_only_administrators_there(owner, colleague):
    assert 'href="/api-keys"' in owner.browser.get("/team").text
    assert 'href="/api-keys"' not in colleague.browser.get("/team").text
