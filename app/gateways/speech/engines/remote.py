"""Calls to speech and language servers that the operator configured: deadlines, few retries, and who may try again."""

import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import requests

from app.core.errors import GatewayError
from app.gateways.speech.ports import Word

Answer = TypeVar("Answer")

ATTEMPTS = 2
PAUSE = 0.4
CONNECT_SECONDS = 5.0
MOST_BYTES = 100_000_000
RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


def model_for(language: str, *, overrides: Mapping[str, str], default: str) -> str:
    """The model for a language: that of its override, such as ``MODEL_ES_419``, or else the default."""
    return overrides.get(f"MODEL_{language.replace('-', '_').upper()}", default)


class Aligner(Protocol):
    """Finds the word times of known English text."""

    def align(self, text: str, pcm: bytes, *, rate: int) -> tuple[Word, ...]:
        """Times, or nothing where text and sound do not fit."""
        ...

    def close(self) -> None:
        """End its processes."""
        ...


CODE = re.compile(r"[a-z_]{1,40}")
HINTS = {401: ": check its API key", 403: ": check its API key", 404: ": check its address and model"}


class Slow(GatewayError):
    """The server took too long: worth another job, not another wait right now."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


def refused(server: str, status: int) -> GatewayError:
    """An HTTP status as an error; configuration faults are final. Bodies are never quoted: they hold answers."""
    hint = HINTS.get(status, "")
    return GatewayError(f"{server} responded with {status}{hint}", retryable=status in RETRYABLE_STATUS)


def refused_with(server: str, code: object) -> GatewayError:
    """An error event of a connection; its code is named if it is one, its message is not quoted: it may hold words."""
    named = f" ({code})" if isinstance(code, str) and CODE.fullmatch(code) else ""
    return GatewayError(f"{server} refused a request{named}", retryable=True)


def with_retries(call: Callable[[], Answer]) -> Answer:
    """Try a call twice where the failure may pass; a time-out is not waited for twice."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return call()
        except Slow:
            raise
        except GatewayError as error:
            if not error.retryable or attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE)
    raise AssertionError("unreachable")


class Remote:
    """One HTTP server with a key; answers are read whole, within a deadline and a size."""

    def __init__(self, server: str, address: str, *, headers: dict[str, str], timeout: float) -> None:
        self._server = server
        self._address = address.rstrip("/")
        self._timeout = timeout
        self._session = requests.Session()
        self._session.headers.update(headers)

    def post(self, path: str, **arguments: Any) -> bytes:
        """The body of a 200 answer; GatewayError for everything else."""
        return with_retries(lambda: self._post(path, arguments))

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _post(self, path: str, arguments: dict[str, Any]) -> bytes:
        until = time.monotonic() + self._timeout
        try:
            with self._session.post(
                self._address + path,
                timeout=(min(CONNECT_SECONDS, self._timeout), self._timeout),
                allow_redirects=False,
                stream=True,
                **arguments,
            ) as answer:
                if answer.status_code != requests.codes.ok:
                    raise refused(self._server, answer.status_code)
                return self._read(answer, until)
        except requests.Timeout as error:
            raise Slow(f"{self._server} did not respond within {self._timeout:g} s") from error
        except requests.RequestException as error:
            raise GatewayError(f"{self._server} cannot be reached", retryable=True) from error

    def _read(self, answer: requests.Response, until: float) -> bytes:
        body = bytearray()
        for piece in answer.iter_content(65_536):
            body += piece
            if time.monotonic() > until:
                raise Slow(f"{self._server} did not respond within {self._timeout:g} s")
            if len(body) > MOST_BYTES:
                raise GatewayError(f"{self._server} sent more than {MOST_BYTES} bytes", retryable=False)
        return bytes(body)
