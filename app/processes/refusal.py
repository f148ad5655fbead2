"""Under ``/v1`` also those requests get a JSON answer which waitress refuses before the application sees them.

A broken chunk, an impossible Content-Length, a body beyond what the server takes: waitress answers in plain text.
"""

import json
from typing import Any

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from app.web.errors import is_api_path


class RefusalTask(ErrorTask):
    """The answer to a request that could not be read; the connection is closed after it."""

    def execute(self) -> None:
        """Write the answer: the error shape of ``/v1`` there, waitress's own words elsewhere."""
        request: Any = self.request
        if not is_api_path(getattr(request, "path", "")):  # a broken first line or header leaves it without one
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


class Channel(HTTPChannel):
    """A connection whose refusals are written by ``RefusalTask``, and which says so when it is the server's last."""

    error_task_class = RefusalTask

    def service(self) -> None:
        """Answer one request. A server that stops says "Connection: close", so that nobody sends the next one here."""
        if getattr(self.server, "is_stopping", False):
            request: Any = self.requests[0]
            request.headers["CONNECTION"] = "close"
        super().service()
