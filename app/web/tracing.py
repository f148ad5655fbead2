"""What happens around every request: its id, whether it reads or writes, one line in the access log.

The log names methods, routes, ids and times; never addresses with values, names or bodies.
"""

import logging
import time

from flask import Flask, Response, request

from app.core import request_id
from app.core.db import row_security, set_reading

log = logging.getLogger("parley.access")

_TRACE = "parley.request_before"
_START = "parley.started"
_BEFORE = "parley.whose_before"


def register(app: Flask) -> None:
    """Hang it on the application; the first part to be registered, so that everything else runs inside."""
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_leave)


def _begin() -> None:
    environ = request.environ
    environ[_TRACE] = request_id.begin(environ.get("HTTP_X_REQUEST_ID"))
    environ[_START] = time.perf_counter()
    set_reading(request.method in {"GET", "HEAD", "OPTIONS"})
    environ[_BEFORE] = row_security.chosen()
    row_security.choose(row_security.NO_ONE)  # no rows before a guard has found out whose


def _end(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id.current()
    took = (time.perf_counter() - request.environ.get(_START, time.perf_counter())) * 1000
    rule = request.url_rule
    route = rule.rule if rule else "(no route)"
    fields = {"method": request.method, "route": route, "status": response.status_code, "ms": round(took)}
    log.info("%s %s %d %d ms", *fields.values(), extra=fields)
    return response


def _leave(_error: BaseException | None) -> None:
    # What this thread does next may be no request: a job that began as a reader would be refused its first write.
    set_reading(False)
    environ = request.environ
    if _BEFORE in environ:
        row_security.choose(environ.pop(_BEFORE))
    if _TRACE in environ:
        request_id.end(environ.pop(_TRACE))
