"""Under ``/v1`` also those requests get a JSON answer which waitress refuses before the application sees them.

A broken chunk, an impossible Content-Length, a body beyond what the server takes: waitress answers in plain text.
"""

import json
from http import HTTPStatus
from typing import Any

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from app.web.errors import is_api_path


class RefusalTask(ErrorTask):
    """The answer to a request that could not be read; the connection is closed after it."""

    def execute(self) -> None:
        """Write the answer: the error shape of ``/v1`` there, waitress's own words elsewhere."""
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
    """Empty where a broken first line or header left the request without one."""
    if request.error.code != HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return str(getattr(request, "path", ""))
    first_line = bytes(request.header_plus).partition(b"\r\n")[0].split()  # nothing of such a request is parsed
    return first_line[1].decode("latin-1").partition("?")[0] if len(first_line) > 1 else ""


class Channel(HTTPChannel):
    """A connection whose refusals are written by ``RefusalTask``, and which says so when it is the server's last."""

    error_task_class = RefusalTask

    def service(self) -> None:
        """Answer one request. A server that stops says "Connection: close", so that no one sends the next one here."""
        if getattr(self.server, "is_stopping", False):
            request: Any = self.requests[0]
            request.headers["CONNECTION"] = "close"
        super().service()
