"""How web and worker processes ask the speech host: one connection per process, made when first needed, and again.

Where the host cannot be reached, nothing is offered, and the next engine of the ordered list serves.
"""

import os
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from app.core.errors import GatewayError
from app.gateways.speech.engines.exchange import ChildFailed, ChildLost, Exchange, HostAway
from app.gateways.speech.host.offers import Offers, from_plain
from app.gateways.speech.host.wire import Address, HostSettings, NotOurs, address_of, connected, key_of

SOON = 0.2
"""Seconds that a process waits for its first connection."""
PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two tries to connect; doubled with each that fails."""
PING_PATIENCE = 2.0

News = Callable[..., None]


class _Link(Exchange):
    """One connection, made in its own thread; messages that are posted before it stands wait for it."""

    def __init__(self, address: Address, key: bytes, *, tell: Callable[..., None]) -> None:
        super().__init__(on_news=tell)
        self.born = time.monotonic()
        self.offers: Offers = {}
        self.abilities: frozenset[str] = frozenset()
        self.is_settled = threading.Event()
        """Set as soon as the host has said what it offers, or cannot be reached."""
        self.has_stood = False
        threading.Thread(target=self._run, args=(address, key), name="speech-link", daemon=True).start()

    def _run(self, address: Address, key: bytes) -> None:
        try:
            connection = connected(address, key)
        except (OSError, EOFError, NotOurs):
            self.give_up()
            self.is_settled.set()
            return
        self.serve(connection, name="speech-link")
        self.is_settled.set()

    def _tell(self, news: tuple[Any, ...]) -> None:
        name, kind, *rest = news
        if name or kind != "offers":
            super()._tell(news)
            return
        self.offers = from_plain(rest[0])
        self.abilities = frozenset(rest[1] if rest[1:] else ())  # a host of an earlier release says none
        self.has_stood = True
        self.is_settled.set()

    def _problem(self, problem: Any) -> Exception:
        kind, sentence = problem
        if kind == "lost":
            return HostAway(sentence)
        return GatewayError(sentence, retryable=True) if kind == "busy" else ChildFailed(sentence)

    def _out_of_time(self, message: tuple[Any, ...], timeout: float) -> None:
        del timeout
        self.post(message[0], "stuck")
        if self.ask("", "ping", timeout=PING_PATIENCE) is None:  # the host itself hangs
            self.lost = True
            self.hang_up()


class SpeechHost:
    """The host as one process sees it. Cheap; nothing is connected before the first question."""

    def __init__(self, settings: HostSettings) -> None:
        self._address, self._key = address_of(settings), key_of(settings)
        self._listeners: dict[str, list[News]] = defaultdict(list)
        self._known: Offers = {}
        self._link: _Link | None = None
        self._pause = PAUSE
        self._is_closed = False
        self._lock = threading.Lock()
        _owners.add(self)

    def engine(self, name: str, *, on_news: News | None = None) -> "Line":
        """The engine of this name; `on_news` gets what it tells without being asked, and must be quick."""
        if on_news is not None:
            self._listeners[name].append(on_news)
        return Line(self, name)

    def state(self, *, wait: float = SOON) -> Offers:
        """What the host offers by engine and language, as last heard; nothing where it cannot be reached.

        Waits for the first answer of a new connection, `wait` seconds at most.
        """
        link = self.link()
        if not link.is_settled.is_set():
            link.is_settled.wait(max(0.0, wait - (time.monotonic() - link.born)))
        if not link.is_settled.is_set():
            return self._known
        self._known = {} if link.lost else link.offers
        return self._known

    @property
    def abilities(self) -> frozenset[str]:
        """What the engines of the host can do besides what every release's can (``engines/abilities.py``)."""
        link = self._link
        return link.abilities if link is not None and not link.lost else frozenset()

    @property
    def is_reached(self) -> bool:
        """Whether the newest connection stands."""
        link = self._link
        return link is not None and link.has_stood and not link.lost

    def link(self) -> _Link:
        """The connection, or the newest try to make one."""
        with self._lock:
            link = self._link
            if link is None or (link.lost and not self._is_closed and time.monotonic() >= link.born + self._pause):
                if link is not None:
                    has_worked = link.has_stood
                    self._pause = PAUSE if has_worked else min(self._pause * 2, LONGEST_PAUSE)
                self._link = link = _Link(self._address, self._key, tell=self._tell)
            return link

    def close(self) -> None:
        """Let go of the host, which goes on."""
        with self._lock:
            self._is_closed = True
            link = self._link
        if link is not None:
            link.hang_up()

    def after_fork(self) -> None:
        """In a forked process: the connection is the parent's, what it has heard is known here too."""
        link = self._link
        if link is not None:
            self._known = {} if link.lost else link.offers
            _inherited.append(link)
            link.forget()
        self._lock, self._link, self._pause = threading.Lock(), None, PAUSE

    def _tell(self, name: str, *news: Any) -> None:
        for listener in self._listeners[name]:
            listener(*news)


class Line:
    """One engine of the host, asked as a child process of our own would be."""

    def __init__(self, host: SpeechHost, name: str) -> None:
        self._host, self.name = host, name

    @property
    def connection(self) -> object:
        """Changes with each new connection: the host may then have forgotten what it was sent before."""
        return self._host.link()

    @property
    def pending_bytes(self) -> int:
        """Bytes that wait to be sent."""
        return self._host.link().pending_bytes

    def call(self, *message: Any, timeout: float) -> Any:
        """Send and wait for the answer.

        Raises ChildFailed where the engine refuses, HostAway where it cannot be reached, and another retryable
        GatewayError where it has too much to do or does not respond in time.
        """
        try:
            return self._host.link().call(self.name, *message, timeout=timeout)
        except ChildLost:
            raise HostAway from None

    def ask(self, *message: Any, timeout: float) -> Any:
        """Like call, for what may be done without: None where there is no answer in time."""
        return self._host.link().ask(self.name, *message, timeout=timeout)

    def post(self, *message: Any, size: int = 0) -> None:
        """Send without waiting; never blocks, and is lost where the host cannot be reached."""
        link = self._host.link()
        if not link.lost:
            link.post(self.name, *message, size=size)


_owners: weakref.WeakSet[SpeechHost] = weakref.WeakSet()
_inherited: list[_Link] = []  # kept, so that no one waits for threads of another process


def _forget_all() -> None:
    for owner in list(_owners):
        owner.after_fork()


os.register_at_fork(after_in_child=_forget_all)
