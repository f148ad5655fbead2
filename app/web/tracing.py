"""What happens around every request: its id, whether it reads or writes, one line in the access log.

The log names methods, routes, ids and times; never addresses with values, names or bodies.
"""

import logging
import time

from flask import Flask, Response, request

from app import db_wall, trace
from app.db import set_reading

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
    request.environ[_TRACE] = trace.begin(request.headers.get("X-Request-Id"))
    request.environ[_START] = time.perf_counter()
    set_reading(request.method in {"GET", "HEAD", "OPTIONS"})
    request.environ[_BEFORE] = db_wall.chosen()
    db_wall.choose(db_wall.NOBODY)  # no rows before a guard has found out whose


def _end(response: Response) -> Response:
    response.headers["X-Request-Id"] = trace.current()
    took = (time.perf_counter() - request.environ.get(_START, time.perf_counter())) * 1000
    route = request.url_rule.rule if request.url_rule else "(no route)"
    fields = {"method": request.method, "route": route, "status": response.status_code, "ms": round(took)}
    log.info("%s %s %d %d ms", *fields.values(), extra=fields)
    return response


def _leave(_error: BaseException | None) -> None:
    # What this thread does next may be no request: a job that began as a reader would be refused its first write.
    set_reading(False)
    if _BEFORE in request.environ:
        db_wall.choose(request.environ.pop(_BEFORE))
    if _TRACE in request.environ:
        trace.end(request.environ.pop(_TRACE))
