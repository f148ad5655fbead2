"""Which tool of ``parley mcp`` a call to ``/v1`` belongs to, by its own account, for the audit log.

The entry says which key was used and when: that is certain. The names of tool and program are what the caller sent,
so they are stored in a form that is never read as an id, a member or a date.
"""

import re

from flask import request

from app.core.db import is_id
from app.web.body import invalid
from app.web.rate_limits import count_for_key

ACTION = "api_key.mcp_called"
TOOL_HEADER, CLIENT_HEADER = "X-Parley-Tool", "X-Parley-Client"
_TOOL_OF_ENVIRON = f"HTTP_{TOOL_HEADER.upper().replace('-', '_')}"
MOST_A_MINUTE = 120
"""Marked calls of one key: each of them is an entry that cannot be deleted."""

_TOOL = re.compile(r"[a-z][a-z_]{0,39}\Z")
_CLIENT = re.compile(r"[ -~]{1,120}\Z")
_SAID = "parley.mcp_said"


def said(key_id: str) -> dict[str, object] | None:
    """Details of the entry to write; None for other calls, and where a request runs again and has its entry already.

    Aborts with 422 for headers that ``parley mcp`` does not send, and with 429 beyond ``MOST_A_MINUTE``.
    """
    environ = request.environ
    tool: str | None = environ.get(_TOOL_OF_ENVIRON)
    if tool is None or _SAID in environ:
        return None
    if not _TOOL.match(tool):
        invalid("headers", {TOOL_HEADER: ["Send a tool's name: up to 40 lower-case letters and underscores."]})
    client = request.headers.get(CLIENT_HEADER, "unknown")
    if not _CLIENT.match(client):
        invalid("headers", {CLIENT_HEADER: ["Send the program's name: 1 to 120 printable ASCII characters."]})
    count_for_key("mcp", key_id, most=MOST_A_MINUTE)
    environ[_SAID] = True
    about = [one for one in (request.view_args or {}).values() if isinstance(one, str) and is_id(one)]
    return {"tool": tool, "client": f"mcp/{client}", **({"about": about[0]} if about else {})}
