"""Whose address a request has: the caller's, with the proxies of TRUSTED_PROXIES taken off.

Behind a proxy that is not counted everyone has the proxy's address and shares its limits, so that is warned of.
"""

import logging
import time
from contextlib import suppress

from flask import Flask, request
from redis.exceptions import RedisError
from werkzeug.middleware.proxy_fix import ProxyFix

from app.core import counters
from app.settings import Settings

log = logging.getLogger(__name__)

WARNING = (
    "a request had X-Forwarded-For, but TRUSTED_PROXIES is 0: behind a proxy, all clients share its address and "
    "its rate limits. Set TRUSTED_PROXIES to the number of proxies in front of Parley; ignore this if there is none"
)
EVERY = 3600.0
"""Seconds between two warnings of one process."""

_SEEN = "parley:forwarded"
_DAY = 86_400


def register(app: Flask) -> None:
    """Take trusted proxies off, or watch for one that is not counted."""
    settings: Settings = app.extensions["parley.settings"]
    if hops := settings.trusted_proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    else:
        app.before_request(_Watch(settings.redis_url).look)


def was_seen(redis_url: str) -> bool:
    """Whether any process has met such a header within a day."""
    with suppress(RedisError):
        return bool(counters.connect(redis_url).exists(_SEEN))
    return False


class _Watch:
    def __init__(self, redis_url: str) -> None:
        self._redis_url = redis_url
        self._due = 0.0

    def look(self) -> None:
        if "HTTP_X_FORWARDED_FOR" not in request.environ or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + EVERY
        log.warning("%s", WARNING)
        if self._redis_url:
            with suppress(RedisError):
                counters.connect(self._redis_url).set(_SEEN, 1, ex=_DAY)
