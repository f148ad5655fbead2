"""Calls that say which tool of ``parley mcp`` they belong to: one entry for each, and no way to flood the log."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask

from app import create_app
from app.accounts import mcp_calls
from app.accounts.models import AuditEntry
from app.core import queue
from app.core.db import db
from app.gateways import Gateways
from app.settings import Settings
from tests.people import Person

TOOL = {"X-Parley-Tool": "get_flow"}


def entries() -> list[AuditEntry]:
    found = db.session.query(AuditEntry).filter_by(action=mcp_calls.ACTION).order_by(AuditEntry.number)
    return list(found)


def test_reads_and_changes_are_entries_with_the_key_even_when_they_fail(owner: Person) -> None:
    marks = {**TOOL, "X-Parley-Client": "claude-ai 1.2"}
    unknown = "00000000-0000-4000-8000-000000000000"
    assert owner.api("GET", f"/v1/interview-flows/{unknown}", headers=marks).status_code == 422
    assert owner.api("POST", "/v1/interview-flows", headers=TOOL, json={}).status_code == 422
    first, second = entries()
    assert first.details == {"tool": "get_flow", "client": "mcp/claude-ai 1.2", "about": unknown}
    assert second.details == {"tool": "get_flow", "client": "mcp/unknown"}
    assert {entry.member_id for entry in (first, second)} == {None}


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"X-Parley-Tool": "Get flow"}, "X-Parley-Tool"),
        ({"X-Parley-Tool": "a" * 41}, "X-Parley-Tool"),
        ({**TOOL, "X-Parley-Client": "a" * 121}, "X-Parley-Client"),
        ({**TOOL, "X-Parley-Client": "Zoë"}, "X-Parley-Client"),
    ],
)
def test_marks_that_are_not_ours_are_refused_by_name(owner: Person, headers: dict[str, str], field: str) -> None:
    answer = owner.api("GET", "/v1/teams", headers=headers)
    assert (answer.status_code, list(answer.json["errors"]["headers"])) == (422, [field])
    assert entries() == []


def test_without_a_working_key_there_is_no_entry(app: Flask, owner: Person) -> None:
    assert app.test_client().get("/v1/teams", headers=TOOL).status_code == 401
    assert owner.api("GET", "/v1/teams", headers={"X-Parley-Client": "curl"}).status_code == 200
    assert entries() == []


@pytest.fixture
def limited(app: Flask, settings: Settings, engines: Gateways) -> Iterator[Flask]:
    """An application with rate limits, on the rows of ``app``."""
    application = create_app(
        replace(settings, rate_limit_per_minute=1_000), gateways=engines, waker=queue.SilentWaker()
    )
    before = app.extensions["parley.limiter"]
    app.extensions["parley.limiter"] = application.extensions["parley.limiter"]
    yield app
    app.extensions["parley.limiter"] = before


def test_a_key_cannot_flood_the_log(limited: Flask, owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_calls, "MOST_A_MINUTE", 3)
    answers = [owner.api("GET", "/v1/teams", headers=TOOL) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["Retry-After"] == "60"
    assert len(entries()) == 3
    assert owner.api("GET", "/v1/teams").status_code == 200
