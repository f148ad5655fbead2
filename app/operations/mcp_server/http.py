"""Serves the tools over streamable HTTP at ``/mcp``, for the hosts and origins that the operator names."""

import json
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
LARGEST_BODY = 256 * 1024
"""Bytes of one request: twenty questions and all texts of a flow fit in."""
MOST_SESSIONS = 500
IDLE_SECONDS = 900
MOST_AT_ONCE = 200
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where it listens, and which Host and Origin headers it answers."""

    host: str
    port: int
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def _is_own(self) -> bool:
        return not self.hosts and self.host in LOOPBACK

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Those that were named; on this machine alone, its own names."""
        return self._names if self._is_own else self.hosts

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """The same. Programs send no Origin header, only pages of browsers do."""
        return self.origins or (tuple(f"http://{name}" for name in self._names) if self._is_own else ())


def application(server: MCPServer[Any], place: Place) -> ASGIApp:
    """The ASGI application. A stranger's body is not read: the key is checked first."""
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=list(place.allowed_hosts),
        allowed_origins=list(place.allowed_origins),
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=LARGEST_BODY,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MOST_SESSIONS,
        transport_security=security,
    )
    inner.add_middleware(_Patient)  # outside the check of the key, inside what makes 500 of any exception
    return inner


class _Patient:
    """503 while Parley cannot say whether a key works."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except ToolError as error:
            body = json.dumps({"error": "temporarily_unavailable", "error_description": str(error)}).encode()
            headers = [(b"content-type", b"application/json"), (b"retry-after", b"10")]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": body})


def serve(server: MCPServer[Any], place: Place) -> None:
    """Run until a signal. Behind a proxy that adds TLS: it knows plain HTTP alone."""
    config = uvicorn.Config(
        application(server, place),
        host=place.host,
        port=place.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_AT_ONCE,
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run()
