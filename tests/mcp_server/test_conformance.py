"""The conformance suite of the protocol, as far as it says something about this server.

Its other scenarios need the tools and prompts of a sample server (``test_simple_text``, ``test_simple_prompt``), or
parts of the protocol that are not offered here: completion, logging, sampling, elicitation, subscriptions. Two of them
pass on any server that knows no such tool, so they are not counted: ``tools-call-simple-text``, ``tools-call-error``.
``server-sse-polling`` passes without a check.
"""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from app.operations.mcp_server.http import PATH, Place, application
from app.operations.mcp_server.keys import KeyVerifier
from app.operations.mcp_server.options import Options, Profile
from app.operations.mcp_server.server import build
from app.operations.mcp_server.v1 import Api

FOLDER = Path(__file__).with_name("conformance")
SUITE = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
KEY = b"Bearer 00000000-0000-4000-8000-000000000000"

pytestmark = pytest.mark.skipif(
    not SUITE.is_file() or shutil.which("node") is None,
    reason="npm ci --prefix tests/mcp_server/conformance --ignore-scripts",
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The real application on a port. The suite sends no key, so one is added; Parley behind it accepts it."""
    accepting = httpx2.MockTransport(lambda _request: httpx2.Response(200, json={"message": "pong"}))
    options = Options(base_url="http://localhost", public_url="http://localhost", profile=Profile.READ)
    api = Api(options, transport=accepting)
    server = uvicorn.Server(uvicorn.Config(lambda: None, factory=True, port=0, log_config=None))
    listener = server.config.bind_socket()
    port = listener.getsockname()[1]
    inner = application(build(api, verifier=KeyVerifier(api)), Place(host="127.0.0.1", port=port))

    async def with_key(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", KEY)]
        await inner(scope, receive, send)

    server.config = uvicorn.Config(with_key, log_config=None)
    serving = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    serving.start()
    yield f"http://localhost:{port}{PATH}"
    server.should_exit = True
    serving.join(20)
    listener.close()
    assert not serving.is_alive()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_passes_with_at_least_one_check(url: str, scenario: str) -> None:
    asked = ["node", SUITE, "server", "--url", url, "--scenario", scenario]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
    said = told.stdout + told.stderr
    assert told.returncode == 0, said
    result = re.search(r"Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings", said)
    assert result, said
    passed, checks, failed, warnings = map(int, result.groups())
    assert (passed, failed, warnings) == (checks, 0, 0), said
    assert checks > 0, "a scenario without a check says nothing"
