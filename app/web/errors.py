"""Turns every way in which a request can fail into one answer: JSON under ``/v1``, a page elsewhere; the path decides.

One table for the four domain errors, so that an endpoint or a page only raises and never chooses a status.
"""

import logging
import re
from dataclasses import dataclass, field
from typing import Any

from flask import Flask, Response, jsonify, make_response, render_template, request
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from app.core.db import db, is_id
from app.core.errors import Conflict, DomainError, Forbidden, GatewayError, Gone, NotFound, Rejected, Unseen, place_of
from app.web.error_codes import BY_STATUS

log = logging.getLogger(__name__)

RETRY_SECONDS = 5
"""How long a client is asked to wait when the database or something outside is away."""

API_STATUS: dict[type[DomainError], int] = {
    NotFound: 422,
    Forbidden: 403,
    Rejected: 422,
    Conflict: 409,
    Gone: 410,
    GatewayError: 503,
}
PAGE_STATUS: dict[type[DomainError], int] = {**API_STATUS, NotFound: 404}

WORDS = {
    400: "The request is not valid.",
    401: "Sign in first, or send a valid API key.",
    403: "This page belongs to another organization, or your role does not let you use it.",
    404: "There is nothing at this URL.",
    405: "This URL does not support this method.",
    409: "This page has changed since you opened it. Reload it, then try again.",
    410: "This page is no longer available.",
    413: "The request is larger than this URL accepts.",
    415: "This URL does not accept this content type.",
    422: "The input is not valid.",
    429: "Too many requests. Wait a moment, then try again.",
    500: "Something went wrong on our side. It has been logged. Try again.",
    503: "A service that Parley needs is not available at the moment. Try again.",
}

HEADINGS = {
    400: "This request is not valid",
    403: "You cannot do this",
    405: "This page cannot be opened this way",
    409: "This is not possible now",
    410: "No longer available",
    413: "Too large",
    415: "This type of content is not accepted",
    422: "Check what you entered",
}
"""Headings of pages where the name of the status says little to people who do not program."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What is answered: status code, one sentence, and ``errors`` keyed by location and field for invalid input.

    ``error`` is the code for programs.
    """

    code: int
    message: str
    errors: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def status(self) -> str:
        return HTTP_STATUS_CODES.get(self.code, "Unknown Error")

    @property
    def heading(self) -> str:
        """The heading of the page."""
        return HEADINGS.get(self.code) or self.status.capitalize()


def is_api_path(path: str) -> bool:
    """Whether ``path`` is under ``/v1``."""
    return path == "/v1" or path.startswith("/v1/")


def wants_json() -> bool:
    """JSON under ``/v1``; elsewhere for programs: those that ask for JSON, or send JSON or an API key."""
    if is_api_path(request.path):
        return True
    accepted = request.accept_mimetypes
    named = {name.lower() for name, _quality in accepted}
    if accepted["application/json"] != accepted["text/html"] or "text/html" in named:
        return accepted["application/json"] > accepted["text/html"]
    # "application/json, text/plain, */*" is how many programs ask; others accept anything.
    has_key = request.headers.get("Authorization", "").lower().startswith("bearer ")
    return "application/json" in named or request.is_json or has_key


def respond(failure: Failure) -> Response:
    """The answer in the caller's language."""
    if wants_json():
        body: dict[str, Any] = {"code": failure.code, "status": failure.status, "message": failure.message}
        if failure.errors:
            body["errors"] = failure.errors
        response = jsonify(body)
    else:
        response = make_response(render_template("errors/error.html", failure=failure))
    response.status_code = failure.code
    response.headers.update(failure.headers)
    if is_api_path(request.path):
        response.headers["X-Parley-Error"] = failure.error or BY_STATUS.get(failure.code, "bad_request")
    return response


def first_words(errors: Any, name: str = "") -> str:
    """One sentence that names the first invalid field: ``title: Missing data for required field.``"""
    if isinstance(errors, dict) and errors:
        key, inner = next(iter(errors.items()))
        step = "" if key == "_schema" else f"{name}.{key}" if name else str(key)
        return first_words(inner, step or name)
    if isinstance(errors, list) and errors:
        return first_words(errors[0], name)
    return f"{name}: {errors}" if name else str(errors or WORDS[422])


def from_http(error: HTTPException) -> Failure:
    """The message given to ``abort``, or Parley's own sentence; headers such as ``Allow`` are kept."""
    code = error.code or 500
    data: dict[str, Any] = getattr(error, "data", None) or {}
    errors: dict[str, Any] = data.get("errors") or data.get("messages") or {}
    message = data.get("message") or (first_words(_inner(errors)) if errors else _words(error))
    headers = {k: v for k, v in error.get_headers() if k.lower() not in {"content-type", "content-length"}}
    return Failure(code, message, errors, {**headers, **(data.get("headers") or {})}, data.get("error") or "")


def _words(error: HTTPException) -> str:
    code = error.code or 500
    most = request.max_content_length
    # A form can also have too many fields, or one that is too long.
    if code == 413 and most is not None and (request.content_length is None or request.content_length > most):
        return too_large(most)
    return WORDS.get(code, error.name)


def too_large(most: int) -> str:
    """The sentence of 413 where ``most`` bytes are accepted."""
    unit, name = next((u, n) for u, n in ((1024 * 1024, " MiB"), (1024, " KiB"), (1, " bytes")) if most % u == 0)
    return f"The request is larger than this URL accepts: at most {most // unit:,}{name}."


def _inner(errors: dict[str, Any]) -> Any:
    """Without the location (json, query, …), which a reader does not need in the sentence."""
    return next(iter(errors.values()))


def from_domain(error: DomainError, *, api: bool) -> Failure:
    """The domain's four ways to say no."""
    table = API_STATUS if api else PAGE_STATUS
    code = next(table[kind] for kind in type(error).__mro__ if kind in table)
    errors: dict[str, Any] = {}
    message = error.message
    if isinstance(error, Rejected) and error.field:
        fields = (error.field, *error.also)
        errors = {_location(): {name: [error.message] for name in fields}}
        is_whole = error.field in error.message or (error.message[:1].isupper() and not api)
        message = error.message if is_whole else f"{', '.join(fields)}: {error.message}"
    headers = {"Retry-After": str(RETRY_SECONDS)} if code == 503 else {}
    return Failure(code, message, errors, headers, error.code or ("not_found" if isinstance(error, NotFound) else ""))


def _location() -> str:
    return "query" if request.method in {"GET", "HEAD", "DELETE"} else "json"


def register(app: Flask) -> None:
    """Hang the answers on the application."""
    app.url_map.merge_slashes = False  # // is no address: werkzeug would redirect with its own page, also in /v1
    app.register_error_handler(HTTPException, _on_http)
    app.register_error_handler(CSRFError, _on_stale_token)
    app.register_error_handler(DomainError, _on_domain)
    app.register_error_handler(SQLAlchemyError, _on_database)
    app.register_error_handler(Exception, _on_anything)


def _on_http(error: HTTPException) -> Response:
    if error.response is not None:
        return make_response(error.response)
    return respond(from_http(error))


def _on_stale_token(error: CSRFError) -> Response:
    """The page was open too long: what was typed is offered again."""
    if wants_json():
        return respond(
            Failure(403, "This page is too old. Reload it.", {"headers": {"X-CSRFToken": [error.description]}})
        )
    typed = typed_input() if request.form else None
    return make_response(render_template("errors/stale.html", typed=typed), 400)


_SECRET_FIELD = re.compile(r"csrf_token|password|secret|key|^current$", re.IGNORECASE)
"""``current`` is the present password in the form that changes it."""


def typed_input() -> list[tuple[str, str, bool]]:
    """What a form carried, without tokens and secrets; and whether it says anything to the person who sent it."""
    fields = [(name, value) for name, value in request.form.items(multi=True) if not _SECRET_FIELD.search(name)]
    return [(name, value, bool(value) and not is_id(value)) for name, value in fields]


def _on_domain(error: DomainError) -> Response:
    db.session.rollback()
    if isinstance(error, Unseen) and not wants_json():
        return make_response(render_template("errors/unseen.html", unseen=error), 403)
    return respond(from_domain(error, api=is_api_path(request.path)))


def _on_database(error: SQLAlchemyError) -> Response:
    """Away, locked or out of connections: try again. Anything else is a fault of Parley's."""
    _give_up_transaction()
    away = isinstance(error, OperationalError | InterfaceError | PoolTimeout)
    if away or (isinstance(error, DBAPIError) and error.connection_invalidated):
        log.warning("database not available: %s", type(error).__name__)
        return respond(Failure(503, WORDS[503], headers={"Retry-After": str(RETRY_SECONDS)}))
    return _on_anything(error)


def _on_anything(error: Exception) -> Response:
    """No details leave the house, and the log gets the place but never the values (``SQLAlchemyError`` quotes them)."""
    _give_up_transaction()
    log.error("unexpected %s at %s", type(error).__name__, place_of(error))
    return respond(Failure(500, WORDS[500]))


def _give_up_transaction() -> None:
    try:
        db.session.rollback()
    except SQLAlchemyError:
        db.session.remove()
