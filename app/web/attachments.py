"""Files that someone sent in, handed out again."""

from collections.abc import Iterable
from urllib.parse import quote

from flask import Response


def attachment(body: Iterable[bytes], *, name: str, content_type: str, size: int) -> Response:
    """A download under its own name, whatever letters that has, which a browser never runs."""
    response = Response(body, mimetype=content_type)
    response.headers["Content-Length"] = str(size)
    response.headers["Content-Disposition"] = (
        f"attachment; filename=\"document\"; filename*=UTF-8''{quote(name, safe='')}"
    )
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response
