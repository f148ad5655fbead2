"""``/metrics``: for callers with the token; without one, for this machine only, while Parley serves no other host."""

import hmac
import ipaddress
from urllib.parse import urlsplit

from flask import Blueprint, Response, current_app, request
from flask_smorest import abort
from prometheus_client import CONTENT_TYPE_LATEST
from werkzeug.exceptions import NotFound

from app.core.db import row_security
from app.operations.metrics import collecting
from app.settings import Settings

pages = Blueprint("metrics", __name__)
pages.record_once(lambda state: collecting.add_to(state.app.extensions["parley.registry"]))


@pages.before_request
def require_reader() -> None:
    """401 without the right token. If none is set, 404 to everyone but this machine."""
    settings: Settings = current_app.extensions["parley.settings"]
    if settings.metrics_token:
        if not hmac.compare_digest(_given().encode(), settings.metrics_token.encode()):
            abort(401, message="Send METRICS_TOKEN as a bearer token.", headers={"WWW-Authenticate": "Bearer"})
    elif not _is_at_home(settings):
        raise NotFound
    row_security.choose(row_security.EVERYONE)


@pages.get("/metrics")
def show() -> Response:
    """All figures. None is about a person."""
    response = Response(collecting.text(), content_type=CONTENT_TYPE_LATEST)
    response.cache_control.no_store = True
    return response


def _given() -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_at_home(settings: Settings) -> bool:
    """Whether a program on this machine calls a Parley that serves only this machine, and by such a host name."""
    names = (request.remote_addr or "", _host_of(f"//{request.host}"), _host_of(settings.app_url))
    return all(_is_loopback(name) for name in names)


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
