"""One answer that a server hears over a WebSocket while it is spoken. It lives in the event loop of `live`."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from aiohttp import ClientError, ClientWebSocketResponse, WSMessage, WSMsgType, WSServerHandshakeError

from app.core.errors import GatewayError
from app.gateways.speech.engines.remote import CONNECT_SECONDS, refused
from app.gateways.speech.ports import SAMPLE_BYTES, SPEECH_RATE

log = logging.getLogger(__name__)

Event = dict[str, Any]
"""What both sides send: a JSON object."""

IDLE_SECONDS = 120.0
"""Without a piece for so long, no one speaks any more: the page was left."""
MOST_UNSENT = 60 * SPEECH_RATE * SAMPLE_BYTES
"""Bytes of sound that may wait to be sent. A server that is slower than that is not used for this answer."""
MOST_TAIL = 10 * SPEECH_RATE * SAMPLE_BYTES
"""Bytes of sound since the last commit that are kept to be searched for speech; longer sound counts as speech."""
OVERLAP = SPEECH_RATE * SAMPLE_BYTES // 2
"""Bytes of searched sound that are searched once more with what follows: a word may begin in them."""
MOST_LETTERS = 100_000
"""Letters of one answer; more of them is nonsense."""
CLOSE_SECONDS = 2.0


class _Left(GatewayError):
    """No one waits for the words any more."""

    def __init__(self) -> None:
        super().__init__("no one waits for the words any more", retryable=False)


class Dialogue(Protocol):
    """One connection's side of a protocol, without the connection. Whatever it cannot read raises GatewayError."""

    @property
    def is_ready(self) -> bool:
        """Whether the server expects sound."""
        ...

    @property
    def is_settled(self) -> bool:
        """Whether the words of everything that was committed are there."""
        ...

    @property
    def text(self) -> str:
        """All words so far."""
        ...

    def receive(self, event: Mapping[str, Any]) -> list[Event]:
        """Take one event of the server; gives what is to be sent for it."""
        ...

    def append(self, pcm: bytes) -> list[Event]:
        """What hands over the next sound (16 kHz)."""
        ...

    def close_stretch(self) -> list[Event]:
        """What asks for the words of all sound since the last time."""
        ...


class LiveAnswer:
    """Pieces are sent in order as they come. ``failure`` says why it is not heard live any more.

    Only ``failure`` and ``partial`` may be read outside the loop.
    """

    def __init__(self, server: str, dialogue: Dialogue) -> None:
        self.failure: GatewayError | None = None
        self.partial = ""
        self._server = server
        self._dialogue = dialogue
        self._line: ClientWebSocketResponse | None = None
        self._sending = asyncio.Lock()
        self._changed = asyncio.Event()
        self._first: int | None = None
        self._next = 0
        self._ahead: dict[int, bytes] = {}
        self._unsent = 0
        self._tail = bytearray()
        self._is_long = False

    def add(self, number: int, pcm: bytes) -> None:
        """Take a piece; those that come early wait for the ones before them, repeated ones are ignored."""
        if self.failure is not None:
            return
        if self._first is not None and number < self._first:
            self.fail(GatewayError("its beginning came after the pieces that follow it", retryable=True))
        elif (self._first is None or number >= self._next) and number not in self._ahead:
            self._ahead[number] = pcm
            self._unsent += len(pcm)
            if self._unsent > MOST_UNSENT:
                self._failed("takes sound more slowly than it is spoken")
        self._tell()

    def fail(self, failure: GatewayError) -> None:
        """It is not heard live any more; the first reason counts."""
        if self.failure is None:
            self.failure = failure
            log.warning("an answer is not recognized while it is spoken: %s", failure.message)
        self._forget(failure)

    def _failed(self, what: str) -> GatewayError:
        """Fail at once: who waits for words must not see those that came with the failure."""
        error = GatewayError(f"{self._server} {what}", retryable=True)
        self.fail(error)
        return error

    def _forget(self, reason: GatewayError) -> None:
        self.failure = self.failure or reason
        self._ahead.clear()
        self._tail.clear()
        self._tell()

    async def run(self, connect: Callable[[], Awaitable[ClientWebSocketResponse]]) -> None:
        """Open the connection and use it until it fails or this is cancelled."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                self._line = await connect()
            await self._talk(self._line)
        except _Left as error:
            self._forget(error)
        except GatewayError as error:
            self.fail(error)
        except WSServerHandshakeError as error:
            self.fail(refused(self._server, error.status))
        except (ClientError, OSError, ValueError):  # a TimeoutError is an OSError
            self._failed("cannot be reached")
        finally:
            self._forget(_Left())
            await self._hang_up()

    async def pending(self, *, first: int | None, last: int) -> bytes:
        """Wait until the pieces up to ``last`` are sent; gives the sound since the last commit.

        Raises GatewayError where one of them is missing, or where they do not begin with ``first`` (None: anywhere).
        """
        begins = self._first if self._first is not None else min(self._ahead, default=None)
        numbers = range(self._next if self._first is not None else begins or 0, last + 1)
        is_whole = begins is not None and all(number in self._ahead for number in numbers)
        is_more = bool(self._ahead) and max(self._ahead) > last
        if first is not None:
            is_whole = is_whole and begins == first and self._next <= last + 1 and not is_more
        if self.failure is None and not is_whole:
            raise GatewayError("pieces of the answer are missing", retryable=True)
        await self._until(lambda: self._first is not None and self._next > last)
        return bytes(self._tail)

    async def settle(self, *, speaks: bool, searched: int) -> str:
        """All words, after a commit if someone ``speaks`` in what is ``pending``, ``searched`` bytes of sound."""
        if speaks or self._is_long:
            await self._send(self._close_stretch)
        else:
            del self._tail[: max(0, searched - OVERLAP)]
        await self._until(lambda: self._dialogue.is_settled)
        return self._dialogue.text

    async def _hang_up(self) -> None:
        with contextlib.suppress(TimeoutError, ClientError, OSError):
            async with asyncio.timeout(CLOSE_SECONDS):  # beyond it the connection is cut
                if self._line is not None:
                    await self._line.close()

    async def _talk(self, line: ClientWebSocketResponse) -> None:
        tasks = [asyncio.create_task(self._listen(line)), asyncio.create_task(self._speak())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, line: ClientWebSocketResponse) -> None:
        async for message in line:
            try:
                replies = self._dialogue.receive(_read(message))
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
                raise self._failed("sent an unreadable event") from error
            except GatewayError as error:
                self.fail(error)
                raise
            if replies:
                await self._send(replies.copy)
            self.partial = self._dialogue.text
            if len(self.partial) > MOST_LETTERS:
                raise self._failed(f"sent more than {MOST_LETTERS} letters")
            self._tell()
        raise self._failed("closed the connection")

    async def _speak(self) -> None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._until(lambda: self._dialogue.is_ready)
        except TimeoutError as error:
            raise self._failed("did not begin to listen") from error
        self._first = self._next = min(self._ahead)
        while True:
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._until(lambda: self._next in self._ahead)
            except TimeoutError as error:
                raise _Left from error
            await self._send(self._piece)
            self._tell()

    def _piece(self) -> list[Event]:
        pcm = self._ahead.pop(self._next)
        self._unsent -= len(pcm)
        self._next += 1
        if len(self._tail) < MOST_TAIL:
            self._tail += pcm
        else:
            self._is_long = True
        return self._dialogue.append(pcm)

    def _close_stretch(self) -> list[Event]:
        self._tail.clear()
        self._is_long = False
        return self._dialogue.close_stretch()

    async def _send(self, events: Callable[[], list[Event]]) -> None:
        """Send together what belongs together. Where this waits for the server, ``_unsent`` grows."""
        async with self._sending:
            if self._line is None:
                raise self._failed("is not connected")
            try:
                for event in events():
                    await self._line.send_json(event)
            except (ClientError, OSError) as error:
                raise self._failed("closed the connection") from error

    async def _until(self, holds: Callable[[], bool]) -> None:
        while self.failure is None and not holds():
            await self._changed.wait()
        if self.failure is not None:
            raise self.failure

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _read(message: WSMessage) -> Event:
    event = json.loads(message.data) if message.type is WSMsgType.TEXT else None
    if not isinstance(event, dict):
        raise TypeError("no JSON object")
    return event
