"""Opens a connection to a vetted address: the name is resolved once, every answer is checked, and one of them is used.

The name itself is used for TLS and the Host header only, so a name server that answers differently between check and
use changes nothing. Proxy variables and netrc are never read. EGRESS_PROXY is, and it too gets the vetted address.
"""

import asyncio
import ipaddress
import os
import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from aiohttp import ClientError
from aiohttp.client_proto import ResponseHandler

from app.gateways.outbound.errors import Unreachable
from app.gateways.outbound.guard import Guard, is_ours, seems_public
from app.gateways.outbound.target import Target
from app.settings import Settings

TRIED = 4
"""The number of a name's addresses that are tried, each with its share of the time for connecting."""
OWN_KEPT_SECONDS = 60.0

_LARGEST_BUFFER = 16_384

Lookup = Callable[[str], list[str]]


@dataclass(slots=True)
class Connection:
    """An open connection that nothing has been sent on yet."""

    protocol: ResponseHandler
    transport: asyncio.Transport
    address: str

    def close(self) -> None:
        """Drop it at once; each request has its own connection."""
        self.transport.abort()


class Dialer:
    """Connects as the settings say: directly, from a fixed source address, or through the egress proxy."""

    def __init__(
        self,
        settings: Settings,
        *,
        resolve_seconds: float,
        tls: ssl.SSLContext | None = None,
        names: Lookup | None = None,
    ) -> None:
        self.guard = Guard(settings)
        self._tls = tls or ssl.create_default_context()
        self._source = settings.egress_source_address
        self._proxy = urlsplit(settings.egress_proxy) if settings.egress_proxy else None
        self._lookup = names or lookup
        self._resolve_seconds = resolve_seconds
        self._names = ThreadPoolExecutor(max_workers=64, thread_name_prefix="resolve")
        self._own_name = urlsplit(settings.app_url).hostname or ""
        self._own: frozenset[str] = frozenset()
        self._own_until = 0.0

    async def open(self, target: Target, *, seconds: float) -> Connection:
        """Connect within ``seconds``, TLS included. Raises Unreachable."""
        try:
            async with asyncio.timeout(seconds):
                return await self._open(target, seconds)
        except TimeoutError:
            raise Unreachable("timeout", f"no connection within {seconds:g} s") from None

    async def _open(self, target: Target, seconds: float) -> Connection:
        addresses = await self.vetted(target)
        reason = "no address responded"
        for index, address in enumerate(addresses):
            is_last = index == len(addresses) - 1
            try:
                async with asyncio.timeout(None if is_last else seconds / len(addresses)):
                    sock = await self._connect(address, target.port)
            except TimeoutError:
                reason = "no response to the connection request"
            except OSError as error:
                reason = os.strerror(error.errno).lower() if error.errno else type(error).__name__
            else:
                return await self._begin(sock, target, address)
        raise Unreachable("connect", f"the connection failed: {reason}", address=addresses[-1])

    async def vetted(self, target: Target) -> list[str]:
        """The addresses to try. Raises Unreachable: ``dns``, or ``forbidden_address`` if a single one is refused."""
        answers = [str(target.literal)] if target.literal else await self._resolve(target.host)
        for answer in answers:
            refusal = self.guard.refusal(answer)
            if refusal:
                raise Unreachable("forbidden_address", f"the address is not allowed: {refusal}", address=answer)
        tried = answers[:TRIED]
        public = [answer for answer in tried if seems_public(answer)]
        own = await self._own_addresses() if public else frozenset()
        for answer in public:
            if answer in own or is_ours(ipaddress.ip_address(answer)):
                raise Unreachable("forbidden_address", "the address is the platform's own", address=answer)
        return tried

    async def _resolve(self, name: str) -> list[str]:
        loop = asyncio.get_running_loop()
        pending = loop.run_in_executor(self._names, self._lookup, name)
        try:
            async with asyncio.timeout(self._resolve_seconds):
                answers = await pending
        except TimeoutError:
            raise Unreachable("dns", f"the name server did not respond within {self._resolve_seconds:g} s") from None
        except (OSError, UnicodeError):
            raise Unreachable("dns", "the host name cannot be resolved") from None
        if not answers:
            raise Unreachable("dns", "the host name has no IP address")
        return answers

    async def _own_addresses(self) -> frozenset[str]:
        if time.monotonic() >= self._own_until and self._own_name:
            self._own_until = time.monotonic() + OWN_KEPT_SECONDS
            with suppress(Unreachable):
                self._own = frozenset(await self._resolve(self._own_name))
        return self._own

    async def _connect(self, address: str, port: int) -> socket.socket:
        if self._proxy is not None:
            return await self._connected(await _address_of(self._proxy))
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = await self._connected((family, (address, port)))
        refusal = self.guard.refusal(sock.getpeername()[0])
        if refusal:
            sock.close()
            raise Unreachable("forbidden_address", f"the peer is not allowed: {refusal}", address=address)
        return sock

    async def _connected(self, place: tuple[int, Any]) -> socket.socket:
        family, address = place
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(0)
            if self._source:
                sock.bind((self._source, 0))
            await asyncio.get_running_loop().sock_connect(sock, address)
        except BaseException:
            sock.close()
            raise
        return sock

    async def _begin(self, sock: socket.socket, target: Target, address: str) -> Connection:
        loop = asyncio.get_running_loop()
        direct = self._proxy is None
        tls = self._tls if target.scheme == "https" and direct else None
        try:
            transport, protocol = await loop.create_connection(
                lambda: ResponseHandler(loop), sock=sock, ssl=tls, server_hostname=target.host if tls else None
            )
            connection = Connection(protocol, transport, address)
            if not direct:
                await self._tunnel(connection, target)
        except ssl.SSLError as error:
            raise Unreachable("tls", f"TLS failed: {_tls_reason(error)}", address=address) from None
        except (OSError, ClientError) as error:
            raise Unreachable("connect", f"the connection failed: {type(error).__name__}", address=address) from None
        return connection

    async def _tunnel(self, connection: Connection, target: Target) -> None:
        """Open a tunnel through the proxy to the vetted address. The proxy never sees the name."""
        try:
            await _ask_proxy(connection, target.port)
            loop = asyncio.get_running_loop()
            protocol = ResponseHandler(loop)
            transport: asyncio.BaseTransport | None = connection.transport
            if target.scheme == "https":
                transport = await loop.start_tls(connection.transport, protocol, self._tls, server_hostname=target.host)
            else:
                connection.transport.set_protocol(protocol)
            connection.transport = cast("asyncio.Transport", transport)
            connection.protocol = protocol
            protocol.connection_made(connection.transport)
        except BaseException:
            connection.close()
            raise


async def _ask_proxy(connection: Connection, port: int) -> None:
    host = f"[{connection.address}]" if ":" in connection.address else connection.address
    connection.protocol.set_response_params(read_bufsize=_LARGEST_BUFFER, skip_payload=True)
    connection.transport.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    message, _payload = await connection.protocol.read()
    if message.code != 200:
        raise Unreachable("connect", f"the egress proxy responded with {message.code}", address=connection.address)


async def _address_of(proxy: SplitResult) -> tuple[int, Any]:
    port = proxy.port or (443 if proxy.scheme == "https" else 80)
    entries = await asyncio.get_running_loop().getaddrinfo(proxy.hostname, port, type=socket.SOCK_STREAM)
    return entries[0][0], entries[0][4]


def lookup(name: str) -> list[str]:
    """All addresses of ``name``, in the system's order. Blocks. Raises OSError."""
    entries = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def _tls_reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (error.reason or type(error).__name__).replace("_", " ").lower()
