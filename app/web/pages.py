"""Addresses that belong to no room: the front door, whether the process serves and is ready, and policy reports."""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta

import sqlalchemy as sa
from flask import Blueprint, Flask, Response, current_app, jsonify, redirect, request, url_for
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, NotFound

from app import gateways
from app.core import clock, migrate, queue
from app.core.db import db
from app.settings import Settings
from app.web import rate_limits
from app.web.errors import is_api_path
from app.web.fields import flaw_of

log = logging.getLogger(__name__)

REPORTS_PER_MINUTE = 60
"""Of content policy violations, by one address."""

pages = Blueprint("site", __name__)


def register(app: Flask) -> None:
    """Add the addresses."""
    app.before_request(_refuse_impossible_address)
    app.register_blueprint(pages)
    app.extensions["parley.csp_reports"] = _Reports()


def _refuse_impossible_address() -> None:
    """NUL and half surrogate pairs in an address never reach a database; ``/v1`` names them in an answer of its own."""
    if not is_api_path(request.path) and any(flaw_of(str(value)) for value in (request.view_args or {}).values()):
        raise NotFound


def home() -> str:
    """Address of the recruiters' first page."""
    return url_for("interviews.dashboard")


@pages.get("/")
def front() -> Response:
    """The front door."""
    return redirect(home())  # type: ignore[return-value]


@pages.get("/healthz")
def healthz() -> Response:
    """200 as soon as this process serves; it asks no one else."""
    return jsonify(status="ok")


@pages.get("/readyz")
def readyz() -> tuple[Response, int]:
    """200 when everything that is needed answers; else 503, with what does not."""
    troubles = not_ready()
    return jsonify(ready=not troubles, not_ready=troubles), 503 if troubles else 200


@pages.post("/csp-reports")
def csp_reports() -> tuple[str, int]:
    """Notes that a browser refused something, without what or where: reports may quote addresses.

    Anyone may send them: they are limited by address, and one a minute is written down with the number of the others.
    """
    rate_limits.count("csp-reports", most=REPORTS_PER_MINUTE)
    request.max_content_length = 64 * 1024
    try:
        words = f"{len(request.get_data())} bytes"
    except HTTPException:
        words = "too long to read"
    reports: _Reports = current_app.extensions["parley.csp_reports"]
    if (others := reports.due()) is not None:
        log.warning("content security policy violation, %s; %d more since the last line", words, others)
    return "", 204


class _Reports:
    """Which reports of one process are written down: one a minute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = clock.now()
        self._others = 0

    def due(self) -> int | None:
        """How many came since the last line; None for one that is only counted."""
        with self._lock:
            now = clock.now()
            if now < self._next:
                self._others += 1
                return None
            others, self._others, self._next = self._others, 0, now + timedelta(minutes=1)
            return others


def not_ready() -> dict[str, str]:
    """What does not respond, with one sentence each; empty when all is well."""
    settings: Settings = current_app.extensions["parley.settings"]
    checks: dict[str, Callable[[], None]] = {
        "database": _check_database,
        "migrations": _check_migrations,
        "redis": lambda: _check_redis(settings.redis_url),
        "storage": _check_storage,
    }
    troubles = {}
    for name, check in checks.items():
        try:
            check()
        except Unready as error:
            troubles[name] = str(error)
        finally:
            db.session.rollback()
    return troubles


class Unready(Exception):
    """One thing that does not respond, in words."""


def _check_database() -> None:
    try:
        db.session.execute(sa.text("SELECT 1"))
    except SQLAlchemyError as error:
        raise Unready(f"cannot be reached ({type(error).__name__})") from error


def _check_migrations() -> None:
    try:
        current = migrate.may_serve(db.session.connection())
    except SQLAlchemyError as error:
        raise Unready(f"cannot be read ({type(error).__name__})") from error
    if not current:
        raise Unready("the database schema is out of date; run: parley migrate")


def _check_redis(url: str) -> None:
    if not url:
        return
    if why := queue.refusal(queue.connect(url)):
        raise Unready(f"accepts no writes ({why}); work continues more slowly")


def _check_storage() -> None:
    storage = gateways.current().storage
    try:
        next(iter(storage.list("readiness")), None)
        roomy = storage.has_room()
    except Exception as error:
        raise Unready(f"cannot be reached ({type(error).__name__})") from error
    if not roomy:
        raise Unready("no space for another interview")
