"""``parley mcp`` as people run it: a process that speaks over standard input or over HTTP."""

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from flask import Flask
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from app.accounts import actions, mcp_calls
from app.accounts.models import ApiKey, AuditEntry
from app.core.db import db
from app.operations import cli
from app.operations.mcp_server.http import LARGEST_BODY
from tests.factories import a_flow
from tests.people import person

from .conftest import HANDSHAKE, MODERN, NAMED, command, environment, listening

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture
def customer(own_app: Flask) -> tuple[str, str]:
    """(API key, id of a flow) of an organization on the server."""
    with own_app.app_context():
        someone = person(own_app, "owner@mcp.example", organization="Mcp Ltd", role="admin")
        flow_id, key = a_flow(someone).id, someone.key
        db.session.remove()
    return key, flow_id


def tools_called(app: Flask) -> list[tuple[str, str]]:
    with app.app_context():
        found = db.session.query(AuditEntry).filter_by(action=mcp_calls.ACTION).order_by(AuditEntry.number)
        return [(entry.details["tool"], entry.details["client"]) for entry in found]


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])
def test_over_standard_input(own_app: Flask, served: str, customer: tuple[str, str], mode: str) -> None:
    key, flow_id = customer

    async def use() -> str:
        first, *rest = command()
        variables = environment(PARLEY_API_KEY=key, PARLEY_BASE_URL=served)
        started = stdio_client(StdioServerParameters(command=first, args=rest, env=variables))
        async with Client(started, mode=mode, client_info=NAMED) as client:
            return str((await client.call_tool("get_flow", {"flow_id": flow_id})).content[0].text)

    assert json.loads(asyncio.run(use()))["title"] == "Nurse"
    assert tools_called(own_app) == [("get_flow", "mcp/claude-ai 1.2")]


def over_http(url: str, key: str, mode: str, flow_id: str) -> dict[str, Any]:
    async def use() -> str:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, client_info=NAMED) as client,
        ):
            return str((await client.call_tool("get_flow", {"flow_id": flow_id})).content[0].text)

    shown: dict[str, Any] = json.loads(asyncio.run(use()))
    return shown


def test_over_http_each_program_brings_its_key(
    own_app: Flask, served: str, customer: tuple[str, str], unused_port: int
) -> None:
    key, flow_id = customer
    own = {"PARLEY_BASE_URL": served, "PARLEY_API_KEY": "not used here"}
    with listening(
        "--allowed-host", "tools.example", "--allowed-host", f"127.0.0.1:{unused_port}", port=unused_port, **own
    ) as url:
        for mode in (MODERN, HANDSHAKE):
            assert over_http(url, key, mode, flow_id)["title"] == "Nurse"
        assert tools_called(own_app) == [("get_flow", "mcp/claude-ai 1.2")] * 2
        refuses_what_it_should(own_app, url, key)


def refuses_what_it_should(app: Flask, url: str, key: str) -> None:
    mine = {**ACCEPT, "Authorization": f"Bearer {key}"}

    def post(headers: dict[str, str], body: Any = INITIALIZE) -> httpx2.Response:
        return httpx2.post(url, headers=headers, json=body)

    assert post(mine).status_code == 200
    for wrong in (
        {},
        {"Authorization": "Bearer nothing"},
        {"Authorization": f"Bearer {'0' * 8}-{'0000-' * 3}{'0' * 12}"},
    ):
        refused = post({**ACCEPT, **wrong})
        assert refused.status_code == 401
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")
        assert "resource_metadata" not in refused.headers["WWW-Authenticate"]
    assert post({**mine, "Host": "tools.example"}).status_code == 200
    assert post({**mine, "Host": "attacker.example"}).status_code == 421
    assert post({**mine, "Origin": "https://attacker.example"}).status_code == 403
    assert post(mine, {**INITIALIZE, "padding": "x" * LARGEST_BODY}).status_code == 413
    session = post(mine).headers["Mcp-Session-Id"]
    with app.app_context():
        other = person(app, "owner@other.example", organization="Other Ltd", role="admin").key
        db.session.remove()
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with_session = {"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"}
    assert post({**mine, **with_session}, listing).status_code == 200
    assert post({**mine, **with_session, "Authorization": f"Bearer {other}"}, listing).status_code == 404
    with app.app_context():
        for row in db.session.query(ApiKey).filter_by(key_hash=actions.key_digest(key)):
            actions.revoke_api_key(row, by=None)
        db.session.commit()
        db.session.remove()
    calling = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "list_flows", "arguments": {}}}
    answer = post({**mine, **with_session}, calling).json()
    assert answer["result"]["isError"], "a revoked key opens nothing, even while it is still known"
    assert "API key" in answer["result"]["content"][0]["text"]


def test_while_parley_is_away_no_key_is_called_wrong(unused_port: int, free_port: int) -> None:
    with listening(port=unused_port, PARLEY_BASE_URL=f"http://127.0.0.1:{free_port}") as url:
        key = "00000000-0000-4000-8000-000000000000"
        answer = httpx2.post(url, headers={**ACCEPT, "Authorization": f"Bearer {key}"}, json=INITIALIZE)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert "does not respond" in answer.json()["error_description"]


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), env=environment(**variables), capture_output=True, text=True, check=False)


def test_what_is_missing_is_said_in_a_sentence() -> None:
    assert "PARLEY_API_KEY is not set" in run(PARLEY_BASE_URL="http://localhost").stderr
    assert "PARLEY_BASE_URL must be the URL" in run(PARLEY_BASE_URL="localhost", PARLEY_API_KEY="x").stderr
    open_to_all = run("--http", "--host", "0.0.0.0", PARLEY_BASE_URL="http://localhost")
    assert open_to_all.returncode == 1
    assert "--allowed-host" in open_to_all.stderr


def extra() -> dict[str, list[str]]:
    project: dict[str, Any] = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {**project["optional-dependencies"], "run": project["dependencies"]}


def test_the_plain_installation_has_none_of_its_packages() -> None:
    run_lock = Path("requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"^(mcp|mcp-types|starlette|uvicorn|sse-starlette)==", run_lock, re.MULTILINE)
    assert not [one for one in extra()["run"] if one.startswith(("mcp", "starlette", "uvicorn"))]


def test_without_the_extra_it_says_how_to_install_it() -> None:
    without = "import sys; sys.modules['mcp'] = None; from app.operations.cli import parley; parley(['mcp'])"
    told = subprocess.run(
        [sys.executable, "-c", without], env=environment(), capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    assert told.stdout == ""
    (wanted,) = [one for one in extra()["mcp"] if one.startswith("mcp")]
    assert told.stderr.startswith(
        f'Error: parley mcp needs the optional package "mcp". Install it where parley is: pip install "{wanted}"'
    )
    assert f'pipx inject parley "{wanted}"' in told.stderr
    assert "Traceback" not in told.stderr


def test_without_parley_base_url_the_own_installation_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.operations.cli import mcp_server

    monkeypatch.delenv("PARLEY_BASE_URL", raising=False)
    monkeypatch.setenv("APP_URL", "https://parley.example")
    assert mcp_server._base_url() == "https://parley.example"
    monkeypatch.setenv("PARLEY_BASE_URL", "https://other.example/v1/")
    assert mcp_server._base_url() == "https://other.example"
    assert "Model Context Protocol" in CliRunner().invoke(cli.parley, ["mcp", "--help"]).output
