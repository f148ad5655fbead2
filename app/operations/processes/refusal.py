"""What waitress refuses before the application sees it: how much a body may have, and the answer.

For a broken chunk, an impossible Content-Length or a body that is too large, waitress itself answers in plain text.
Under ``/v1`` it is JSON here. A few pages take large files, from browsers that say they are signed in, a few at a time.
"""

import copy
import json
import re
from http import HTTPStatus
from typing import Any
from weakref import WeakSet

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import ErrorTask

from app.web.body import BODY_BYTES
from app.web.errors import is_api_path, too_large

LARGEST_UPLOAD = 208 * 1024 * 1024
UPLOADS_AT_ONCE = 8
"""waitress keeps a body in a file until it is whole, so these bound the space that uploads can take."""
_UPLOADS = re.compile(r"/flows/new|/flows/[0-9a-f-]{36}/edit|/candidates/cvs")
_SIGNED_IN = re.compile(r"(?:^|;\s*)(?:__Host-)?sid=")


_large: WeakSet[HTTPRequestParser] = WeakSet()


class Parser(HTTPRequestParser):
    """A request being read. Only uploads may be larger than the server's limit."""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the header, and choose the limit for what follows it."""
        super().parse_header(header_plus)
        if self.content_length < self.adj.max_request_body_size or len(_large) >= UPLOADS_AT_ONCE:
            return
        if _UPLOADS.fullmatch(str(getattr(self, "path", ""))) and _SIGNED_IN.search(self.headers.get("COOKIE", "")):
            _large.add(self)
            self.adj = copy.copy(self.adj)
            self.adj.max_request_body_size = LARGEST_UPLOAD


class RefusalTask(ErrorTask):
    """Answers a request that could not be read; then the connection is closed."""

    def execute(self) -> None:
        """Write the answer: the error shape of ``/v1`` there, waitress's own text elsewhere."""
        request: Any = self.request
        if not is_api_path(_path_of(request)):
            super().execute()
            return
        error = request.error
        # What waitress says about a large body is the limit of the server, not that of the URL.
        is_large = error.code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        words = too_large(BODY_BYTES) if is_large else f"The request is refused: {error.body}."
        shape = {"code": error.code, "status": error.reason, "message": words}
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
    parser_class = Parser

    def service(self) -> None:
        """Answer one request. A stopping server sends "Connection: close", so that the next request goes elsewhere."""
        if getattr(self.server, "is_stopping", False):
            request: Any = self.requests[0]
            request.headers["CONNECTION"] = "close"
        super().service()
