"""The only HTTP client for URLs that customers enter: it sends webhooks and downloads logos and intro videos.

``dial`` opens the connections; aiohttp's parser reads the answers. Bodies are not decoded, every redirect is vetted
before it is followed, and one monotonic deadline covers a whole attempt.
"""

import asyncio
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO, Protocol
from urllib.parse import urljoin

from aiohttp import ClientError, StreamReader
from aiohttp.http_exceptions import HttpProcessingError

from app.core.errors import Rejected
from app.gateways.outbound.dial import Connection, Dialer, Lookup
from app.gateways.outbound.errors import Unreachable
from app.gateways.outbound.target import Target, read
from app.gateways.outbound.values import Answer, Fetched, FetchLimits, SendLimits
from app.settings import Settings

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 3
MOST_INTERIM = 100
"""Number of 1xx answers that are skipped before the receiver counts as broken."""


class Head(Protocol):
    """Status and headers as aiohttp's parser hands them over."""

    @property
    def code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...


class Outbound:
    """Calls customers' URLs behind the guard. One per process; safe in threads and in concurrent tasks.

    ``tls`` and ``names`` replace the system's certificates and its resolver.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        limits: SendLimits | None = None,
        tls: ssl.SSLContext | None = None,
        names: Lookup | None = None,
    ) -> None:
        self.limits = limits or SendLimits()
        self._http_allowed = settings.http_allowed
        self._dialer = Dialer(settings, resolve_seconds=self.limits.resolve, tls=tls, names=names)

    def check_form(self, url: str) -> None:
        """Check a URL before it is stored: its form, and an IP address in it by the rule of calls. Raises Rejected.

        The addresses of a host name are checked at each call.
        """
        target = self._read(url)
        refusal = self._dialer.guard.refusal(str(target.literal)) if target.literal else None
        if refusal:
            raise Rejected(f"The IP address {target.host} is not allowed: {refusal}. Use a public address.")

    async def post(self, url: str, *, body: bytes, headers: Mapping[str, str]) -> Answer:
        """POST ``body`` once, on a new connection, without following redirects. Raises Unreachable.

        HTTP/1.1 with Content-Length, ``Connection: close`` and ``Accept-Encoding: identity`` besides ``headers``.
        """
        limits = self.limits
        address: str | None = None
        try:
            async with asyncio.timeout(limits.total):
                target = self._target(url)
                connection = await self._dialer.open(target, seconds=limits.connect)
                address = connection.address
                try:
                    message, payload = await _ask(connection, _head("POST", target, headers, length=len(body)) + body)
                    return await self._answer(message, payload, address)
                finally:
                    connection.close()
        except TimeoutError:
            raise Unreachable("timeout", f"no complete response within {limits.total:g} s", address=address) from None

    def fetch(self, url: str, sink: BinaryIO, *, limits: FetchLimits) -> Fetched:
        """Download into ``sink`` piece by piece, following at most 3 redirects, each vetted. Raises Unreachable.

        Blocks, so call it outside a transaction. If it fails, ``sink`` may have received a part of the file.
        """
        return asyncio.run(self._fetch(url, sink, limits))

    async def _fetch(self, url: str, sink: BinaryIO, limits: FetchLimits) -> Fetched:
        try:
            async with asyncio.timeout(limits.seconds):
                for _hop in range(MOST_REDIRECTS + 1):
                    target = self._target(url)
                    connection = await self._dialer.open(target, seconds=limits.connect)
                    try:
                        message, payload = await _ask(connection, _head("GET", target, _FETCH_HEADERS, length=None))
                        if message.code in REDIRECTS:
                            url = urljoin(target.url, _location(message))
                            continue
                        size = await _download(message, payload, sink, limits=limits)
                    finally:
                        connection.close()
                    content_type = message.headers.get("Content-Type", "").partition(";")[0].strip().lower()
                    return Fetched(content_type, size, target.url)
        except TimeoutError:
            raise Unreachable("timeout", f"it took longer than {limits.seconds:g} s") from None
        raise Unreachable("http", f"it redirects more than {MOST_REDIRECTS} times")

    def _read(self, url: str) -> Target:
        return read(url, http_allowed=self._http_allowed, local_names=self._dialer.guard.loopback_allowed)

    def _target(self, url: str) -> Target:
        try:
            return self._read(url)
        except Rejected as error:
            raise Unreachable("forbidden_address", error.message) from None

    async def _answer(self, message: Head, payload: StreamReader, address: str) -> Answer:
        most = self.limits.answer_bytes
        retry_after = message.headers.get("Retry-After")
        if payload.is_eof():
            whole = payload.read_nowait(most + 1)
            return Answer(message.code, retry_after, whole[:most], len(whole) > most, address)
        body = bytearray()
        # Status and headers decide. The body is only for the log, so it may be slow, broken or endless.
        with suppress(TimeoutError, ClientError, HttpProcessingError, OSError):
            async with asyncio.timeout(self.limits.body):
                while len(body) <= most and not payload.at_eof():
                    body += await payload.read(most + 1 - len(body))
        return Answer(message.code, retry_after, bytes(body[:most]), len(body) > most, address)


_FETCH_HEADERS = {"User-Agent": "Parley/1.0", "Accept": "*/*"}


def _head(method: str, target: Target, headers: Mapping[str, str], *, length: int | None) -> bytes:
    lines = [f"{method} {target.path} HTTP/1.1", f"Host: {target.authority}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    lines += ["Accept-Encoding: identity", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("ascii")


async def _ask(connection: Connection, request: bytes) -> tuple[Head, StreamReader]:
    """Send the request and wait for the headers of the final answer."""
    protocol = connection.protocol
    protocol.set_response_params(read_until_eof=True, auto_decompress=False, read_bufsize=16_384)
    connection.transport.write(request)
    try:
        for _interim in range(MOST_INTERIM):
            message, payload = await protocol.read()
            if not 100 <= message.code <= 199 or message.code == 101:
                return message, payload
    except HttpProcessingError:
        raise Unreachable("http", "the response is not valid HTTP", address=connection.address) from None
    except (ClientError, OSError) as error:
        if isinstance(error.__cause__, HttpProcessingError):
            raise Unreachable("http", "the response is not valid HTTP", address=connection.address) from None
        raise Unreachable(
            "connect", "the connection closed before a response arrived", address=connection.address
        ) from None
    raise Unreachable("http", "only 1xx responses arrived", address=connection.address)


def _location(message: Head) -> str:
    return message.headers.get("Location", "")


async def _download(message: Head, payload: StreamReader, sink: BinaryIO, *, limits: FetchLimits) -> int:
    _check_head(message, limits)
    size, began = 0, time.monotonic()
    while not payload.at_eof():
        piece = await _piece(payload)
        size += len(piece)
        if size > limits.max_bytes:
            raise Unreachable("too_large", f"it has more than {limits.max_bytes} bytes")
        spent = time.monotonic() - began
        if spent > limits.grace and size < limits.min_rate * spent:
            raise Unreachable("timeout", f"the transfer is slower than {limits.min_rate} bytes per second")
        sink.write(piece)
    return size


async def _piece(payload: StreamReader) -> bytes:
    """The bytes that have arrived, or none after a second, so that the rate is also checked while nothing arrives."""
    try:
        return await asyncio.wait_for(payload.readany(), 1.0)
    except TimeoutError:
        return b""
    except (ClientError, HttpProcessingError, OSError):
        raise Unreachable("connect", "the connection closed before the whole file arrived") from None


def _check_head(message: Head, limits: FetchLimits) -> None:
    if message.code != 200:
        raise Unreachable("http", f"the server responded with {message.code}")
    if message.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Unreachable("http", "the server sent the file compressed, although Parley asked for it uncompressed")
    length = message.headers.get("Content-Length", "")
    if length.isdecimal() and int(length[:20]) > limits.max_bytes:
        raise Unreachable("too_large", f"it has {length[:20]} bytes; {limits.max_bytes} are allowed")
