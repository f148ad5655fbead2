"""A TCP proxy that misbehaves on demand: delay, cut, reset, stall, or lose the answer to what it forwarded."""

import asyncio
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

PIECE = 65_536


@dataclass
class Faults:
    """What is wrong at the moment. Numbers of 0 and empty texts mean: nothing."""

    latency: float = 0.0
    bandwidth: float = 0.0
    cut_after: int = 0
    stall: bool = False
    refuse: bool = False
    hold_answers: bool = False
    lose_answer_to: bytes = b""
    lose_nth: int = 1


@dataclass
class Counts:
    """What was done to the connections: the proof that a fault fired."""

    connections: int = 0
    refused: int = 0
    cut: int = 0
    stalled: int = 0
    held: int = 0
    lost: int = 0
    reset: int = 0
    clients: list[tuple[str, int]] = field(default_factory=list)
    """Address and port of the clients whose answer is being held."""


class Proxy:
    """Listens on a port of its own, in a thread of its own; ``faults`` may be changed while it runs."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.faults, self.counts = Faults(), Counts()
        self._seen = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def reset_all(self) -> None:
        """Answer every open connection with a TCP reset."""
        self._loop.call_soon_threadsafe(self._reset_all)

    def lose_answer_to(self, marker: bytes, *, nth: int = 1) -> None:
        """Forward the ``nth`` request from now with ``marker`` in it, swallow its answer and reset both ends."""
        self._seen, self.faults.lose_nth, self.faults.lose_answer_to = 0, nth, marker

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        self._reset_all()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def _reset_all(self) -> None:
        for writer in list(self._open):
            self._reset(writer)

    def _reset(self, writer: asyncio.StreamWriter) -> None:
        end = writer.get_extra_info("socket")
        with suppress(OSError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        self._open.discard(writer)
        self.counts.reset += 1

    async def _serve(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self.counts.connections += 1
        if self.faults.refuse:
            self.counts.refused += 1
            self._reset(to_client)
            return
        try:
            from_target, to_target = await asyncio.open_connection(*self._target)
        except OSError:
            self._reset(to_client)
            return
        link = _Link(self, to_client, to_target)
        self._open |= {to_client, to_target}
        await asyncio.gather(
            link.pump(from_client, to_target, is_answer=False),
            link.pump(from_target, to_client, is_answer=True),
            return_exceptions=True,
        )
        for writer in (to_client, to_target):
            self._open.discard(writer)
            writer.close()


class _Link:
    """One connection with its two directions."""

    def __init__(self, proxy: Proxy, to_client: asyncio.StreamWriter, to_target: asyncio.StreamWriter) -> None:
        self._proxy, self._ends = proxy, (to_client, to_target)
        self._passed = 0
        self._loses = False

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool) -> None:
        while data := await reader.read(PIECE):
            if not await self._may_pass(data, is_answer=is_answer):
                return
            writer.write(data)
            await writer.drain()
        with suppress(OSError, RuntimeError):
            writer.write_eof()

    async def _may_pass(self, data: bytes, *, is_answer: bool) -> bool:
        faults, counts = self._proxy.faults, self._proxy.counts
        if faults.latency or faults.bandwidth:
            await asyncio.sleep(faults.latency + (len(data) / faults.bandwidth if faults.bandwidth else 0))
        if faults.stall:
            counts.stalled += 1
            while faults.stall:  # noqa: ASYNC110 - set from another thread
                await asyncio.sleep(0.02)
        if is_answer and faults.hold_answers:
            counts.held += 1
            counts.clients.append(self._ends[0].get_extra_info("peername"))
            while faults.hold_answers:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.02)
        self._passed += len(data)
        if faults.cut_after and self._passed > faults.cut_after:
            counts.cut += 1
            return self._break()
        return self._not_lost(data, is_answer=is_answer)

    def _not_lost(self, data: bytes, *, is_answer: bool) -> bool:
        proxy = self._proxy
        if is_answer and self._loses:
            proxy.counts.lost += 1
            return self._break()
        marker = proxy.faults.lose_answer_to
        if not is_answer and marker and marker in data:
            proxy._seen += 1
            if proxy._seen == proxy.faults.lose_nth:
                self._loses, proxy.faults.lose_answer_to = True, b""
        return True

    def _break(self) -> bool:
        for end in self._ends:
            self._proxy._reset(end)
        return False
