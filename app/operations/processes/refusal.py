"""Gives requests under ``/v1`` a JSON answer even if waitress refuses them before the application sees them.

For a broken chunk, an impossible Content-Length or a body that is too large, waitress itself answers in plain text.
"""

import json
from http import HTTPStatus
from typing import Any

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from app.web.errors import is_api_path


class RefusalTask(ErrorTask):
    """Answers a request that could not be read; then the connection is closed."""

    def execute(self) -> None:
        """Write the answer: the error shape of ``/v1`` there, waitress's own text elsewhere."""
        request: Any = self.request
        if not is_api_path(_path_of(request)):
            super().execute()
            return
        error = request.error
        shape = {"code": error.code, "status": error.reason, "message": f"The request is refused: {error.body}."}
        body = json.dumps(shape).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


def _path_of(request: Any) -> str:
    """The path; empty if a broken first line or header left the request without one."""
    if request.error.code != HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return str(getattr(request, "path", ""))
    first_line = bytes(request.header_plus).partition(b"\r\n")[0].split()  # nothing of such a request is parsed
    return first_line[1].decode("latin-1").partition("?")[0] if len(first_line) > 1 else ""


class Channel(HTTPChannel):
    """A connection whose refusals ``RefusalTask`` writes, and which closes while the server stops."""

    error_task_class = RefusalTask

    def service(self) -> None:
        """Answer one request. A stopping server sends "Connection: close", so that the next request goes elsewhere."""
        if getattr(self.server, "is_stopping", False):
            request: Any = self.requests[0]
            request.headers["CONNECTION"] = "close"
        super().service()
