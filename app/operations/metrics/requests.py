"""Counts what this process serves: requests by route, method and status, and how long they take. Never by ids.

It also hands over the counts of all processes when a request, a job or a tick has ended.
"""

import time

from flask import Flask, Response, request
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from sqlalchemy import event
from sqlalchemy.engine import Engine, ExceptionContext
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from app.core.counters import Counters

BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Other methods, which strangers can invent, are counted as one."""
OURS = (IntegrityError, DataError, ProgrammingError)
"""Errors that do not mean that the database is in trouble."""
_START = "parley.metrics.started"


class Requests:
    """The counts of one application."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.served = Counter("parley_requests", "Answered requests.", ("method", "route", "status"), registry=registry)
        self.seconds = Histogram(
            "parley_request_seconds",
            "Time from the request to the first byte of the response.",
            ("method", "route"),
            registry=registry,
            buckets=BUCKETS,
        )
        self.running = Gauge("parley_requests_running", "Requests in progress.", registry=registry)


def register(app: Flask) -> None:
    """Register it on the application, as early as its request ids."""
    # The time when each count began would double the number of lines.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    counted = Requests(registry)
    app.extensions["parley.registry"] = registry

    def begin() -> None:
        request.environ[_START] = time.perf_counter()
        counted.running.inc()

    def end(response: Response) -> Response:
        method, rule, started = request.method, request.url_rule, request.environ.get(_START)
        method = method if method in METHODS else "other"
        route = rule.rule if rule else "(no route)"
        counted.served.labels(method, route, str(response.status_code)).inc()
        if started is not None:
            counted.seconds.labels(method, route).observe(time.perf_counter() - started)
        return response

    def leave(_error: BaseException | None) -> None:
        if request.environ.pop(_START, None) is not None:
            counted.running.dec()

    app.before_request(begin)
    app.after_request(end)
    app.teardown_request(leave)


def hand_over(app: Flask, counts: Counters, *, engine: Engine) -> None:
    """Hand over counts at the end of every request, job and tick, and count failed statements."""

    def flush(_error: BaseException | None) -> None:
        counts.flush()

    def failed(context: ExceptionContext) -> None:
        error = context.sqlalchemy_exception
        if error is not None and not isinstance(error, OURS):
            counts.count("database_error", type(error).__name__)

    app.teardown_appcontext(flush)
    event.listen(engine, "handle_error", failed)
