"""Browsers in which a member has signed in before, so that other people's guesses do not make the member wait.

A signed cookie identifies them; it gives no access. Tries from such a browser are counted separately per account.
"""

import hashlib
import hmac
import secrets
from typing import Any

from flask import current_app, request
from itsdangerous import BadData, URLSafeTimedSerializer
from werkzeug.wrappers import Response

from app.core.encryption import derived_key
from app.settings import Settings

LASTS_SECONDS = 180 * 86_400
MOST_ACCOUNTS = 5
_PURPOSE = "known browsers"


def known_browser(email: str) -> str | None:
    """The id of this browser if ``email`` has signed in with it before."""
    cookie = _cookie()
    return f"browser {cookie['browser']}" if _mark(email) in cookie["accounts"] else None


def remember_browser(response: Response, email: str) -> None:
    """Set the cookie that makes this a known browser of ``email``."""
    settings, cookie, mark = _settings(), _cookie(), _mark(email)
    accounts = [mark, *(one for one in cookie["accounts"] if one != mark)][:MOST_ACCOUNTS]
    response.set_cookie(
        _name(settings),
        str(_signer().dumps({"browser": cookie["browser"], "accounts": accounts})),
        max_age=LASTS_SECONDS,
        secure=settings.is_https,
        httponly=True,
        samesite="Lax",
        path="/",
    )


def _cookie() -> dict[str, Any]:
    try:
        return dict(_signer().loads(request.cookies.get(_name(_settings()), ""), max_age=LASTS_SECONDS))
    except BadData:
        return {"browser": secrets.token_urlsafe(16), "accounts": []}


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(derived_key(_PURPOSE))


def _mark(email: str) -> str:
    """Identifies the account without revealing the address."""
    return hmac.new(derived_key(_PURPOSE), email.strip().lower().encode(errors="replace"), hashlib.sha256).hexdigest()


def _settings() -> Settings:
    settings: Settings = current_app.extensions["parley.settings"]
    return settings


def _name(settings: Settings) -> str:
    return "__Host-browser" if settings.is_https else "browser"
