"""A line between a browser and a server that counts bytes, delays them, and breaks: for `bench/line.py`."""

import asyncio
import random
import threading
import time
from contextlib import suppress

BLOCK = 65_536


class Line:
    """Passes TCP connections on to a port of this machine, at ``port``; ``sent`` holds (time, bytes up, bytes down).

    With a seed it breaks all connections now and then, for half a second to five, and holds bytes back by up to
    ``jitter`` seconds. The seed decides on both.
    """

    def __init__(self, target: int, *, seed: int | None = None, jitter: float = 0.15) -> None:
        self._target, self._jitter = target, jitter
        self._chance = None if seed is None else random.Random(seed)
        self._writers: set[asyncio.StreamWriter] = set()
        self.is_down, self.breaks = False, 0
        self.sent: list[tuple[float, int, int]] = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()

    def bytes_between(self, first: float, last: float) -> tuple[int, int]:
        """Bytes up and down in this time."""
        inside = [(up, down) for at, up, down in self.sent if first <= at < last]
        return sum(up for up, _ in inside), sum(down for _, down in inside)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = int(server.sockets[0].getsockname()[1])
        if self._chance is not None:
            self._breaking = self._loop.create_task(self._break())
        self._ready.set()
        self._loop.run_forever()
        server.close()

    async def _break(self) -> None:
        assert self._chance is not None
        while True:
            await asyncio.sleep(self._chance.uniform(8, 20))
            self.is_down = True
            self.breaks += 1
            for writer in list(self._writers):
                writer.transport.abort()
            await asyncio.sleep(self._chance.uniform(0.5, 5))
            self.is_down = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_down:
            writer.transport.abort()
            return
        with suppress(OSError):
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
            self._writers |= {writer, back}
            await asyncio.gather(self._pass(reader, back, is_up=True), self._pass(there, writer, is_up=False))
            self._writers -= {writer, back}

    async def _pass(self, source: asyncio.StreamReader, to: asyncio.StreamWriter, *, is_up: bool) -> None:
        with suppress(OSError):
            while block := await source.read(BLOCK):
                if self._chance is not None:
                    await asyncio.sleep(self._chance.uniform(0, self._jitter))
                self.sent.append((time.time(), len(block) if is_up else 0, 0 if is_up else len(block)))
                to.write(block)
                await to.drain()
        with suppress(OSError, RuntimeError):
            to.close()
