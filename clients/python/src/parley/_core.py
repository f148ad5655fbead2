"""The part without a network: how a call becomes a request, when it is sent again, and what its response means.

``attempts`` is a generator of steps (send this, sleep this long). The clients carry the steps out, one with threads and
one with asyncio, so that both behave alike. Every call can be sent again without doing its work twice: GET, PUT,
PATCH and DELETE by what they mean, POST because it always has an ``Idempotency-Key``, the same at every attempt.
"""

import json
import logging
import random
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from ._errors import APIConnectionError, APITimeoutError, ParleyError, UnexpectedResponseError, status_error

log = logging.getLogger("parley")

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

RETRIED = frozenset({429, 500, 502, 503, 504})
FIRST_DELAY, LONGEST_DELAY = 0.5, 8.0


@dataclass(frozen=True, slots=True)
class Call(Generic[T_co]):
    """One operation with its arguments."""

    operation: str
    method: str
    path: str
    parse: Callable[[Any], T_co]
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    at_least: float = 0.0
    """Seconds that an attempt of this call may need, whatever ``timeout`` says."""


@dataclass(frozen=True, slots=True)
class Options:
    """How calls are sent."""

    timeout: float = 30.0
    max_retries: int = 2
    deadline: float = 120.0


@dataclass(frozen=True, slots=True)
class Send:
    """A step: send this, give the whole attempt ``timeout`` seconds, and come back with an Answer or a Fault."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes | None
    query: dict[str, str]
    timeout: float


@dataclass(frozen=True, slots=True)
class Sleep:
    """A step: wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sent. Names of ``headers`` are in lower case."""

    code: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no Answer."""

    reason: Exception
    timed_out: bool


Steps = Generator[Send | Sleep, Answer | Fault | None, T]


def call(
    operation: str,
    method: str,
    path: str,
    parse: Callable[[Any], T],
    *,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    headers: Mapping[str, str | None] | None = None,
    idempotency_key: str | None = None,
    at_least: float = 0.0,
) -> Call[T]:
    """Build a call: what is None in ``query`` and ``headers`` is not sent, and a POST gets its key."""
    named = {name: value for name, value in (headers or {}).items() if value is not None}
    if method == "POST":
        named["Idempotency-Key"] = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
    asked = {name: text_of(value) for name, value in (query or {}).items() if value is not None}
    return Call(operation, method, path, parse, asked, body, named, at_least)


def text_of(value: Any) -> str:
    """A query value as the API reads it."""
    if isinstance(value, datetime):
        return time_of(value)
    return str(value)


def time_of(value: datetime | str) -> str:
    """RFC 3339 in UTC. A time without a zone is refused, because it could be any hour of the day."""
    if isinstance(value, str):
        return value
    if not isinstance(value, datetime):
        raise TypeError(f"A time is a datetime with a time zone, or text such as 2026-01-31T09:15:00Z, not {value!r}.")
    if value.tzinfo is None:
        raise ValueError("Give times with a time zone, such as datetime.now(UTC).")
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def path_of(*parts: str) -> str:
    """``/v1/`` and the parts. An id that would change the path is refused before it is sent."""
    for part in parts:
        if not isinstance(part, str) or part in {"", ".", ".."}:
            raise ValueError(f"An id must be a string that is not empty; this one is {part!r}.")
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def attempts(what: Call[T], options: Options) -> Steps[T]:
    """Send a call until it is answered, at most ``max_retries`` times again, and never after ``deadline`` seconds."""
    content = None if what.body is None else json.dumps(what.body).encode()
    headers = {**what.headers, **({} if content is None else {"Content-Type": "application/json"})}
    timeout = max(options.timeout, what.at_least)
    send = Send(what.method, what.path, headers, content, what.query, timeout)
    ends, tried = time.monotonic() + max(options.deadline, what.at_least), 0
    while True:
        outcome = yield send
        if not isinstance(outcome, Answer | Fault):
            raise TypeError("A Send is followed by an Answer or a Fault.")
        try:
            body = _body(what, outcome)
        except ParleyError as error:
            error.idempotency_key = what.headers.get("Idempotency-Key")
            delay, is_running = _delay(outcome, tried), _is_running(outcome)
            is_last = options.max_retries <= (0 if is_running else tried)
            if delay is None or is_last or time.monotonic() + delay > ends:
                raise
            log.info("Trying again in %.1f s after: %s", delay, error)
            yield Sleep(delay)
            tried += not is_running
        else:
            return _parsed(what, body)


def _parsed(what: Call[T], body: Any) -> T:
    try:
        return what.parse(body)
    except (KeyError, TypeError, ValueError) as reason:
        raise UnexpectedResponseError(f"{what.method} {what.path}: the response lacks {reason}.") from reason


def _body(what: Call[Any], outcome: Answer | Fault) -> Any:
    """The JSON of a success; everything else is raised."""
    if isinstance(outcome, Fault):
        kind = APITimeoutError if outcome.timed_out else APIConnectionError
        raise kind(f"{what.method} {what.path}: {_words(outcome.reason)}") from outcome.reason
    body, is_json = _json(outcome.body)
    if not 200 <= outcome.code < 300:
        refusal = status_error(outcome.code, body, outcome.headers)
        refusal.retry_after = retry_after(outcome.headers)
        raise refusal
    if not is_json:
        raise UnexpectedResponseError(f"{what.method} {what.path}: the response of {outcome.code} is not JSON.")
    return body


def _words(reason: Exception) -> str:
    return str(reason) or type(reason).__name__


def _json(body: bytes) -> tuple[Any, bool]:
    try:
        return json.loads(body), True
    except (ValueError, RecursionError):
        return None, False


def _is_running(outcome: Answer | Fault) -> bool:
    """Whether the first call with this key still runs: a 409 that says when to come back."""
    return isinstance(outcome, Answer) and outcome.code == 409 and retry_after(outcome.headers) is not None


def _delay(outcome: Answer | Fault, tried: int) -> float | None:
    """Seconds until the next attempt, None if there is to be none."""
    grown = min(LONGEST_DELAY, FIRST_DELAY * 2.0**tried) * random.uniform(0.75, 1.0)  # noqa: S311 - not a secret
    if isinstance(outcome, Fault) or 200 <= outcome.code < 300:
        return grown
    if outcome.code not in RETRIED and not _is_running(outcome):
        return None
    asked = retry_after(outcome.headers)
    return grown if asked is None else asked


def retry_after(headers: Mapping[str, str]) -> float | None:
    """``Retry-After`` in seconds, from a number or a date; None if it is absent or cannot be read."""
    told = headers.get("retry-after", "").strip()
    if told.isascii() and told.isdigit():
        return float(told[:12])
    try:
        at = parsedate_to_datetime(told)
    except ValueError:
        return None
    zoned = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (zoned - datetime.now(UTC)).total_seconds())
