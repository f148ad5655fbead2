"""Which browser may continue an interview: the link is not a secret, the sitting's cookie is.

The claim gives the browser a secret of 256 bits; the database stores only its hash. ``protocol`` is the blueprint that
only the holder can use. It refuses with ``{"message", "reason", "field", ...}``: a sentence in the page's language, and
the rest for scripts. Errors that only a script can cause are in English, as ``detail``.
"""

import hashlib
import hmac
import secrets
from typing import Any

from flask import Blueprint, Response, current_app, g, jsonify, request, session
from flask_babel import gettext, lazy_gettext
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from app.conversation.actions import Holder, taken_over
from app.conversation.models import Sitting
from app.conversation.queries import Seat, seat_of
from app.conversation.script.machine import Script
from app.conversation.script.manners import said_name
from app.core import clock
from app.core.db import db, reading
from app.core.errors import Conflict, DomainError, Forbidden, GatewayError, NotFound, Rejected, sentence
from app.flows.flow_script import FlowScript
from app.interviews.models import Interview
from app.interviews.queries import open_interview
from app.settings import Settings
from app.web import languages
from app.web.errors import RETRY_SECONDS, WORDS
from app.web.security import keep_private

COOKIE_DAYS = 30

STATUS: dict[type[DomainError], int] = {NotFound: 404, Forbidden: 403, Rejected: 422, Conflict: 409, GatewayError: 503}
REASONS: dict[type[DomainError], str] = {NotFound: "unknown", Forbidden: "no sitting", GatewayError: "try again"}

UNTOLD = {
    403: lazy_gettext("This page can no longer change the interview. Please reload it."),
    413: lazy_gettext("This is too large to send."),
    429: lazy_gettext("Too many requests. Please wait a moment."),
    500: lazy_gettext("Something went wrong on our side. What you said is saved. Please try again."),
    503: lazy_gettext("A part of this service is unavailable at the moment. What you said is saved. Please try again."),
}
"""Sentences for candidates in other languages, used where the sentence itself is meant for scripts."""
REFUSED = lazy_gettext("This could not be accepted. What you said is saved. Please try again.")

protocol = Blueprint("protocol", __name__, url_prefix="/interview/api/<flow_id>/<interview_id>")


def new_token() -> tuple[str, str]:
    """A new secret for the cookie, and its hash for the row."""
    token = secrets.token_urlsafe(32)
    return token, _hash(token)


def token_for(interview_id: str) -> tuple[str, str]:
    """This browser's secret for this interview, and its hash: the same for every press of Start.

    So a lost response to Start can be given again. No other browser's session leads to this secret.
    """
    browser = session.get("csrf_token")
    if not browser:
        return new_token()
    key = settings().secret_key.encode()
    token = hmac.new(key, f"sitting/{interview_id}/{browser}".encode(), hashlib.sha256).hexdigest()
    return token, _hash(token)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def cookie_name(interview_id: str) -> str:
    """One cookie per interview, so that one browser can take several."""
    prefix = "__Host-" if settings().is_https else ""
    return f"{prefix}parley-sitting-{interview_id[:8]}"


def set_cookie(response: Response, interview_id: str, token: str) -> Response:
    """Set the cookie that makes this browser the holder."""
    response.set_cookie(
        cookie_name(interview_id),
        token,
        max_age=COOKIE_DAYS * 86400,
        path="/",
        secure=settings().is_https,
        httponly=True,
        samesite="Lax",
    )
    return response


def holds(sitting: Sitting | None, interview_id: str) -> bool:
    """Whether this request comes from the browser that holds the interview."""
    return sitting is not None and _is_holder(sitting.token_hash, interview_id)


def _is_holder(token_hash: str | None, interview_id: str) -> bool:
    token = request.cookies.get(cookie_name(interview_id), "")
    return bool(token_hash and token) and hmac.compare_digest(str(token_hash), _hash(token))


@protocol.url_value_preprocessor
def _take_link(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Move the link's two ids to ``g``, so that views get only their own arguments."""
    g.link = (values.pop("flow_id"), values.pop("interview_id")) if values else ("", "")


def linked_interview() -> Interview:
    """The interview of the link. Raises NotFound if the two ids do not belong together."""
    flow_id, interview_id = g.link
    return open_interview(flow_id, interview_id)


def linked_script() -> Script:
    """That interview's script, as it was frozen at the start."""
    interview = linked_interview()
    frozen = interview.script or FlowScript()
    name = said_name(interview.interviewee_first_name, interview.interviewee_last_name, frozen.language)
    return Script.of(frozen, minutes=settings().interview_minutes, name=name, seed=interview.id)


def require_sitting() -> None:
    """Guard of the protocol: sets ``g.holder`` as plain values and leaves no transaction open.

    Raises NotFound if the two ids do not belong together, Forbidden without a cookie, Conflict with another browser's.
    """
    keep_private()
    with reading():
        seat = _seat()
        interview_id = seat.interview_id
        language = seat.language or FlowScript.of(linked_interview().flow).language
        languages.choose(language)
        if cookie_name(interview_id) not in request.cookies:
            db.session.rollback()
            raise Forbidden(sentence("This interview is not open in this browser. Open its link and press Start."))
        if seat.sitting_id is None or not _is_holder(seat.token_hash, interview_id):
            db.session.rollback()
            raise taken_over()
        g.holder = Holder(
            sitting_id=seat.sitting_id,
            interview_id=interview_id,
            fence=seat.fence,
            next_turn=seat.next_turn,
            heartbeat_at=seat.heartbeat_at or clock.now(),
            language=str(language),
        )
        is_over = seat.ended_at is not None
        db.end_reading()
    if is_over and request.method != "GET" and not str(request.endpoint).endswith(".finish"):
        raise Conflict(sentence("This interview is over."), details={"reason": "finished"})


def _seat() -> Seat:
    try:
        return seat_of(*g.link)
    except NotFound:
        languages.choose()  # the flow's own language is not known
        raise


def holder() -> Holder:
    """The browser that ``require_sitting`` let in."""
    present_holder: Holder = g.holder
    return present_holder


def settings() -> Settings:
    """The settings of the running application."""
    app_settings: Settings = current_app.extensions["parley.settings"]
    return app_settings


protocol.before_request(require_sitting)


@protocol.errorhandler(DomainError)
def refused(error: DomainError) -> Response:
    """A domain error as a response of the protocol."""
    db.session.rollback()
    status, body = refusal_of(error)
    response = jsonify(body)
    response.status_code = status
    if isinstance(error, GatewayError):
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def refusal_of(error: DomainError) -> tuple[int, dict[str, Any]]:
    """Status and body for a domain error."""
    kind = next(error_type for error_type in STATUS if isinstance(error, error_type))
    details: dict[str, Any] = {"reason": REASONS.get(kind), "field": None}
    if isinstance(error, Rejected):
        details["field"] = error.field
    if isinstance(error, Conflict):
        details |= error.details
    return STATUS[kind], {**_worded(gettext(error.template, **error.values), error.message, STATUS[kind]), **details}


@protocol.errorhandler(CSRFError)
@protocol.errorhandler(HTTPException)
def broken(error: HTTPException) -> Response:
    """An HTTP error as a response of the protocol."""
    db.session.rollback()
    code = error.code or 500
    english = (getattr(error, "data", None) or {}).get("message") or WORDS.get(code, "The request was refused.")
    response = jsonify({**_worded(gettext(english), english, code), "reason": None, "field": None})
    response.status_code = code
    headers = [(k, v) for k, v in error.get_headers() if k.lower() not in {"content-type", "content-length"}]
    response.headers.extend(headers)
    return response


def _worded(translated: str, english: str, status: int) -> dict[str, str]:
    """The sentence in the page's language. Without a translation: a general sentence, and the English as ``detail``."""
    if translated != english or languages.chosen() == languages.DEFAULT:
        return {"message": translated}
    return {"message": str(UNTOLD.get(status, REFUSED)), "detail": english}
