"""A receiver on a port of its own that keeps every byte and answers as it is told."""

import asyncio
import ssl
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

Script = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Request:
    """One request as it came over the wire."""

    raw: bytes
    body: bytes
    at: float = field(default_factory=time.monotonic)

    @property
    def line(self) -> str:
        return self.raw.split(b"\r\n", 1)[0].decode()

    @property
    def headers(self) -> dict[str, str]:
        head = self.raw.split(b"\r\n\r\n", 1)[0].decode("latin-1").split("\r\n")[1:]
        return dict(line.split(": ", 1) for line in head)

    @property
    def path(self) -> str:
        return self.line.split()[1]


def says(status: int = 200, body: bytes = b"", **headers: str) -> Script:
    """An ordinary answer."""

    async def script(_request: Request, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Because", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    return script


def writes(*pieces: bytes, every: float = 0.0, then: str = "close") -> Script:
    """Raw bytes, piece by piece; afterwards the connection is closed, reset, or kept open."""

    async def script(_request: Request, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(every)
        if then == "reset":
            writer.transport.abort()
        elif then == "hang":
            await asyncio.sleep(3600)

    return script


async def hangs(_request: Request, _writer: asyncio.StreamWriter) -> None:
    """Accepts, reads, and never answers."""
    await asyncio.sleep(3600)


class Receiver:
    """Runs in a thread. ``script`` may be replaced at any time; a list of scripts is used up one by one."""

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self.scripts = list(scripts)
        self.script: Script = says()
        self.requests: list[Request] = []
        self.connections = 0
        self.problems: list[BaseException] = []
        self._tls, self._host = tls, host
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self._host}:{self.port}/hook"

    @property
    def bodies(self) -> list[bytes]:
        return [request.body for request in self.requests]

    @property
    def events(self) -> list[str]:
        return [request.headers["webhook-id"] for request in self.requests]

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, self._host, 0, ssl=self._tls, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        # A connection that is accepted while its server closes is never closed (asyncio in Python 3.11), so accepting
        # stops first, and what was accepted becomes a task.
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        for _ in range(3):
            await asyncio.sleep(0)
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports close one turn of the loop later

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = self._loop.create_task(self._answer(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Not in the task: one that is cancelled before it begins closes nothing.
        task.add_done_callback(lambda _task: writer.transport.abort())

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                request = await _read(reader)
                script = self.scripts.pop(0) if self.scripts else self.script
                self.requests.append(request)
                await script(request, writer)
                await writer.drain()
        finally:
            writer.close()
            with suppress(Exception):
                await asyncio.wait_for(writer.wait_closed(), 1)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    body = await reader.readexactly(length)
    return Request(raw=head + body, body=body)
