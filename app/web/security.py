"""What browsers get and are asked: CSRF token and origin on every change, a strict content policy, no leaks by header.

The interview page needs a little more (camera, microphone, WebAssembly for the voice detector): its views call
``allow_devices()`` before they render.
"""

from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask_smorest import abort
from flask_wtf.csrf import CSRFError, CSRFProtect
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer

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

    def unsign(self, signed_value: Any, *given: Any, **named: Any) -> Any:
        try:
            return super().unsign(signed_value, *given, **named)
        except SignatureExpired as error:
            if error.date_signed is None or error.date_signed <= self.timestamp_to_datetime(self.get_timestamp()):
                raise
            return super().unsign(signed_value, *given, **{**named, "max_age": None})


class _Sessions(SecureCookieSessionInterface):
    """Flask's own, with that signer."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Without a cookie, as programs call, nothing needs to be checked, and so no signer to be put together."""
        if not request.cookies.get(self.get_cookie_name(app)):
            return self.session_class()
        return super().open_session(app, request)

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        serializer = super().get_signing_serializer(app)
        if serializer is not None:
            serializer.signer = _Signer
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
    csrf.protect()


def comes_from_here(asked: Request) -> bool:
    """Whether the browser says that our own page sent it. Clients that say nothing still need the token."""
    site = asked.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = asked.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == asked.host


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


def _headers(response: Response) -> Response:
    missing = list(_WITH_DEVICES if request.environ.get(_DEVICES) else _PLAIN)
    if request.environ.get(_PRIVATE) or is_api_path(request.path):
        missing.append(("Cache-Control", "no-store"))
    if _is_secure():
        missing.append(("Strict-Transport-Security", "max-age=31536000; includeSubDomains"))
    said = {name.lower() for name in response.headers.keys()}  # noqa: SIM118 - iterating gives pairs
    response.headers.extend([(name, value) for name, value in missing if name.lower() not in said])
    if request.environ.get(_PRIVATE):
        response.vary.add("Cookie")
    return response


def _is_secure() -> bool:
    from flask import current_app

    return bool(current_app.extensions.get("parley.secure"))


__all__ = ["CSRFError", "allow_devices", "comes_from_here", "csrf", "has_session_token", "keep_private", "register"]
