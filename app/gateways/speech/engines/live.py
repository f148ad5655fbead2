"""Answers that a server hears while they are spoken, each over its own connection, beside its plain transcription.

Live words are for the talk alone: they come sooner, without times. The record is made of the whole answer by the plain
transcription, which also serves wherever live hearing fails.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from requests.utils import get_environ_proxies, select_proxy

from app.core.errors import GatewayError
from app.gateways.speech.engines.remote import Slow
from app.gateways.speech.engines.whole_answers import WholeAnswers
from app.gateways.speech.ports import SAMPLE_BYTES, SPEECH_RATE, Heard
from app.gateways.speech.silence import has_speech

if TYPE_CHECKING:
    from aiohttp import ClientSession, ClientWebSocketResponse

    from app.gateways.speech.engines.live_answer import Dialogue, LiveAnswer

Result = TypeVar("Result")

LAST_WORDS = 4.0
"""Seconds to wait for the last words of an answer; after that it is transcribed whole."""
MOST_OPEN = 200
"""Connections at once; answers beyond that are transcribed whole."""
MOST_KNOWN = 1_024
"""Answers that are remembered, with those that failed."""
MOST_MESSAGE = 1_000_000
"""Bytes of one message from the server."""
PIECE = SPEECH_RATE * SAMPLE_BYTES // 2


class Dialect(Protocol):
    """A protocol for live recognition, and the server that speaks it."""

    @property
    def server(self) -> str:
        """The server in messages."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """What proves to the server who asks."""
        ...

    def url(self, language: str) -> str:
        """Where to connect for a language."""
        ...

    def dialogue(self, language: str) -> "Dialogue":
        """A new connection's side of the protocol."""
        ...


class LiveAnswers:
    """All answers that are heard live now. One event loop in one thread serves them, from the first piece on."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, tuple[LiveAnswer, asyncio.Task[None] | None]] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._session: ClientSession | None = None
        self._is_closed = False

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        """Send a piece; the first one opens the connection. Never blocks, never raises."""
        with self._lock:
            if not self._is_closed:
                self._running().call_soon_threadsafe(partial(self._add, key, number, pcm, language=language))

    def words(self, key: str, *, first: int | None, last: int, seconds: float) -> str:
        """The words of the pieces up to ``last``, waited for that long. Raises GatewayError where they are not known.

        With ``first``, these pieces have to be the whole answer.
        """
        until = time.monotonic() + seconds
        if self._loop is None:
            raise GatewayError("the answer is not heard live", retryable=True)
        answer = self._result(self._found(key), until)
        sound = self._result(answer.pending(first=first, last=last), until)
        speaks = has_speech([sound], least=0.0)
        return self._result(answer.settle(speaks=speaks, searched=len(sound)), until)

    def partial(self, key: str) -> str | None:
        """The words so far, if there are any."""
        answer, _ = self._answers.get(key, (None, None))
        return (answer.partial or None) if answer is not None and answer.failure is None else None

    def drop(self, key: str) -> None:
        """End the connection of an answer."""
        with self._lock:
            if self._loop is not None and not self._is_closed:
                self._loop.call_soon_threadsafe(self._forget, key)

    def close(self) -> None:
        """End all connections and the thread."""
        with self._lock:
            self._is_closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        self._loop = self._thread = None

    async def _found(self, key: str) -> "LiveAnswer":
        """In the loop, so that all pieces that were fed before are there."""
        if key not in self._answers:
            raise GatewayError("the answer is not heard live", retryable=True)
        return self._answers[key][0]

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="hears live", daemon=True)
            self._thread.start()
        return self._loop

    def _result(self, work: Coroutine[Any, Any, Result], until: float) -> Result:
        loop = self._loop
        if loop is None or self._is_closed:
            work.close()
            raise GatewayError("the recognizer is closed", retryable=True)
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(max(0.0, until - time.monotonic()))
        except TimeoutError as error:
            future.cancel()
            raise Slow(f"{self._dialect.server} did not give the words in time") from error

    # --- in the loop ----------------------------------------------------------------------------------------------

    def _add(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        if key not in self._answers:
            self._answers[key] = self._begun(language)
            while len(self._answers) > MOST_KNOWN:
                self._forget(next(iter(self._answers)))
        answer, task = self._answers[key]
        answer.add(number, pcm)
        if answer.failure is not None and task is not None:
            task.cancel()

    def _begun(self, language: str) -> "tuple[LiveAnswer, asyncio.Task[None] | None]":
        from app.gateways.speech.engines.live_answer import LiveAnswer  # aiohttp loads with the first answer

        answer = LiveAnswer(self._dialect.server, self._dialect.dialogue(language))
        if sum(one.failure is None for one, _ in self._answers.values()) >= MOST_OPEN:
            answer.fail(GatewayError(f"more than {MOST_OPEN} answers are spoken at once", retryable=True))
            return answer, None
        return answer, asyncio.get_running_loop().create_task(answer.run(lambda: self._connected(language)))

    async def _connected(self, language: str) -> "ClientWebSocketResponse":
        from aiohttp import ClientWSTimeout

        if self._session is None:
            self._session = _session()
        url = self._dialect.url(language)
        return await self._session.ws_connect(
            url,
            headers=self._dialect.headers,
            proxy=select_proxy(url, get_environ_proxies(url)),
            timeout=ClientWSTimeout(ws_close=1.0),
            max_msg_size=MOST_MESSAGE,
        )

    def _forget(self, key: str) -> None:
        _, task = self._answers.pop(key, (None, None))
        if task is not None:
            task.cancel()

    async def _shut(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()


def _session() -> "ClientSession":
    """Follows no redirect: it would hand sound and key to another server."""
    from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TraceConfig

    async def refuse(*_: object) -> None:
        raise ClientError("the server redirects")

    trace = TraceConfig()
    trace.on_request_redirect.append(refuse)
    return ClientSession(cookie_jar=DummyCookieJar(), timeout=ClientTimeout(total=None), trace_configs=[trace])


class HeardLive(WholeAnswers):
    """A service that transcribes whole answers, and hears them while they are spoken where it has a ``dialect``."""

    name = ""

    def __init__(self, dialect: Dialect | None) -> None:
        self._live = LiveAnswers(dialect) if dialect is not None else None

    @property
    def hears_live(self) -> bool:
        """Whether answers are sent while they are spoken."""
        return self._live is not None

    def improves(self, language: str) -> bool:
        """Live words have no times and are heard in haste; the whole answer is transcribed for the record."""
        return self.hears_live and self.supports(language)

    def supports(self, language: str) -> bool:
        """What each service says for itself."""
        raise NotImplementedError

    def feed(self, key: str, number: int, pcm: bytes, *, language: str) -> None:
        if self._live is not None:
            self._live.feed(key, number, pcm, language=language)

    def peek(self, key: str, *, last: int, language: str, seconds: float, begun: bytes = b"") -> str | None:
        del language
        return None if begun else _known(lambda: self._live_words(key, first=None, last=last, seconds=seconds))

    def finish(self, key: str, *, first: int, last: int, language: str, pcm: Callable[[], bytes]) -> Heard:
        """The live words, or those of the whole answer where there are none: a word may have been missed."""
        text = _known(lambda: self._live_words(key, first=first, last=last, seconds=LAST_WORDS))
        self.drop(key)
        if text:
            return Heard(text, (), self.name)
        return super().finish(key, first=first, last=last, language=language, pcm=pcm)

    def partial(self, key: str) -> str | None:
        return self._live.partial(key) if self._live is not None else None

    def drop(self, key: str) -> None:
        if self._live is not None:
            self._live.drop(key)

    def close(self) -> None:
        """Close the connections."""
        if self._live is not None:
            self._live.close()

    def hear_live(self, pcm: bytes, *, language: str, seconds: float) -> str:
        """Hear sound (16 kHz) as if it were spoken now, for a test of the server. Raises GatewayError."""
        pieces = [pcm[start : start + PIECE] for start in range(0, len(pcm), PIECE)]
        for number, piece in enumerate(pieces):
            self.feed("test", number, piece, language=language)
        try:
            return self._live_words("test", first=0, last=len(pieces) - 1, seconds=seconds)
        finally:
            self.drop("test")

    def _live_words(self, key: str, *, first: int | None, last: int, seconds: float) -> str:
        if self._live is None:
            raise GatewayError("answers are not heard live", retryable=False)
        return self._live.words(key, first=first, last=last, seconds=seconds)


def _known(words: Callable[[], str]) -> str | None:
    try:
        return words()
    except GatewayError:
        return None
