"""Browsers that a member has come in with before, so that strangers' guesses do not keep the member waiting.

A signed cookie says so; it opens nothing. Its tries are counted by themselves, for each account apart.
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
    """The id of this browser if it has come in as ``email`` before."""
    kept = _kept()
    return f"browser {kept['browser']}" if _mark(email) in kept["accounts"] else None


def remember_browser(response: Response, email: str) -> None:
    """Give the browser a cookie that says so from now on."""
    settings, kept, mark = _settings(), _kept(), _mark(email)
    accounts = [mark, *(one for one in kept["accounts"] if one != mark)][:MOST_ACCOUNTS]
    response.set_cookie(
        _name(settings),
        str(_signer().dumps({"browser": kept["browser"], "accounts": accounts})),
        max_age=LASTS_SECONDS,
        secure=settings.is_https,
        httponly=True,
        samesite="Lax",
        path="/",
    )


def _kept() -> dict[str, Any]:
    try:
        return dict(_signer().loads(request.cookies.get(_name(_settings()), ""), max_age=LASTS_SECONDS))
    except BadData:
        return {"browser": secrets.token_urlsafe(16), "accounts": []}


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(derived_key(_PURPOSE))


def _mark(email: str) -> str:
    """Stands for the account, and tells nothing about the address."""
    return hmac.new(derived_key(_PURPOSE), email.strip().lower().encode(errors="replace"), hashlib.sha256).hexdigest()


def _settings() -> Settings:
    known: Settings = current_app.extensions["parley.settings"]
    return known


def _name(settings: Settings) -> str:
    return "__Host-browser" if settings.is_https else "browser"
