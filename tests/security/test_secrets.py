"""Secrets stay where they belong: everything that leaves the process in a whole scenario is searched for them."""

import io
import json
import logging
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts import access, passwords
from app.core import queue
from app.core.db import Base, db
from app.interviews.jobs.processing import process_interview
from app.operations.demo.candidate import Candidate
from app.review.notices import SPREAD_NOTICE
from app.review.notices.jobs import send, spread
from app.webhooks import jobs
from tests.conversation.direct import Direct
from tests.conversation.fakes import ScriptedInterviewer, ScriptedSpeaker, ScriptedTranscriber
from tests.guards import Guarded
from tests.interviews.fakes import ScriptedAnalyst
from tests.outbound.receiver import Receiver, says
from tests.people import Browser

from .secrets_found import found_in, spellings

PASSWORD = "Pw: correct/horse+battery=zstaple?"
SECOND_PASSWORD = "Pw2: another/horse+battery=zstaple?"
CHANNEL_SECRET = "T0zqchan/B0zqchan/zqchannelofslacksecret"
WEBHOOK_SECRET = 'whsec "quoted"/plus+and\\slash~ünicode'
EMAIL, FIRST, LAST = "zelda.quimby@candidate.example", "Zeldaquim", "Quimbyzel"
SAID = "Zyzzogeton is what I said"
PERSONAL = (EMAIL, "zelda.quimby", FIRST, LAST, "Zyzzogeton", "zadmin@first.example", "zadmin")


@dataclass
class Captured:
    """Bytes that left, under the name of the way they took."""

    kept: list[tuple[str, bytes]] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)

    def take(self, where: str, content: bytes) -> None:
        self.kept.append((where, content))

    def leaks(self) -> set[tuple[str, str]]:
        """(way, secret): in whatever spelling."""
        return {(where, name) for where, content in self.kept for name, _ in found_in(content, self.secrets)}


class Watched(Browser):
    """A browser whose every answer is kept."""

    captured: Captured

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        response = super().open(*args, **kwargs)
        way = f"{response.request.method} {re.sub(r'[0-9a-f]{8}-[-0-9a-f]{27}', '*', response.request.path)}"
        self.captured.take(way, response.get_data())
        cookies = response.headers.getlist("Set-Cookie")
        self.captured.take(
            f"{way} headers", "\n".join(f"{k}: {v}" for k, v in response.headers if k != "Set-Cookie").encode()
        )
        self.captured.take(f"{way} cookies", "\n".join(cookies).encode())
        return response


@pytest.fixture
def captured() -> Captured:
    return Captured()


@pytest.fixture
def watched_app(own_app: Flask, captured: Captured) -> Iterator[Flask]:
    engines = own_app.extensions["parley.gateways"]
    scripted: dict[str, Any] = {
        "transcriber": Guarded(ScriptedTranscriber()),
        "speaker": Guarded(ScriptedSpeaker()),
        "interviewer": Guarded(ScriptedInterviewer()),
        "analyst": Guarded(ScriptedAnalyst(summary=None)),
    }
    own_app.extensions["parley.gateways"] = replace(engines, **scripted)
    own_app.test_client_class = type("WatchedHere", (Watched,), {"captured": captured})
    with own_app.app_context():
        yield own_app
        db.session.remove()


@pytest.fixture
def log(captured: Captured) -> Iterator[io.StringIO]:
    """Everything that any logger says, at the finest level, in the form of the platform's own format and raw."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)s %(exc_text)s"))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield text
    root.removeHandler(handler)
    root.setLevel(before)


def _set_up(app: Flask, captured: Captured) -> Browser:
    settings = app.extensions["parley.settings"]
    browser: Browser = app.test_client()  # type: ignore[assignment]
    form = {
        "organization": "First Ltd",
        "team": "Hiring",
        "full_name": "Zadmin",
        "email": "zadmin@first.example",
        "password": PASSWORD,
    }
    assert browser.post(f"/setup/{access.setup_token(settings.secret_key)}", data=form).status_code == 302
    assert browser.post("/api-keys", data={"name": "First key"}).status_code == 302
    key = re.search(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", browser.get("/api-keys").data)
    assert key
    cookie = browser.get_cookie(access.cookie_name(settings))
    assert cookie
    captured.secrets |= {
        "password": PASSWORD,
        "second password": SECOND_PASSWORD,
        "webhook secret": WEBHOOK_SECRET,
        "channel URL": CHANNEL_SECRET,
        "SECRET_KEY": settings.secret_key,
        "set-up token": access.setup_token(settings.secret_key),
        "API key": key[0].decode(),
        "login cookie": cookie.value,
    }
    return browser


def _with_channel(browser: Browser, url: str) -> str:
    """A channel in Slack, added and opened; and a form for one that comes too late, or from a stranger."""
    form = {"service": "slack", "name": "#hiring", "kinds": "result_ready", "secret_url": f"{url}/{CHANNEL_SECRET}"}
    page = str(browser.post("/notices/new", data=form).location)
    for path in (page, "/notices", "/audit"):
        browser.get(path)
    browser.post(f"{page}/test")
    browser.post(page, data=form, forged=True)
    browser.application.test_client().post("/notices/new", data=form)
    return page


def _interviewed(app: Flask, captured: Captured, hook: str) -> dict[str, str]:
    """Over the public interface and the candidate's own: from the flow to the finished result."""
    api, headers = app.test_client(), {"Authorization": f"Bearer {captured.secrets['API key']}"}
    body = {
        "org_name": "First Ltd",
        "title": "Nurse",
        "questions": ["Why?"],
        "interview_type": "recruitment",
        "webhook_url": hook,
        "webhook_secret_key": WEBHOOK_SECRET,
    }
    flow = api.post("/v1/interview-flows", json=body, headers=headers | {"Idempotency-Key": "once"}).get_json()
    api.post("/v1/interview-flows", json=body, headers=headers | {"Idempotency-Key": "once"})
    api.post("/v1/interview-flows", json={**body, "webhook_secret_key": WEBHOOK_SECRET, "unknown": 1}, headers=headers)
    for path in ("/v1/interview-flows", f"/v1/interview-flows/{flow['interview_flow_id']}", "/v1/teams", "/v1/ping"):
        api.get(path, headers=headers)
    named = {
        "interview_flow_id": flow["interview_flow_id"],
        "interviewee_email_address": EMAIL,
        "interviewee_first_name": FIRST,
        "interviewee_last_name": LAST,
    }
    booked = api.post("/v1/interviews", json=named, headers=headers).get_json()
    browser: Browser = app.test_client()  # type: ignore[assignment]
    candidate = Candidate(booked["interview_link"], session=Direct(browser))  # type: ignore[arg-type]
    candidate.open()
    candidate.start("text")
    sitting = browser.get_cookie(f"parley-sitting-{booked['interview_id'][:8]}")
    assert sitting
    captured.secrets["sitting cookie"] = sitting.value
    candidate.write([SAID])
    candidate.open()
    db.session.remove()
    process_interview(booked["interview_id"])
    api.get("/v1/interviews", headers=headers)
    api.get(f"/v1/interviews/{booked['interview_id']}", headers=headers)
    return {"flow": flow["interview_flow_id"], "interview": booked["interview_id"]}


def _looked_around(browser: Browser, ids: dict[str, str]) -> None:
    """Every page, pages of errors, and forms that fail with secrets in them."""
    paths = (
        "/dashboard",
        "/flows",
        f"/flows/{ids['flow']}",
        f"/flows/{ids['flow']}/edit",
        "/interviews",
        "/candidates",
        f"/interviews/{ids['interview']}",
        "/webhooks",
        "/team",
        "/settings",
        "/sessions",
        "/password",
        "/api-keys",
        "/nothing",
        f"/interviews/{ids['flow']}",
        "/healthz",
        "/readyz",
        "/metrics",
    )
    for path in paths:
        browser.get(path)
    page = browser.get("/webhooks").get_data(as_text=True)
    for delivery in sorted(set(re.findall(r"/webhooks/deliveries/[-0-9a-f]{36}", page))):
        browser.get(delivery)
    member = {
        "email": "no address",
        "full_name": "X",
        "role": "viewer",
        "team": "none",
        "password": SECOND_PASSWORD,
    }
    browser.post("/team/members", data=member)
    browser.post("/team/members", data=member, forged=True)
    browser.post("/password", data={"current": SECOND_PASSWORD, "password": SECOND_PASSWORD})
    browser.post("/password", data={"current": PASSWORD, "password": SECOND_PASSWORD}, forged=True)
    browser.post("/sign-in", data={"email": "zadmin@first.example", "password": SECOND_PASSWORD})
    flow = {"title": "", "org_name": "X", "questions-0": "Why?", "webhook_secret_key": WEBHOOK_SECRET}
    browser.post(f"/flows/{ids['flow']}/edit", data=flow, forged=True)
    stranger = browser.application.test_client()
    stranger.post(f"/flows/{ids['flow']}/edit", data=flow)
    stranger.post("/sign-in", data={"email": "zadmin@first.example", "password": PASSWORD}, forged=True)


def _dumped(app: Flask, captured: Captured, folder: Path) -> None:
    """Every row as it is kept, and every file."""
    db.session.remove()
    with db.engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            for row in connection.execute(sa.text(f'SELECT * FROM "{table.name}"')).mappings():
                for column, value in row.items():
                    content = value if isinstance(value, bytes) else str(value).encode()
                    captured.take(f"table {table.name}.{column}", content)
    for path in folder.rglob("*"):
        if path.is_file():
            captured.take(f"file {path.suffix or path.parent.name}", path.read_bytes())


KNOWN = {
    # The interface promises the secret to whoever holds the key, and shows it nowhere else.
    ("GET /v1/interview-flows", "webhook secret"),
    ("GET /v1/interview-flows/*", "webhook secret"),
    # A new key is shown this once; a cookie is set by the answer that makes it.
    ("GET /api-keys", "API key"),
    ("POST /setup/<token> cookies", "login cookie"),
    ("POST /interview/api/*/*/start cookies", "sitting cookie"),
    ("Slack", "channel URL"),  # a message is sent to it
    # What was typed into a form that failed is offered again in the very same form, never elsewhere.
}


def test_no_secret_leaves_but_where_it_must(
    watched_app: Flask, captured: Captured, log: io.StringIO, tmp_path: Path
) -> None:
    browser = _set_up(watched_app, captured)
    with Receiver() as receiver:
        page = _with_channel(browser, receiver.url)
        receiver.scripts = [says(500, b"no"), says(302, b"", Location="/elsewhere")]
        ids = _interviewed(watched_app, captured, receiver.url)
        db.session.remove()
        jobs.drain(seconds=10)
        for (notice_id,) in queue.overdue(SPREAD_NOTICE):
            spread(notice_id)
        receiver.scripts = [says(500, CHANNEL_SECRET.encode())]
        assert send() == 1
        browser.get(page)
        _looked_around(browser, ids)
        sent = list(receiver.requests)
    assert sent
    for request in sent:
        captured.take("Slack" if CHANNEL_SECRET in request.path else "webhook", request.raw + request.body)
    captured.take("log", log.getvalue().encode())
    _dumped(watched_app, captured, tmp_path)
    token = captured.secrets["set-up token"]
    leaks = {(where.replace(token, "<token>"), name) for where, name in captured.leaks()}
    assert leaks == KNOWN
    assert len(captured.kept) > 150
    figures = dict(captured.kept)["GET /metrics"].decode()
    for counted in ('parley_turn_seconds_count{kind="text",', 'parley_webhook_seconds_count{outcome="http"}'):
        assert counted in figures
    assert [word for word in (*PERSONAL, *ids.values()) if word.lower() in figures.lower()] == []
    spoken = log.getvalue()
    assert ids["interview"] in spoken, "the log tells what it is about"
    assert [word for word in PERSONAL if word.lower() in spoken.lower()] == []


def test_passwords_are_kept_as_slow_hashes_only(watched_app: Flask, captured: Captured) -> None:
    _set_up(watched_app, captured)
    kept = db.session.execute(sa.text("SELECT password_hash FROM team_member")).scalar_one()
    assert kept.startswith("$argon2id$")
    assert passwords.matches(kept, PASSWORD)


@pytest.mark.parametrize("spelling", sorted(spellings("x" * 40)))
def test_the_scanner_finds_every_spelling_in_any_surroundings(spelling: str) -> None:
    secret = WEBHOOK_SECRET + PASSWORD
    written = spellings(secret)[spelling]
    assert found_in(b"before " + written + b" after", {"it": secret})


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_the_scanner_finds_base64_at_any_offset(before: str) -> None:
    import base64

    coded = base64.b64encode(f"{before}{PASSWORD}and more".encode())
    assert ("it", "base64") in {(name, how.split()[0]) for name, how in found_in(coded, {"it": PASSWORD})}
    assert not found_in(json.dumps({"a": "b" * 200}).encode() + sqlite3.sqlite_version.encode(), {"it": PASSWORD})
