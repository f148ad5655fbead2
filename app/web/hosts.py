"""Which host names requests may be for: the owner of another name could read pages that are served under it."""

import ipaddress
import logging
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.exceptions import SecurityError

from app.settings import Settings
from app.web.errors import Failure, respond

log = logging.getLogger(__name__)

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EXEMPT = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked by proxies and monitors, which know a process by its address."""

REFUSED = (
    "This server does not serve the host name in this request. If it should, its operator can add the name to "
    "ALLOWED_HOSTS or set APP_URL to the public URL."
)
WARNING = (
    "a request has a different host than APP_URL, which is a local address: links in mail and webhooks will not "
    "work from elsewhere. Set APP_URL to the public address; requests for other hosts are then refused "
    "(ALLOWED_HOSTS)"
)


def register(app: Flask) -> None:
    """Refuse what is for someone else. While APP_URL is an address of this machine, warn once instead."""
    settings: Settings = app.extensions["parley.settings"]
    app.before_request(_Door(settings).look)


class _Door:
    def __init__(self, settings: Settings) -> None:
        own = urlsplit(settings.app_url).hostname or ""
        self._allowed = {own, *(settings.allowed_hosts or LOOPBACK)}
        self._only_warns = not settings.allowed_hosts and is_loopback(own)
        self._has_warned = False

    def look(self) -> Response | None:
        if _host() in self._allowed or request.path in EXEMPT:
            return None
        if not self._only_warns:
            return respond(Failure(421, REFUSED))
        if not self._has_warned:
            self._has_warned = True
            log.warning("%s", WARNING)
        return None


def is_loopback(name: str) -> bool:
    """Whether the name is of this machine alone."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host() -> str:
    """The name that the request is for, without its port; empty where it is none."""
    try:
        return (urlsplit(f"//{request.host}").hostname or "").removesuffix(".")
    except (ValueError, SecurityError):
        return ""
