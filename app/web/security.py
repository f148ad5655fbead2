"""What browsers get and are asked: CSRF token and origin on every change, a strict content policy, no leaks by header.

The interview page needs a little more (camera, microphone, WebAssembly for the voice detector): its views call
``allow_devices()`` before they render.
"""

import hmac
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, current_app, g, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask_smorest import abort
from flask_wtf.csrf import CSRFError, CSRFProtect
from itsdangerous import BadData, SignatureExpired, TimestampSigner, URLSafeTimedSerializer

from app.settings import Settings
from app.web.errors import is_api_path

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
LARGEST_FORM = 16 * 1024 * 1024
"""Room for the largest document with its form; a view that takes less sets ``request.max_content_length``."""

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "media-src": "'self' blob:",
    "connect-src": "'self'",
    "font-src": "'self'",
    "worker-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "object-src": "'none'",
    "report-uri": "/csp-reports",
    "report-to": "csp",
}
DEVICE_POLICY = {**POLICY, "script-src": "'self' 'wasm-unsafe-eval'", "worker-src": "'self' blob:"}
_NO_DOCUMENT = ("application/json", "audio/")
_DEVICES = "parley.devices"
_PRIVATE = "parley.private"

csrf = CSRFProtect()


def allow_devices() -> None:
    """This answer is an interview page: devices, WebAssembly, and no referrer, since its address is a key."""
    request.environ[_DEVICES] = True


def keep_private() -> None:
    """This answer is for a signed-in member: no cache may keep it."""
    request.environ[_PRIVATE] = True


class _Signer(TimestampSigner):
    """Takes what it has signed itself later than now: setting a clock back does not sign anyone out."""

    def unsign(self, signed_value: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().unsign(signed_value, *args, **kwargs)
        except SignatureExpired as error:
            if error.date_signed is None or error.date_signed <= self.timestamp_to_datetime(self.get_timestamp()):
                raise
            return super().unsign(signed_value, *args, **{**kwargs, "max_age": None})


class _Sessions(SecureCookieSessionInterface):
    """Flask's own, with that signer."""

    def __init__(self) -> None:
        self._made: tuple[object, URLSafeTimedSerializer | None] = (None, None)

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Without a cookie, as programs call, nothing needs to be checked, and so no signer to be put together."""
        if "HTTP_COOKIE" not in request.environ or not request.cookies.get(self.get_cookie_name(app)):
            return self.session_class()
        return super().open_session(app, request)

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """One for all requests, as long as the keys stay the same."""
        keys = app.secret_key, tuple(app.config["SECRET_KEY_FALLBACKS"] or ())
        made_for, serializer = self._made
        if made_for != keys:
            serializer = super().get_signing_serializer(app)
            if serializer is not None:
                serializer.signer = _Signer
            self._made = keys, serializer
        return serializer


def register(app: Flask) -> None:
    """Hang checks and headers on the application."""
    settings: Settings = app.extensions["parley.settings"]
    secure = settings.is_https
    app.config.update(
        MAX_CONTENT_LENGTH=LARGEST_FORM,
        MAX_FORM_MEMORY_SIZE=1_000_000,
        MAX_FORM_PARTS=500,
        SESSION_COOKIE_NAME="__Host-parley" if secure else "parley",
        SESSION_COOKIE_SECURE=secure,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_PATH="/",
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_CHECK_DEFAULT=False,
        WTF_CSRF_SSL_STRICT=False,
    )
    app.session_interface = _Sessions()
    csrf.init_app(app)
    app.before_request(_check_origin_and_token)
    app.after_request(_headers)
    app.extensions["parley.secure"] = secure


def _check_origin_and_token() -> None:
    """``/v1`` is left out because it reads no cookies."""
    if request.method not in UNSAFE or is_api_path(request.path) or request.endpoint in {None, "site.csp_reports"}:
        return
    if not comes_from_here(request):
        abort(403, message="This request came from another site and was not carried out.")
    if not _has_token_in_header():
        csrf.protect()


def _has_token_in_header() -> bool:
    """Whether the header has this session's token: what Flask-WTF would find, without reading a form for it."""
    signed, own = request.headers.get("X-CSRFToken"), session.get("csrf_token")
    if not signed or not own:
        return False
    try:
        g.csrf_valid = hmac.compare_digest(str(own), _token_in(signed, str(current_app.secret_key)))
    except BadData:
        return False
    return bool(g.csrf_valid)


@lru_cache(maxsize=10_000)
def _token_in(signed: str, secret_key: str) -> str:
    """The token that Flask-WTF has signed. A page sends the same one every second. Raises BadData."""
    return str(URLSafeTimedSerializer(secret_key, salt="wtf-csrf-token").loads(signed))


def comes_from_here(sent: Request) -> bool:
    """Whether the browser says that our own page sent it. Clients that say nothing still need the token."""
    site = sent.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = sent.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == sent.host


def has_session_token() -> bool:
    """Whether this browser has ever been given a CSRF token."""
    return "csrf_token" in session


def _always(policy: dict[str, str], *, allowed: str, referrer: str) -> list[tuple[str, str]]:
    """The headers of every answer, put together once."""
    devices = f"microphone={allowed}, camera={allowed}, geolocation=(), payment=(), usb=(), display-capture=()"
    return [
        ("Content-Security-Policy", "; ".join(f"{name} {value}" for name, value in policy.items())),
        ("Reporting-Endpoints", 'csp="/csp-reports"'),
        ("Permissions-Policy", devices),
        ("Referrer-Policy", referrer),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]


_PLAIN = _always(POLICY, allowed="()", referrer="same-origin")
_WITH_DEVICES = _always(DEVICE_POLICY, allowed="(self)", referrer="no-referrer")
_FOR_SCRIPTS = [
    (name, value) for name, value in _PLAIN if name in {"X-Content-Type-Options", "Cross-Origin-Resource-Policy"}
]
"""Without what only a document obeys, which is two thirds of the bytes of an answer to a chunk."""


def _headers(response: Response) -> Response:
    missing, is_private = list(_wanted(response)), request.environ.get(_PRIVATE)
    if is_private or is_api_path(request.path):
        missing.append(("Cache-Control", "no-store"))
    if _is_secure():
        missing.append(("Strict-Transport-Security", "max-age=31536000; includeSubDomains"))
    said = {name.lower() for name in response.headers.keys()}  # noqa: SIM118 - iterating gives pairs
    response.headers.extend([(name, value) for name, value in missing if name.lower() not in said])
    if is_private:
        response.vary.add("Cookie")
    return response


def _wanted(response: Response) -> list[tuple[str, str]]:
    if _is_read_by_a_script(response):
        return _FOR_SCRIPTS
    return _WITH_DEVICES if request.environ.get(_DEVICES) else _PLAIN


def _is_read_by_a_script(response: Response) -> bool:
    """Whether a browser says that a script reads this, and it is nothing that could run if it were opened."""
    return request.environ.get("HTTP_SEC_FETCH_DEST") == "empty" and (response.mimetype or "").startswith(_NO_DOCUMENT)


def _is_secure() -> bool:
    return bool(current_app.extensions.get("parley.secure"))


__all__ = ["CSRFError", "allow_devices", "comes_from_here", "csrf", "has_session_token", "keep_private", "register"]
