"""Every failure has one shape: JSON under /v1, a page elsewhere."""

import pytest
import sqlalchemy as sa

from app.core.db import db

SHAPE = {"code", "status", "message"}


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("NotFound", 422, "No such thing."),
        ("Forbidden", 403, "Not yours."),
        ("Conflict", 409, "Moved on."),
        ("Gone", 410, "Deleted after 90 days."),
        ("GatewayError", 503, "The far end is away."),
        (
            "Damaged",
            503,
            (
                "a stored file is damaged and no longer matches what was saved; "
                "ask your operator to restore it from a backup, then try again"
            ),
        ),
    ],
)
def test_domain_errors_become_their_status_under_v1(probe, name, code, words):
    response = probe("GET", f"/v1/probe/{name}")
    assert response.status_code == response.json["code"] == code
    assert set(response.json) == SHAPE
    assert response.json["message"] == words
    assert ("Retry-After" in response.headers) is (code == 503)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/v1/probe/NotFound", "not_found"),
        ("/v1/probe/Forbidden", "forbidden"),
        ("/v1/probe/Gone", "cursor_expired"),
        ("/v1/probe/ValueError", "internal_error"),
        ("/v1/nothing", "no_such_url"),
    ],
)
def test_an_error_under_v1_has_a_code_for_programs(probe, path, error):
    assert probe("GET", path).headers["X-Parley-Error"] == error


def test_rejected_input_names_the_field(probe):
    response = probe("GET", "/v1/probe/Rejected")
    assert response.status_code == 422
    assert response.json["message"] == "name: is wrong"
    assert response.json["errors"] == {"query": {"name": ["is wrong"]}}


def test_a_database_that_is_away_says_try_again(probe):
    response = probe("GET", "/v1/probe/OperationalError")
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert set(response.json) == SHAPE


@pytest.mark.parametrize("path", ["/v1/probe/ValueError", "/v1/probe/OperationalError"])
def test_unexpected_errors_tell_no_details_to_caller_or_log(probe, caplog, path):
    response = probe("GET", path)
    assert set(response.json) == SHAPE
    for secret in ("secret", "hidden", "SELECT"):
        assert secret not in response.get_data(as_text=True)
        assert secret not in caplog.text
    assert "probe" not in response.get_data(as_text=True)


def test_errors_of_the_database_quote_no_values(app):
    with app.app_context(), pytest.raises(sa.exc.DBAPIError) as told:
        db.session.execute(sa.text("SELECT :who FROM no_such_table"), {"who": "ada@example.com"})
    assert "no_such_table" in str(told.value)
    assert "ada@example.com" not in str(told.value)


def test_an_unexpected_error_is_a_500_with_its_place_in_the_log(probe, caplog):
    assert probe("GET", "/v1/probe/ValueError").status_code == 500
    assert "unexpected ValueError at" in caplog.text


@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/teams/",
        "/v1/probe/a/b",
        "/v1/%00",
        "/v1/probe/%ff%fe/x",
        "/v1//teams",
        "/v1/teams//",
    ],
)
def test_unknown_addresses_under_v1_answer_json(probe, path):
    response = probe("GET", path)
    assert (response.status_code, set(response.json)) == (404, SHAPE)


def test_a_wrong_method_names_the_right_ones(probe):
    response = probe("DELETE", "/v1/ping")
    assert (response.status_code, set(response.json)) == (405, SHAPE)
    assert "GET" in response.headers["Allow"]


def test_a_nul_in_the_address_is_invalid_and_named(probe):
    response = probe("GET", "/v1/probe/a%00b")
    assert response.status_code == 422
    assert response.json["errors"]["path"] == {"name": ["Must not contain the NUL character."]}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("NotFound", 404),
        ("Forbidden", 403),
        ("Rejected", 422),
        ("Conflict", 409),
        ("GatewayError", 503),
        ("ValueError", 500),
        ("OperationalError", 503),
    ],
)
def test_pages_get_pages(probe, name, code):
    response = probe("GET", f"/fail/{name}", headers={"Accept": "text/html"})
    assert response.status_code == code
    assert response.mimetype == "text/html"
    assert response.data.count(b"<h1") == 1
    assert b"secret" not in response.data


@pytest.mark.parametrize(
    ("name", "heading"),
    [("NotFound", "Not found"), ("Rejected", "Check what you entered"), ("Conflict", "This is not possible now")],
)
def test_the_heading_of_a_page_is_plain_words(probe, name, heading):
    page = probe("GET", f"/fail/{name}", headers={"Accept": "text/html"}).text
    assert f"<h1>{heading}</h1>" in page
    assert f"<title>{heading} ·" in page


def test_a_url_of_a_form_that_is_opened_as_a_page_says_what_to_do(probe):
    response = probe("GET", "/sign-out", headers={"Accept": "text/html"})
    assert response.status_code == 405
    assert "<h1>This page cannot be opened this way</h1>" in response.text
    assert "Go back to the previous page, and use its button or form." in response.text


def test_a_script_that_asks_for_json_gets_it_on_pages_too(probe):
    response = probe("GET", "/fail/Conflict", headers={"Accept": "application/json"})
    assert (response.status_code, response.json["message"]) == (409, "Moved on.")


def test_an_unknown_page_is_a_page(probe):
    response = probe("GET", "/nothing", headers={"Accept": "text/html"})
    assert (response.status_code, response.mimetype) == (404, "text/html")


def test_an_error_page_needs_no_database(probing, tmp_path):
    app = probing(database_url=f"sqlite:///{tmp_path / 'empty.db'}")
    client = app.test_client()
    client.set_cookie("sid", "some token")
    response = client.get("/sign-in")
    assert response.status_code == 503
    assert response.data.count(b"<h1") == 1
    assert client.get("/nothing").status_code == 404


def test_v1_says_try_again_while_the_database_is_away(probing, tmp_path):
    app = probing(database_url=f"sqlite:///{tmp_path / 'empty.db'}")
    header = {"Authorization": "Bearer 00000000-0000-4000-8000-000000000000"}
    response = app.test_client().get("/v1/ping", headers=header)
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert set(response.json) == SHAPE


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"Accept": "application/json, text/plain, */*"}, "application/json"),
        ({"Accept": "application/json"}, "application/json"),
        ({"Accept": "*/*"}, "text/html"),
        ({}, "text/html"),
        ({"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, "text/html"),
        ({"Accept": "text/html, application/json;q=0.5"}, "text/html"),
        ({"Accept": "*/*", "Authorization": "Bearer 6f1b2c3d-0000-4000-8000-000000000000"}, "application/json"),
        ({"Accept": "*/*", "Content-Type": "application/json"}, "application/json"),
    ],
)
def test_programs_get_json_at_addresses_that_are_not_there(probe, headers, kind):
    response = probe.app.test_client().get("/interview-flows-without-v1", headers=headers)
    assert (response.status_code, response.mimetype) == (404, kind)


def test_options_says_what_is_allowed_and_nothing_else(probe):
    response = probe("OPTIONS", "/v1/ping")
    assert (response.status_code, response.data, "Content-Type" in response.headers) == (204, b"", False)
    assert {one.strip() for one in response.headers["Allow"].split(",")} == {"GET", "HEAD", "OPTIONS"}
    refused = probe.app.test_client().options("/v1/ping")
    assert (refused.status_code, refused.mimetype) == (401, "application/json")
