"""A small proxy: sends requests to processes in turn, and never sends one request to two of them."""

import asyncio
import itertools
import threading
from collections import Counter
from contextlib import suppress
from typing import Self

GONE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
NO_PROCESS = b"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n"


class Distributor:
    """Listens on ``port`` for as long as its block lasts; ``ports`` are the processes, ``served`` what each answered."""

    def __init__(self) -> None:
        self.ports: list[int] = []
        self.served: Counter[int] = Counter()
        self._turn = itertools.count()

    def __enter__(self) -> Self:
        self._loop, ready = asyncio.new_event_loop(), threading.Event()

        def run() -> None:
            asyncio.set_event_loop(self._loop)
            server = self._loop.run_until_complete(asyncio.start_server(self._client, "127.0.0.1", 0))
            self.port: int = server.sockets[0].getsockname()[1]
            ready.set()
            self._loop.run_forever()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0.1))
            self._loop.close()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                writer.write(await self._forwarded(await _message(reader)))
                await writer.drain()
        writer.close()

    async def _forwarded(self, request: bytes) -> bytes:
        """To the next process that takes the connection; a client keeps its process."""
        ports = list(self.ports)
        first = next(self._turn)
        for number in range(len(ports)):
            port = ports[(first + number) % len(ports)]
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            try:
                writer.write(request)
                answer = await _message(reader, is_answer=True)
            except (OSError, asyncio.IncompleteReadError):
                return GONE
            finally:
                writer.close()
            self.served[port] += 1
            return answer
        return NO_PROCESS


async def _message(reader: asyncio.StreamReader, *, is_answer: bool = False) -> bytes:
    """A whole request or answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if b"content-length" in lines:
        return head + await reader.readexactly(int(lines[b"content-length"]))
    if is_answer and head.split(b" ", 2)[1] not in {b"204", b"304"}:
        raise asyncio.IncompleteReadError(head, None)
    return head
