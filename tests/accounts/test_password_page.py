"""Changing one's own password."""

import pytest

NEW = "seven lanterns in fog"


def test_a_new_password_ends_the_other_sessions_and_counts_at_once(known, sign_in, client):
    browser, other = known.browser, known.browser
    changed = browser.post("/password", data={"current": "a staple and a horse", "password": NEW})
    assert changed.status_code == 302
    assert browser.get("/sessions").status_code == 200
    assert other.get("/sessions").status_code == 302
    assert sign_in().status_code == 422
    assert sign_in(password=NEW).status_code == 302


@pytest.mark.parametrize(
    ("field", "value"), [("current", "not my password"), ("current", ""), ("password", "short"), ("password", "")]
)
def test_bad_input_is_named_and_changes_nothing(known, sign_in, field, value):
    fields = {"current": "a staple and a horse", "password": NEW, field: value}
    response = known.browser.post("/password", data=fields)
    assert response.status_code == 422
    assert f'id="{field}-error"'.encode() in response.data
    assert sign_in().status_code == 302


def test_strangers_are_led_to_the_sign_in_page(client):
    assert client.get("/password").status_code == 302
