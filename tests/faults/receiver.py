"""A customer's webhook receiver that keeps a durable journal and behaves as the case scripts it, path by path."""

import asyncio
import base64
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def answer(status: int, *, headers: str = "", body: bytes = b"") -> bytes:
    """A whole answer; ``headers`` are lines that end with CRLF."""
    head = f"HTTP/1.1 {status} Scripted\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


@dataclass(frozen=True)
class Request:
    """One request as it came in, with what it was answered: 0 when the answer is not a plain one."""

    at: float
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed

    @property
    def event_id(self) -> str:
        return self.headers.get("webhook-id", "")


@dataclass
class Wire:
    """What a behaviour may do with the connection."""

    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    """How many requests this path had before."""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


Behaviour = Callable[[Wire], Awaitable[None]]


async def healthy(wire: Wire) -> None:
    """200 at once."""
    await wire.send(OK)


def always(data: bytes) -> Behaviour:
    """The same bytes for every request."""

    async def behave(wire: Wire) -> None:
        await wire.send(data)

    return behave


async def silent(_wire: Wire) -> None:
    """Accept, read, and never answer."""
    await asyncio.sleep(3600)


@dataclass
class Receiver:
    """Each request is fsynced to the journal before anything is answered. ``journal`` is read back by the checker."""

    path: Path
    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    connections: int = 0
    raw: dict[str, Behaviour] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._file = self.path.open("ab")
        self._counts: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._file.close()

    def url(self, path: str = "/hook", *, port: int | None = None) -> str:
        return f"http://127.0.0.1:{port or self.port}{path}"

    def journal(self, path: str | None = None) -> list[Request]:
        """All requests that were fully received, from the file."""
        found = []
        for line in self.path.read_text().splitlines():
            entry = json.loads(line)
            entry["body"] = base64.b64decode(entry["body"])
            if path is None or entry["path"] == path:
                found.append(Request(**entry))
        return found

    def written(self) -> int:
        """Bytes of the journal: what grows with every request, and costs nothing to look at."""
        return self.path.stat().st_size if self.path.exists() else 0

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=2048))
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            request = await _read(reader)
            number = self._counts.get(request.path, 0)
            self._counts[request.path] = number + 1
            self._keep(request)
            behave = self.behaviours.get(request.path, healthy)
            await behave(Wire(request, reader, writer, number))
        writer.close()

    def _keep(self, request: Request) -> None:
        entry = {**request.__dict__, "body": base64.b64encode(request.body).decode()}
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {}
    for line in head[1:]:
        name, _, value = line.partition(":")
        if name:
            headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(time.time(), head[0].split(" ")[1], headers, body)
