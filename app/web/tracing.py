"""What happens around every request: its id, whether it reads or writes, one line in the access log.

The log names methods, routes, ids and times; never addresses with values, names or bodies.
"""

import logging
import re
import time
import uuid

from flask import Flask, Response, has_request_context, request
from werkzeug.middleware.proxy_fix import ProxyFix

from app import db_wall
from app.db import set_reading
from app.settings import Settings

log = logging.getLogger("parley.access")

_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_ID = "parley.request_id"
_START = "parley.started"
_BEFORE = "parley.whose_before"


def register(app: Flask) -> None:
    """Hang it on the application; the first part to be registered, so that everything else runs inside."""
    settings: Settings = app.extensions["parley.settings"]
    hops = settings.trusted_proxies
    if hops:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_leave)


def request_id() -> str:
    """The id of the request this runs in, ``-`` outside of one."""
    return request.environ.get(_ID, "-") if has_request_context() else "-"


class RequestIdFilter(logging.Filter):
    """Gives every log record ``request_id``, for the format line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id()
        return True


def _begin() -> None:
    given = request.headers.get("X-Request-Id", "")
    request.environ[_ID] = given if _SAFE_ID.match(given) else uuid.uuid4().hex
    request.environ[_START] = time.perf_counter()
    set_reading(request.method in {"GET", "HEAD", "OPTIONS"})
    request.environ[_BEFORE] = db_wall.chosen()
    db_wall.choose(db_wall.NOBODY)  # no rows before a guard has found out whose


def _end(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id()
    took = (time.perf_counter() - request.environ.get(_START, time.perf_counter())) * 1000
    route = request.url_rule.rule if request.url_rule else "(no route)"
    log.info("%s %s %s %d %.0f ms", request_id(), request.method, route, response.status_code, took)
    return response


def _leave(_error: BaseException | None) -> None:
    # What this thread does next may be no request: a job that began as a reader would be refused its first write.
    set_reading(False)
    if _BEFORE in request.environ:
        db_wall.choose(request.environ.pop(_BEFORE))
