"""Over HTTP, each request brings its own API key as the bearer token. Parley says whether it works."""

import hashlib
import re
import time
from collections import OrderedDict

from mcp.server.auth.provider import AccessToken

from app.operations.mcp_server.v1 import Api

KNOWN_FOR = 60.0
"""Seconds. A key that was revoked meanwhile opens nothing: every tool calls ``/v1`` with it."""
MOST_KNOWN = 1_000
_KEY = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


class KeyVerifier:
    """Asks ``/v1/ping``. Raises ToolError while Parley cannot say."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: OrderedDict[str, float] = OrderedDict()

    async def verify_token(self, token: str) -> AccessToken | None:
        """The token, with a client id that binds sessions to the key without naming it; None for other keys."""
        if not _KEY.match(token):
            return None
        digest = hashlib.sha256(token.lower().encode()).hexdigest()
        if self._known.get(digest, 0.0) < time.monotonic():
            self._known.pop(digest, None)
            if not await self._api.accepts(token):
                return None
            self._known[digest] = time.monotonic() + KNOWN_FOR
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return AccessToken(token=token, client_id=digest[:32], scopes=[])
