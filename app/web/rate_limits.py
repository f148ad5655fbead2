"""How often a key, or an address without one, may call ``/v1``. Counted in Redis; here while Redis is away.

A working key is counted by itself alone: what others send from its address, or through its proxy, never stops it.
0 in RATE_LIMIT_PER_MINUTE turns everything here off.
"""

from urllib.parse import urlsplit

import limits as counting
from flask import Flask, Response, current_app, make_response, render_template, request
from flask_limiter import ApplicationLimit, HeaderNames, Limiter
from flask_limiter.errors import RateLimitExceeded
from flask_smorest import abort

from app.settings import Settings
from app.web import languages
from app.web.errors import is_api_path
from app.web.fields import UUID

KEY_ID = "parley.key_id"
"""In the request's environment: the id of the key that it came with, once that is known to work."""

OPENS_PER_ADDRESS = 3_000
"""Page opens a minute of all candidates behind one address together: wide, since a school has one."""

_RETRY_AFTER = "parley.retry_after"
NOWHERE = "nowhere"
"""The bucket of calls to addresses that are not there."""


def bearer_of_request() -> str | None:
    """The key in ``Authorization: Bearer …`` if it has the exact form 8-4-4-4-12 of hex digits, in lower case."""
    header = request.headers.get("Authorization", "")
    scheme, _, key = header.partition(" ")
    if scheme.lower() != "bearer" or not UUID.match(key.strip(" ")):
        return None
    return key.strip(" ").lower()


def address_of_request() -> str:
    """Where the request comes from, with trusted proxies taken off."""
    return request.remote_addr or "unknown"


def register(app: Flask) -> None:
    """Put the limits before every ``/v1`` endpoint."""
    settings: Settings = app.extensions["parley.settings"]
    each = settings.rate_limit_per_minute
    limiter = Limiter(
        _caller,
        application_limits=[_per_key(each), _per_stranger(each)] if each else [],
        storage_uri=storage_address(settings.redis_url),
        storage_options=_patience(settings.redis_url),
        strategy="sliding-window-counter",
        headers_enabled=True,
        header_name_mapping={
            HeaderNames.LIMIT: "X-RateLimit-Limit",
            HeaderNames.REMAINING: "X-RateLimit-Remaining",
            HeaderNames.RESET: "X-RateLimit-Reset",
            HeaderNames.RETRY_AFTER: "Retry-After",
        },
        in_memory_fallback=[f"{max(1, each // 2)} per minute"] if each else [],
        in_memory_fallback_enabled=bool(each),
        enabled=bool(each),
        key_prefix="parley",
    )
    limiter.init_app(app)
    limiter.request_filter(lambda: not is_api_path(request.path))
    app.extensions["parley.limiter"] = limiter
    app.register_error_handler(RateLimitExceeded, _too_many)
    if not each:
        return
    app.before_request(lambda: _count_nowhere(each))
    app.after_request(lambda response: _say_nowhere(response, each))
    # flask-limiter puts Retry-After on every answer. Functions run in reverse order: the last one here runs first.
    app.after_request_funcs.setdefault(None, []).insert(0, _restore_retry_after)
    app.after_request(_remember_retry_after)


def _per_key(each: int) -> ApplicationLimit:
    return ApplicationLimit(f"{each} per minute", key_function=_caller, scope="key", exempt_when=_is_stranger)


def _per_stranger(each: int) -> ApplicationLimit:
    return ApplicationLimit(
        f"{each} per minute",
        key_function=_caller,
        scope="stranger",
        exempt_when=lambda: not _is_stranger(),
        deduct_when=_refused,
    )


def _is_stranger() -> bool:
    return KEY_ID not in request.environ


def _caller() -> str:
    """Whom a call counts for. A bucket's name never holds the key itself."""
    return str(request.environ.get(KEY_ID) or address_of_request())


def _refused(response: Response) -> bool:
    return response.status_code == 401


def storage_address(redis_url: str) -> str:
    """The counting library's spelling of a Redis address; this process's memory without one."""
    if not redis_url:
        return "memory://"
    return redis_url.replace("unix://", "redis+unix://", 1) if urlsplit(redis_url).scheme == "unix" else redis_url


def _patience(redis_url: str) -> dict[str, str | int]:
    return {"socket_connect_timeout": 1, "socket_timeout": 1} if redis_url else {}


def _is_nowhere() -> bool:
    """Under ``/v1``, but no endpoint: no guard finds out whose key it is, and flask-limiter passes it by."""
    return is_api_path(request.path) and request.routing_exception is not None


def _count_nowhere(each: int) -> None:
    if _is_nowhere():
        count(NOWHERE, most=each)


def _say_nowhere(response: Response, each: int) -> Response:
    """The same headers as every other answer, of the count by address."""
    if not _is_nowhere():
        return response
    limiter: Limiter = current_app.extensions["parley.limiter"]
    try:
        item = counting.parse(f"{each} per minute")
        stats = limiter.limiter.get_window_stats(item, "page", NOWHERE, "", address_of_request())
    except Exception:  # noqa: BLE001 - whatever the store raises, the answer goes out without the headers
        return response
    left = {"Limit": each, "Remaining": stats.remaining, "Reset": int(stats.reset_time) + 1}
    response.headers.update({f"X-RateLimit-{name}": str(value) for name, value in left.items()})
    return response


def _too_many(_error: RateLimitExceeded) -> Response:
    from app.web.errors import WORDS, Failure, respond

    return respond(Failure(429, WORDS[429]))


def _remember_retry_after(response: Response) -> Response:
    request.environ[_RETRY_AFTER] = response.headers.get("Retry-After")
    return response


def _restore_retry_after(response: Response) -> Response:
    """What the answer itself said counts; the limiter's belongs to its own 429."""
    said = request.environ.get(_RETRY_AFTER)
    if said is not None:
        response.headers["Retry-After"] = said
    elif response.status_code != 429:
        response.headers.pop("Retry-After", None)
    return response


def count(name: str, *, most: int, of: str = "") -> None:
    """Count one call of ``name`` by this request's address; 429 beyond ``most`` in a minute. Off with the other limits.

    For pages that strangers may open. With ``of``, a link's id, each link is counted by itself: neighbours who share
    the address (a school, a fair, a proxy) do not use its calls up.
    """
    _hit(most, "page", name, of, address_of_request())


def too_often(address: str) -> Response:
    """The response to a candidate's page beyond its limit, in their language. ``address``: where to try again."""
    if languages.CHOSEN not in request.environ:
        languages.choose()
    response = make_response(render_template("conversation/often.html", address=address, base=address), 429)
    response.headers["Retry-After"] = "60"
    return response


def count_for_key(name: str, key_id: str, *, most: int) -> None:
    """The same for one API key, from wherever it is used."""
    _hit(most, "key", name, key_id)


def _hit(most: int, *bucket: str) -> None:
    limiter: Limiter = current_app.extensions["parley.limiter"]
    if not limiter.enabled:
        return
    try:
        allowed = limiter.limiter.hit(counting.parse(f"{most} per minute"), *bucket)
    except Exception:  # noqa: BLE001 - whatever the store raises, a limit that cannot be counted stops no one
        return
    if not allowed:
        abort(429, headers={"Retry-After": "60"})
