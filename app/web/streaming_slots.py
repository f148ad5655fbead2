"""Answers that last as long as their readers take, each with a thread of the server: a limited number at once."""

import threading
import weakref
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Self

from flask import current_app

from app.settings import Settings


class Place:
    """The right to hold a thread; given back by ``leave``, or when no one has it any more."""

    def __init__(self, among: "weakref.WeakSet[Place]") -> None:
        self._among = among

    def leave(self) -> None:
        """Give it back; once is enough."""
        self._among.discard(self)


class Places:
    """At most this many at once. Counts those that are still held, so that no way of losing an answer costs a place."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._taken: weakref.WeakSet[Place] = weakref.WeakSet()

    def take(self) -> Place | None:
        """A place, or None when all are taken."""
        with self._lock:
            if len(self._taken) >= self._count:
                return None
            place = Place(self._taken)
            self._taken.add(place)
        return place


def places(name: str, *, share: int) -> Places:
    """The places for answers called ``name``: one ``share``-th of the threads, at least one."""
    settings: Settings = current_app.extensions["parley.settings"]
    fresh = Places(max(1, settings.web_threads // share))
    shared: Places = current_app.extensions.setdefault(f"parley.places.{name}", fresh)
    return shared


class Lasting(Iterator[bytes]):
    """The body of such an answer. Its place is free again once it ends, fails, or is closed by the server."""

    def __init__(self, body: Generator[bytes, None, None], place: Place | None) -> None:
        self._body = body
        self._place = place
        self._first: list[bytes] = []

    def begun(self) -> Self:
        """Itself, with the first piece made: what is wrong with it is raised here, before the answer begins."""
        self._first = list(islice(self, 1))
        return self

    def __next__(self) -> bytes:
        if self._first:
            return self._first.pop()
        try:
            return next(self._body)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Called by the server when the answer is over, however it ended."""
        if self._place is not None:
            self._place.leave()
        self._body.close()
