"""The tools against the application: in this process, and as processes against a server on a port."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from flask import Flask
from mcp.client.client import Client
from mcp_types import CallToolResult, Implementation

from app.operations.mcp_server.options import Options, Profile
from app.operations.mcp_server.server import build
from app.operations.mcp_server.v1 import Api
from app.operations.processes.web import serve, server_for
from tests.contract.conftest import book, completed, scripted, submitted
from tests.people import Person

__all__ = ["book", "completed", "scripted", "submitted"]

NAMED = Implementation(name="claude-ai", version="1.2")
MODERN, HANDSHAKE = "auto", "legacy"


class Through(httpx2.AsyncBaseTransport):
    """Calls the application without a network. ``seen``: the requests, in order."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.seen: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        headers = [(name, value) for name, value in request.headers.items() if name != "content-length"]
        body = await request.aread()
        answer = self.app.test_client().open(str(request.url), method=request.method, headers=headers, data=body)
        return httpx2.Response(answer.status_code, headers=list(answer.headers), content=answer.data)


class Assistant:
    """A program that uses the tools of a profile with a key, in this process."""

    def __init__(
        self, app: Flask, key: str, *, mode: str = MODERN, name: Implementation = NAMED, **options: Any
    ) -> None:
        self.transport = Through(app)
        self.mode, self.name, self.key = mode, name, key
        self.options = Options(base_url="http://localhost", public_url="https://parley.example", **options)

    def ask(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        """Connect, work, disconnect."""

        async def connected() -> Any:
            server = build(Api(self.options, key=self.key, transport=self.transport))
            async with Client(server, mode=self.mode, client_info=self.name) as client:
                return await work(client)

        return asyncio.run(connected())

    def raw(self, tool: str, **arguments: Any) -> CallToolResult:
        result: CallToolResult = self.ask(lambda client: client.call_tool(tool, arguments))
        return result

    def call(self, tool: str, **arguments: Any) -> Any:
        """The JSON of a result."""
        result = self.raw(tool, **arguments)
        assert not result.is_error, result.content
        return json.loads(result.content[-1].text)

    def refused(self, tool: str, **arguments: Any) -> str:
        result = self.raw(tool, **arguments)
        assert result.is_error
        return str(result.content[0].text)


@pytest.fixture
def assistant(app: Flask, owner: Person) -> Callable[..., Assistant]:
    """``assistant(profile="read", key=…, **options)``."""

    def make(profile: str = "read", *, key: str | None = None, **options: Any) -> Assistant:
        return Assistant(app, key or owner.key, profile=Profile(profile), **options)

    return make


@pytest.fixture
def served(own_app: Flask, settings: Any, free_port: int) -> Iterator[str]:
    """Where the application with its own database answers on a port."""
    stopping = threading.Event()
    own_app.extensions["parley.settings"] = settings
    waitress = server_for(own_app, replace(settings, host="127.0.0.1", port=free_port, web_threads=4))
    loop = threading.Thread(target=serve, args=(waitress,), kwargs={"until": stopping.is_set, "patience": 1.0})
    loop.start()
    yield f"http://localhost:{free_port}"
    stopping.set()
    loop.join(20)
    assert not loop.is_alive()


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "app.operations.cli", "mcp", *words]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    return {**kept, **more}


@contextmanager
def listening(*words: str, port: int, **variables: str) -> Iterator[str]:
    """``parley mcp --http`` as a process; yields its URL and ends it."""
    process = subprocess.Popen(
        command("--http", "--port", str(port), *words),
        env=environment(**variables),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while process.poll() is None:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def unused_port() -> int:
    """Another one than ``free_port``."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
