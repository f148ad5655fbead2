"""What a browser may be made to do: sessions, redirects, frames, caches, forms."""

import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app import create_app
from app.accounts import actions, passwords
from app.core import clock
from app.core.db import db
from app.core.queue import SilentWaker
from tests.factories import Made
from tests.people import Browser, Person

PASSWORD = "a sentence that nobody guesses"
ELSEWHERE = (
    "https://evil.example/",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "https:evil.example",
    "http:///evil.example",
    "evil.example",
    " //evil.example",
    "/%5cevil.example\\",
    "\x00//evil.example",
    "@evil.example",
    "/.\\evil.example",
    "",
)


@pytest.fixture
def known(owner: Person) -> Person:
    hashed = passwords.hashed(PASSWORD)
    owner.member.password_hash = hashed
    db.session.commit()
    return owner


def _sign_in(client: Browser, person: Person, **form: str) -> Any:
    return client.post("/sign-in", data={"email": person.member.email, "password": PASSWORD, **form})


@pytest.mark.parametrize("target", ELSEWHERE)
@pytest.mark.parametrize("how", ["form", "query"])
def test_signing_in_leads_to_our_own_pages_only(client: Browser, known: Person, target: str, how: str) -> None:
    if how == "form":
        answer = _sign_in(client, known, next=target)
    else:
        form = {"email": known.member.email, "password": PASSWORD}
        answer = client.post("/sign-in", query_string={"next": target}, data=form)
    assert answer.status_code == 302
    assert re.fullmatch(r"/[a-z][a-z/-]*", answer.headers["Location"])


def test_someone_signed_in_is_not_led_away_either(known: Person) -> None:
    browser = known.browser
    for target in ELSEWHERE:
        answer = browser.get("/sign-in", query_string={"next": target})
        assert re.fullmatch(r"/[a-z][a-z/-]*", answer.headers["Location"]), target


def test_a_session_cannot_be_given_to_someone_beforehand(client: Browser, known: Person) -> None:
    client.set_cookie("sid", "chosen-by-an-attacker")
    _sign_in(client, known)
    cookie = client.get_cookie("sid")
    assert cookie
    assert cookie.value != "chosen-by-an-attacker"
    stranger = known.app.test_client()
    stranger.set_cookie("sid", "chosen-by-an-attacker")
    assert stranger.get("/dashboard").status_code == 302


def test_a_new_password_ends_other_sessions_at_once(known: Person) -> None:
    other, mine = known.browser, known.browser
    assert other.get("/dashboard").status_code == 200
    answer = mine.post("/password", data={"current": PASSWORD, "password": "another long sentence of words"})
    assert answer.status_code == 302
    assert other.get("/dashboard").status_code == 302
    assert mine.get("/dashboard").status_code == 200


def test_disabling_someone_ends_their_sessions_at_once(colleague: Person) -> None:
    browser = colleague.browser
    assert browser.get("/dashboard").status_code == 200
    colleague.member.disabled_at = clock.now()
    db.session.commit()
    assert browser.get("/dashboard").status_code == 302


def test_wrong_passwords_are_throttled_for_unknown_addresses_too(client: Browser, known: Person) -> None:
    for email in (known.member.email, "nobody@first.example"):
        answers = [
            client.post("/sign-in", data={"email": email, "password": f"wrong password {n}"}).status_code
            for n in range(6)
        ]
        assert answers == [422] * 5 + [429]
    assert _sign_in(client, known).status_code == 429  # also with the right one, until the wait is over


def test_an_address_with_a_character_that_cannot_be_kept_is_named(client: Browser) -> None:
    answer = client.post("/sign-in", data={"email": "a\x00b@first.example", "password": PASSWORD})
    assert answer.status_code in {200, 422}
    assert "Location" not in answer.headers
    assert b"NUL" in answer.data or b"cannot be kept" in answer.data


@pytest.mark.parametrize("path", ["/api-keys/%00/revoke", "/sessions/a%00/end"])
def test_an_address_that_cannot_be_kept_leads_nowhere(owner: Person, path: str) -> None:
    assert owner.browser.post(path).status_code == 404
    assert owner.browser.get("/recordings/%00/x.1.play.y").status_code == 404


PAGES = (
    "/dashboard",
    "/flows",
    "/flows/new",
    "/interviews",
    "/candidates",
    "/webhooks",
    "/team",
    "/api-keys",
    "/sign-in",
    "/nothing",
)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_framed_sniffed_cached_or_scripted_from_elsewhere(owner: Person, path: str) -> None:
    answer = owner.browser.get(path)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in answer.headers
    if path not in {"/nothing", "/sign-in"}:
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Cookie" in answer.headers["Vary"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_hold_no_inline_script_style_or_handler(owner: Person, path: str) -> None:
    page = owner.browser.get(path).get_data(as_text=True)
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S", page)
    assert not re.search(r"<style\b|\sstyle=|\son[a-z]+=\"|javascript:", page)
    assert not re.search(r"(?:src|action)=\"(?:https?:)?//", page)


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}${7*7}<!--'


def test_what_people_typed_is_shown_as_text_everywhere(owner: Person, make_flow: Made) -> None:
    flow = make_flow(
        title=HOSTILE, org_name=HOSTILE, questions=[HOSTILE], intro=HOSTILE, outro=HOSTILE, additional_info=HOSTILE
    )
    body = {
        "interview_flow_id": flow.id,
        "interviewee_email_address": "x@candidate.example",
        "interviewee_first_name": HOSTILE,
        "interviewee_last_name": HOSTILE,
    }
    booked = owner.api("POST", "/v1/interviews", json=body).get_json()
    link = booked["interview_link"].removeprefix("http://localhost")
    interview = f"/interviews/{booked['interview_id']}"
    for path in (
        "/flows",
        f"/flows/{flow.id}",
        f"/flows/{flow.id}/edit",
        "/candidates",
        "/interviews",
        interview,
        link,
    ):
        page = owner.browser.get(path).get_data(as_text=True)
        assert "<script>alert" not in page, path
        assert "<img src=x" not in page, path
        assert "alert(1)" not in page or "&lt;script&gt;alert(1)" in page or "\\u003c" in page, path
        assert not re.search(r"\b49\b<!--|\$49", page), path
    searched = owner.browser.get("/candidates", query_string={"text": HOSTILE, "status": HOSTILE, "flow": HOSTILE})
    assert searched.status_code == 200
    assert "<script>alert" not in searched.get_data(as_text=True)


def test_a_mail_scanner_that_opens_a_link_uses_nothing_up(client: Browser, owner: Person, make_flow: Made) -> None:
    flow = make_flow()
    booked = owner.api("POST", "/v1/interviews", json={"interview_flow_id": flow.id}).get_json()
    link = booked["interview_link"].removeprefix("http://localhost")
    for method in ("HEAD", "GET", "GET", "OPTIONS"):
        assert client.open(link, method=method).status_code == 200
    assert client.post(f"{link}/start", data={"consent": "yes", "mode": "text"}, forged=True).status_code in {400, 403}
    assert client.post(f"{link}/start", data={"mode": "text"}).status_code == 422
    assert client.post(f"{link}/start", data={"consent": "yes", "mode": "text"}).status_code == 303
    headers = client.get(link).headers
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_over_tls_every_cookie_is_bound_to_the_host(own_app: Flask) -> None:
    settings = replace(own_app.extensions["parley.settings"], app_url="https://parley.example")
    app = create_app(settings, gateways=own_app.extensions["parley.gateways"], waker=SilentWaker())
    app.test_client_class = Browser
    with app.app_context():
        hashed = passwords.hashed(PASSWORD)
        founded = actions.create_organization(
            "First", team_name="Hiring", admin_email="owner@first.example", admin_hash=hashed
        )
        db.session.commit()
        form = {"email": founded.admin.email, "password": PASSWORD}
        client, at = app.test_client(), {"base_url": "https://parley.example"}
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/sign-in", **at).get_data(as_text=True))
        assert token
        headers = {"X-CSRFToken": token[1]}
        answer = client.post("/sign-in", data=form, headers=headers, forged=True, **at)  # type: ignore[call-arg]
        cookies = answer.headers.getlist("Set-Cookie")
        db.session.remove()
        db.engine.dispose()
    assert any(cookie.startswith("__Host-sid=") for cookie in cookies)
    for cookie in cookies:
        assert cookie.startswith("__Host-")
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
        assert "Domain" not in cookie
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PATCH", "PUT"])
def test_no_method_reaches_further_than_the_declared_ones(owner: Person, make_flow: Made, method: str) -> None:
    flow = make_flow()
    answer = owner.app.test_client().open(f"/v1/interview-flows/{flow.id}", method=method)
    assert answer.status_code in {200, 401, 405}
    assert flow.title.encode() not in answer.data


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix"])
def test_headers_cannot_turn_one_request_into_another(owner: Person, make_flow: Made, header: str) -> None:
    flow = make_flow()
    value = "DELETE" if "Method" in header else f"/v1/interview-flows/{flow.id}"
    answer = owner.api("GET", f"/v1/interview-flows/{flow.id}", headers={header: value})
    assert answer.get_json()["status"] == "open"
    assert owner.api("GET", f"/v1/interview-flows/{flow.id}").get_json()["status"] == "open"


def test_a_forged_host_is_not_put_into_links(owner: Person, make_flow: Made) -> None:
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    body = {"interview_flow_id": make_flow().id}
    booked = owner.api("POST", "/v1/interviews", json=body, headers=headers)
    assert booked.get_json()["interview_link"].startswith("http://localhost/")
    assert b"evil.example" not in owner.browser.get("/dashboard", headers=headers).data
    assert "evil.example" not in owner.browser.post("/sign-out", headers=headers).headers.get("Location", "")
