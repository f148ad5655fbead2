"""The speech host: owns one process per engine and lets the clients of this machine ask them.

A client's question is `(number, engine, kind, *args)`; it goes to the engine's process as it is, without the engine's
name. Problems are `(kind, sentence)`. News of an utterance go to the clients that have fed it.
"""

import contextlib
import fcntl
import logging
import queue
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from app.gateways.speech.engines.abilities import ABILITIES
from app.gateways.speech.engines.children import Child, ChildLost
from app.gateways.speech.engines.exchange import plain, shut
from app.gateways.speech.host.offers import Offers, as_plain
from app.gateways.speech.host.wire import (
    MOST_BYTES,
    Address,
    HostSettings,
    NotOurs,
    accepted,
    address_of,
    key_of,
    listener,
    private_folder,
)

log = logging.getLogger(__name__)

LOOKS_EVERY = 5.0
"""Seconds between two looks at which models are there."""
MOST_CLIENTS = 256
MOST_WAITING = 128
"""Questions to one engine at a time; more are refused, and the client's next engine serves."""
MOST_UNSENT = 64_000_000
"""Bytes that may wait for one engine; pieces beyond it are dropped, and that answer is recognised as a whole."""
MOST_FOLLOWED = 4_096
"""Utterances whose news are sent on."""
SHORT_LIFE, SHORT_LIVES, REST = 20.0, 3, 60.0
"""Seconds. An engine whose process ends this soon this many times in a row rests, and is not offered meanwhile."""
STUCK_AFTER = 120.0
"""Seconds without any answer after which an engine is ended, if a client has waited in vain: a large model takes long
for a long answer."""
STANDS_BY = 1.0

Look = Callable[[], Offers]
Answered = Callable[[tuple[str, str] | None, Any], None]


class Client:
    """One connected process: its own sending thread, so that a slow one holds up no engine."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._outbox: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        threading.Thread(target=self._send, name="speech-client", daemon=True).start()

    def answer(self, number: int, problem: tuple[str, str] | None, result: Any) -> None:
        """Answer a question."""
        self._outbox.put((number, problem, result))

    def tell(self, *news: Any) -> None:
        """Something that it did not ask for."""
        self._outbox.put((None, None, news))

    def messages(self) -> Iterator[tuple[Any, ...]]:
        """What it sends, until it goes."""
        try:
            while True:
                yield plain(self._connection.recv_bytes(MOST_BYTES))
        finally:
            self.close()

    def close(self) -> None:
        """Let go of it."""
        self._outbox.put(None)
        shut(self._connection)

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            while (message := self._outbox.get()) is not None:
                self._connection.send(message)
        shut(self._connection)
        self._connection.close()


class Engine:
    """One engine: its process, started when first needed and replaced when lost, and how that went lately."""

    def __init__(self, program: Path, *, on_news: Callable[..., None]) -> None:
        self._program, self._on_news = program, on_news
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._short_lives = 0
        self._rests_until = 0.0
        self._is_closed = False
        self._stuck: Child | None = None
        self.unfit = ""

    @property
    def is_offered(self) -> bool:
        """Whether it is worth asking: not while it rests, and not on a machine that it has called unfit."""
        with self._lock:
            self._bury()
        return not self.unfit and time.monotonic() >= self._rests_until

    @property
    def pid(self) -> int:
        """Of its process; 0 while there is none."""
        child = self._child
        return child.pid if child is not None and not child.lost else 0

    def child(self) -> Child:
        """The running process. Raises ChildLost while the engine rests or the host stops."""
        with self._lock:
            self._bury()
            if self._is_closed or time.monotonic() < self._rests_until:
                raise ChildLost
            if self._child is None:
                self._child = Child(self._program, on_news=self._on_news)
            return self._child

    def ask(self, message: tuple[Any, ...], then: Answered) -> None:
        """Answer with what the process says; once more in a new one where the first is lost, but not for hanging."""
        self._ask(message, then, tries=2)

    def post(self, message: tuple[Any, ...]) -> None:
        """A message without an answer."""
        with contextlib.suppress(ChildLost):
            child, size = self.child(), _size(message)
            if child.pending_bytes + size <= MOST_UNSENT:
                child.post(*message, size=size)

    def end_if_stuck(self, timeout: float) -> None:
        """End a process from which nothing has come for so long."""
        if (child := self._child) is not None and child.is_silent_for(timeout):
            self._stuck = child
            child.end_if_stuck(timeout)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._is_closed = True
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def _ask(self, message: tuple[Any, ...], then: Answered, *, tries: int) -> None:
        try:
            child = self.child()
        except ChildLost:
            then(("lost", "this speech engine cannot be started now"), None)
            return
        size = _size(message)
        if child.load >= MOST_WAITING or child.pending_bytes + size > MOST_UNSENT:
            then(("busy", "this speech engine has too much to do; try again"), None)
            return

        def answered(answer: "Future[Any]") -> None:
            error = answer.exception()  # nosemgrep: traceback-in-log - a Future's; nothing is logged here
            if isinstance(error, ChildLost) and tries > 1 and child is not self._stuck:
                self._ask(message, then, tries=tries - 1)
            elif isinstance(error, ChildLost):
                then(("lost", "this speech engine stopped unexpectedly twice; try again"), None)
            else:
                then(None if error is None else ("failed", str(error)), None if error else answer.result())

        child.later(*message, size=size).add_done_callback(answered)

    def _bury(self) -> None:
        child = self._child
        if child is None or not child.lost:
            return
        self._child = None
        self._short_lives = self._short_lives + 1 if time.monotonic() - child.born < SHORT_LIFE else 0
        log.warning("speech engine %s ended unexpectedly", self._program.stem)
        if self._short_lives >= SHORT_LIVES:
            self._short_lives, self._rests_until = 0, time.monotonic() + REST
            log.error("speech engine %s keeps stopping; it is paused for %.0f s", self._program.stem, REST)


class Host:
    """Serves clients at an address until it is closed."""

    def __init__(self, address: Address, key: bytes, *, programs: Mapping[str, Path], look: Look) -> None:
        self.address, self._key, self._look = address, key, look
        self._engines = {name: Engine(program, on_news=self._news_of(name)) for name, program in programs.items()}
        self._clients: set[Client] = set()
        self._followed: OrderedDict[tuple[str, Any], set[Client]] = OrderedDict()
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._offers: Offers = self._looked()
        self._listening = listener(address)
        threading.Thread(target=self._accept, name="speech-accepts", daemon=True).start()
        threading.Thread(target=self._keep_looking, name="speech-looks", daemon=True).start()

    def pids(self) -> dict[str, int]:
        """Process ids of the engines that run."""
        return {name: pid for name, engine in self._engines.items() if (pid := engine.pid)}

    def close(self) -> None:
        """Let go of the clients and end the engines."""
        self._is_over.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listening.close()
        if self.address.path is not None:
            self.address.path.unlink(missing_ok=True)
        for client in list(self._clients):
            client.close()
        for engine in self._engines.values():
            engine.close()

    def wait_for_clients(self, seconds: float) -> None:
        """Until the last client has gone, at most `seconds`."""
        until = time.monotonic() + seconds
        while self._clients and time.monotonic() < until:
            time.sleep(0.1)

    def look_again(self) -> None:
        """See which models are there now, and tell the clients where that has changed."""
        offers = self._looked()
        with self._lock:
            is_news = offers != self._offers
            self._offers = offers
            clients = list(self._clients) if is_news else []
        for client in clients:
            client.tell("", "offers", as_plain(offers), ABILITIES)

    def _looked(self) -> Offers:
        try:
            offers = self._look()
        except Exception as error:  # noqa: BLE001 - a disk that fails takes no running engine away
            log.warning("models could not be checked: %s", type(error).__name__)
            return getattr(self, "_offers", {})
        return {name: languages for name, languages in offers.items() if self._is_offered(name)}

    def _is_offered(self, name: str) -> bool:
        engine = self._engines.get(name)
        return engine is not None and engine.is_offered

    def _keep_looking(self) -> None:
        while not self._is_over.wait(LOOKS_EVERY):
            self.look_again()

    def _accept(self) -> None:
        while not self._is_over.is_set():
            try:
                line, _ = self._listening.accept()
            except OSError:
                if self._is_over.wait(0.1):
                    return
                continue
            if len(self._clients) >= MOST_CLIENTS:
                line.close()
                continue
            threading.Thread(target=self._serve, args=(line,), name="speech-serves", daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        try:
            connection = accepted(line, self._key)
        except (OSError, EOFError, NotOurs) as error:
            log.warning("a client of the speech host was refused: %s", error or type(error).__name__)
            return
        client = Client(connection)
        with self._lock:
            self._clients.add(client)
            client.tell("", "offers", as_plain(self._offers), ABILITIES)
        try:
            for number, name, *message in client.messages():
                self._take(client, (number, name), tuple(message))
        except Exception as error:  # noqa: BLE001 - it has gone, or sends what no client of Parley sends
            if not isinstance(error, EOFError | OSError):
                log.warning("a client of the speech host sent no message: %s", type(error).__name__)
        finally:
            client.close()
            with self._lock:
                self._clients.discard(client)

    def _take(self, client: Client, place: tuple[int | None, str], message: tuple[Any, ...]) -> None:
        number, name = place
        engine = self._engines.get(name)
        if number is None:
            if engine is not None:
                self._post(client, name, message)
        elif engine is not None:
            engine.ask(message, lambda problem, result: client.answer(number, problem, result))
        elif message == ("ping",):
            client.answer(number, None, True)  # noqa: FBT003 - the answer
        else:
            client.answer(number, ("lost", f"this speech host has no engine {name}"), None)

    def _post(self, client: Client, name: str, message: tuple[Any, ...]) -> None:
        engine = self._engines[name]
        if message == ("stuck",):
            engine.end_if_stuck(STUCK_AFTER)
            return
        self._follow(client, name, message)
        engine.post(message)

    def _follow(self, client: Client, name: str, message: tuple[Any, ...]) -> None:
        """Send news of this utterance to whom has fed it."""
        if message[0] not in {"open", "feed"}:
            return
        place = name, message[1]
        with self._lock:
            self._followed.setdefault(place, set()).add(client)
            self._followed.move_to_end(place)
            if len(self._followed) > MOST_FOLLOWED:
                self._followed.popitem(last=False)

    def _news_of(self, name: str) -> Callable[..., None]:
        def on_news(kind: str, *news: Any) -> None:
            if kind == "unfit":
                self._engines[name].unfit = str(news[0])
                log.warning("speech engine %s cannot serve on this machine: %s", name, news[0])
                self.look_again()
                return
            with self._lock:
                clients = list(self._followed.get((name, news[0] if news else None), ()))
            for client in clients:
                client.tell(name, kind, *news)

        return on_news


def _size(message: tuple[Any, ...]) -> int:
    return sum(len(part) for part in message if isinstance(part, bytes))


@contextmanager
def only_host(address: Address, *, is_over: Callable[[], bool], say: Callable[[str], None]) -> Iterator[bool]:
    """Be the only host at a Unix socket: wait for the one before to end. False where it is over before that.

    The lock ends with its process, however that ends. At an address with a port the port itself is the lock.
    """
    folder = private_folder(address)
    if folder is None or address.path is None:
        yield True
        return
    with address.path.with_suffix(".lock").open("a") as file:
        has_said = False
        while not is_over():
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if not has_said:
                    say(f"Another speech host serves {address}; this one takes over when it ends.")
                has_said = True
                time.sleep(STANDS_BY)
                continue
            yield True
            return
        yield False


def host_for(settings: HostSettings, *, programs: Mapping[str, Path], look: Look) -> Host:
    """A host where these settings want one. Raises OSError where it cannot listen there."""
    address = address_of(settings)
    private_folder(address)
    return Host(address, key_of(settings), programs=programs, look=look)
