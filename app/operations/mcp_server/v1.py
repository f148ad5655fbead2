"""Calls to ``/v1`` with the caller's own key. A refusal becomes one sentence for the model."""

from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx2
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from app.operations.mcp_server.options import Options
from app.operations.mcp_server.untrusted import cleaned

SECONDS = 30
UNAVAILABLE = "Parley does not respond at the moment. Try again in a minute."
REFUSED_KEY = "Parley refused the API key. Ask the person who set up this server for one that works."
_NAME_LETTERS = " !#$&'()*+,-./:;=?@[]^_`{|}~"


class Api:
    """One pool of connections. ``key`` is the process's own; without it, each request brings its own (HTTP)."""

    def __init__(
        self, options: Options, *, key: str | None = None, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self.options = options
        self._key = key
        # Redirects are not followed: the key would go along. Proxies of the environment are: people need them.
        self.http = httpx2.AsyncClient(base_url=options.base_url, timeout=SECONDS, transport=transport)

    async def __aenter__(self) -> Self:
        await self.http.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.http.aclose()

    def call(self, context: "Context[Any, Any]", tool: str) -> "Call":
        """The calls of one use of a tool."""
        return Call(self.http, {"Authorization": f"Bearer {self._key or _key_of(context)}"}, _mark(context, tool))

    async def accepts(self, key: str) -> bool:
        """Whether ``/v1`` accepts this key now. Raises ToolError where it cannot say."""
        call = Call(self.http, {"Authorization": f"Bearer {key}"}, {})
        return (await call.response("GET", "/v1/ping")).status_code == 200


class Call:
    """The first call carries the marks, which ``/v1`` writes into the audit log: one entry for one use of a tool."""

    def __init__(self, http: httpx2.AsyncClient, headers: dict[str, str], marks: dict[str, str]) -> None:
        self._http = http
        self._headers = headers
        self._marks = marks

    async def get(self, path: str, **query: str | int | None) -> dict[str, Any]:
        """The body of the response. Raises ToolError with a sentence."""
        given = {name: value for name, value in query.items() if value is not None}
        return _body(await self.response("GET", path, params=given))

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The same for a change."""
        given = {name: value for name, value in body.items() if value is not None}
        return _body(await self.response("POST", path, json=given))

    async def response(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """Any response that says something about the call. Raises ToolError where Parley is away or busy."""
        marks, self._marks = self._marks, {}
        try:
            response = await self._http.request(method, path, headers={**self._headers, **marks}, **more)
        except httpx2.TransportError:
            raise ToolError(UNAVAILABLE) from None
        if response.status_code == 429:
            wait = response.headers.get("Retry-After", "60")
            raise ToolError(f"This API key has made too many calls. Try again in {wait} seconds.")
        if response.status_code >= 500 or response.is_redirect:
            raise ToolError(UNAVAILABLE)
        return response


def at(*parts: str) -> str:
    """A path below ``/v1``; what a model sent as an id stays one part of it."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def client_of(context: "Context[Any, Any]") -> str:
    """Name and version of the program, as it gives them; other characters than printable ASCII are percent-encoded."""
    params = context.request_context.session.client_params
    if params is None:
        return "unknown"
    said = f"{params.client_info.name} {params.client_info.version}".strip()
    return quote(said, safe=_NAME_LETTERS)[:120].strip() or "unknown"


def _mark(context: "Context[Any, Any]", tool: str) -> dict[str, str]:
    return {"X-Parley-Tool": tool, "X-Parley-Client": client_of(context)}


def _key_of(context: "Context[Any, Any]") -> str:
    """The key that came with this HTTP request, which the server has checked."""
    user = getattr(context.request_context.request, "user", None)
    token = getattr(user, "access_token", None)
    if token is None:
        raise ToolError(REFUSED_KEY)
    return str(token.token)


def _body(response: httpx2.Response) -> dict[str, Any]:
    if response.status_code == 401:
        raise ToolError(REFUSED_KEY)
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ToolError(UNAVAILABLE)
    if response.status_code != 200:
        raise ToolError(_sentence(body, response))
    return body


def _sentence(body: Mapping[str, Any], response: httpx2.Response) -> str:
    code = response.headers.get("X-Parley-Error", str(response.status_code))
    message = cleaned(str(body.get("message") or "Parley refused the call."), shows_emails=False)
    return f"{message} ({code})"
