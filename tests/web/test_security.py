"""CSRF, origin, and what browsers are told by headers."""

import io
import uuid
from datetime import timedelta

import pytest
from flask import Flask, Response, request
from itsdangerous import URLSafeTimedSerializer

from app.core import clock
from app.web import security


@pytest.fixture
def site(probing):
    """An application with a form and a device page."""

    def build(**changes) -> Flask:
        app = probing(**changes)
        app.add_url_rule("/form", "form", lambda: request.form.get("name", "none"), methods=["POST"])
        app.add_url_rule("/devices", "devices", lambda: security.allow_devices() or "devices")
        app.add_url_rule("/private", "private", lambda: security.keep_private() or "private")
        app.add_url_rule("/told", "told", lambda: {"told": True})
        app.add_url_rule("/sound", "sound", lambda: Response(b"RIFF", content_type="audio/wav"))
        return app

    return build


def test_a_form_with_its_token_goes_through(site):
    assert site().test_client().post("/form", data={"name": "x"}).data == b"x"


def test_a_token_in_the_header_is_good_for_its_own_session_alone(site):
    app = site()
    signer = URLSafeTimedSerializer(str(app.secret_key), salt="wtf-csrf-token")
    mine, theirs = app.test_client(), app.test_client()
    for client, token in ((mine, "1" * 40), (theirs, "2" * 40)):
        with client.session_transaction() as session:
            session["csrf_token"] = token
    own = str(signer.dumps("1" * 40))
    for _repeat in range(2):  # the second time it has been read before
        assert mine.post("/form", data={"name": "x"}, headers={"X-CSRFToken": own}, forged=True).data == b"x"
        for other in (own[:-1], own + "x", "none", str(signer.dumps("2" * 40)), ""):
            headers = {"X-CSRFToken": other}
            assert mine.post("/form", data={"name": "x"}, headers=headers, forged=True).status_code == 400
        answer = theirs.post("/form", data={"name": "x"}, headers={"X-CSRFToken": own}, forged=True)
        assert answer.status_code == 400
        assert app.test_client().post("/form", headers={"X-CSRFToken": own}, forged=True).status_code == 400


def test_a_form_without_token_is_refused_and_offers_what_was_typed(site):
    response = site().test_client().post("/form", data={"name": "<long text>", "password": "my own word"}, forged=True)
    assert response.status_code == 400
    assert b"&lt;long text&gt;" in response.data
    assert b"my own word" not in response.data
    assert response.data.count(b'name="csrf_token"') == 1


@pytest.mark.parametrize("name", ["", "cv.pdf"])
def test_a_refused_form_with_a_file_field_offers_what_was_typed_too(site, name):
    data = {"name": "long text", "cv": (io.BytesIO(b"%PDF" if name else b""), name)}
    response = site().test_client().post("/form", data=data, content_type="multipart/form-data", forged=True)
    assert response.status_code == 400
    assert b"long text" in response.data
    assert b"choose files again" in response.data


def test_ids_of_a_refused_form_travel_along_unseen(site):
    flow = str(uuid.uuid4())
    client = site().test_client()
    response = client.post("/form", data={"name": "long text", "flow": flow, "note": ""}, forged=True)
    assert b"1 selected entry will also be sent" in response.data
    assert f'<input type="hidden" name="flow" value="{flow}">'.encode() in response.data
    assert b'<input type="hidden" name="name"' not in response.data
    people = [str(uuid.uuid4()) for _ in range(3)]
    assert b"3 selected entries will also be sent" in client.post("/form", data={"ids": people}, forged=True).data
    assert b"chosen" not in client.post("/form", data={"name": "long text"}, forged=True).data


def test_scripts_hear_about_a_missing_token_in_json(site):
    response = site().test_client().post("/form", json={}, headers={"Accept": "application/json"}, forged=True)
    assert (response.status_code, response.json["code"]) == (403, 403)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost"}, 200),
        ({}, 200),
    ],
)
def test_other_sites_cannot_post_even_with_a_token(site, headers, code):
    response = site().test_client().post("/form", data={"name": "secret text"}, headers=headers)
    assert response.status_code == code
    if code == 403:
        assert b"secret text" not in response.data


def test_v1_takes_no_token_because_it_reads_no_cookies(probe):
    response = probe(
        "POST", "/v1/probe", json={"name": "x"}, headers={"Origin": "https://elsewhere.example"}, forged=True
    )
    assert response.status_code == 200
    assert "Set-Cookie" not in response.headers


def test_the_content_policy_has_no_unsafe_word(site):
    policy = site().test_client().get("/healthz").headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"):
        assert part in policy


def test_interview_pages_alone_may_use_devices(site):
    client = site().test_client()
    plain, devices = client.get("/private").headers, client.get("/devices").headers
    assert "microphone=()" in plain["Permissions-Policy"]
    assert "microphone=(self), camera=(self)" in devices["Permissions-Policy"]
    assert "'wasm-unsafe-eval'" in devices["Content-Security-Policy"]
    assert "worker-src 'self' blob:" in devices["Content-Security-Policy"]
    assert (plain["Referrer-Policy"], devices["Referrer-Policy"]) == ("same-origin", "no-referrer")


def test_pages_behind_the_login_are_kept_by_no_cache(site, owner):
    headers = site().test_client().get("/private").headers
    assert headers["Cache-Control"] == "no-store"
    assert "Cookie" in headers["Vary"]
    assert owner.browser.get("/team").headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("url", "expected"), [("https://parley.example", True), ("http://localhost", False)])
def test_tls_only_headers_and_cookie_flags_follow_the_address(site, url, expected):
    app = site(app_url=url)
    response = app.test_client().get("/sign-in", base_url=url)
    assert ("Strict-Transport-Security" in response.headers) is expected
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith("__Host-") is expected
    assert ("Secure" in cookie) is expected
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


@pytest.mark.parametrize("path", ["/healthz", "/v1/ping", "/nothing", "/sign-in", "/v1/docs"])
def test_every_answer_carries_the_common_headers(client, path):
    headers = client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Content-Security-Policy" in headers


FOR_DOCUMENTS = {
    "Content-Security-Policy",
    "Reporting-Endpoints",
    "Permissions-Policy",
    "Referrer-Policy",
    "Cross-Origin-Opener-Policy",
}


@pytest.mark.parametrize("path", ["/told", "/sound"])
def test_what_a_script_reads_has_no_headers_for_documents(site, path):
    client = site(app_url="https://parley.example").test_client()
    headers = client.get(path, headers={"Sec-Fetch-Dest": "empty"}).headers
    assert set(headers.keys()) & FOR_DOCUMENTS == set()
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "max-age" in headers["Strict-Transport-Security"]


@pytest.mark.parametrize(
    ("path", "opened_as"),
    [
        ("/told", None),
        ("/told", "document"),
        ("/told", "iframe"),
        ("/sound", "audio"),
        ("/private", "empty"),
        ("/devices", "empty"),
    ],
)
def test_what_could_be_opened_or_run_keeps_them(site, path, opened_as):
    asked = {"Sec-Fetch-Dest": opened_as} if opened_as else {}
    assert set(site().test_client().get(path, headers=asked).headers.keys()) >= FOR_DOCUMENTS


def test_reports_of_browsers_are_noted_without_their_content(probing, caplog):
    client = probing().test_client()
    response = client.post("/csp-reports", data=b'{"document-uri": "https://x/secret"}', forged=True)
    assert response.status_code == 204
    assert "violation, 36 bytes" in caplog.text
    assert "secret" not in caplog.text
    assert client.post("/csp-reports", data=b"x" * 100_000, forged=True).status_code == 204


def test_policy_reports_are_limited_and_one_a_minute_is_written_down(probing, caplog):
    client = probing(rate_limit_per_minute=600).test_client()
    start = clock.now()
    at = [start]
    with clock.replaced(lambda: at[0]):
        codes = [client.post("/csp-reports", data=b"{}", forged=True).status_code for _ in range(100)]
        assert (codes.count(204), codes.count(429)) == (60, 40)
        assert caplog.text.count("content security policy violation") == 1
        at[0] = start + timedelta(seconds=61)
        other = {"REMOTE_ADDR": "10.1.1.1"}
        assert client.post("/csp-reports", data=b"{}", forged=True, environ_base=other).status_code == 204
    assert caplog.text.count("content security policy violation") == 2
    assert "59 more since the last line" in caplog.text
