"""What rooms declare about themselves. Everything is named by its path, so that declaring it loads nothing.

A room is a package directly under ``app/`` whose ``__init__`` has a ``ROOM``; its parts are packages inside it
that have one of their own.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from datetime import datetime

    from app.core.erasure_journal import Kept


HOUSE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Job:
    """A job's name in queues and metrics, its function, its queue, the seconds that a run may take, and what finds its
    due ids.

    The name stays for good: a worker of another release has to know it.
    """

    name: str
    function: str
    queue: str
    seconds: int
    overdue: str = ""

    @property
    def key(self) -> str:
        """What RQ is given as the name of a function."""
        return f"app.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Paths of blueprints, of ``/v1`` blueprints, of modules with further views, of models and of functions that the
    worker calls every few seconds; the room's jobs; and the names of its parts."""

    blueprints: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    """Modules whose views hang on a blueprint of another module."""
    api: tuple[str, ...] = ()
    openapi: str = ""
    """A function that adds to the OpenAPI document."""
    tables: str = ""
    jobs: tuple[Job, ...] = ()
    sweeps: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    outbox: str = ""
    """The module that keeps events for customers until they are delivered: an ``Outbox``."""
    erasures: str = ""
    """The module that knows what was erased, and does it again after a restore: ``Erasures``."""


@cache
def rooms() -> dict[str, Room]:
    """Every room and part of a room by its path, in alphabetical order."""
    found: dict[str, Room] = {}
    for module in pkgutil.iter_modules([str(HOUSE)], "app."):
        if module.ispkg:
            found.update(_declared(module.name))
    return found


def _declared(package: str) -> Iterator[tuple[str, Room]]:
    room = getattr(import_module(package), "ROOM", None)
    if isinstance(room, Room):
        yield package, room
        for part in room.parts:
            yield from _declared(f"{package}.{part}")


def jobs() -> dict[str, Job]:
    """Every job of the product by its key."""
    return {job.key: job for room in rooms().values() for job in room.jobs}


def sweeps() -> tuple[str, ...]:
    """Paths of all functions that the worker calls every few seconds."""
    return tuple(path for room in rooms().values() for path in room.sweeps)


def load_tables() -> None:
    """Make every table known to SQLAlchemy."""
    for room in rooms().values():
        if room.tables:
            import_module(room.tables)


class Outbox(Protocol):
    """What rooms below the outbox tell it."""

    def announce(
        self,
        flow: Any,
        *,
        event_type: str,
        payload: dict[str, Any],
        subject: str,
        sequence: int,
        after: str | None = None,
        is_test: bool = False,
    ) -> object: ...

    def cancel(self, subject: str, event_type: str) -> None: ...

    def forget(self, subject: str) -> int: ...


class Erasures(Protocol):
    """What commands that bring data back need of it."""

    def acts(self, *, since: datetime | None = None) -> list[Kept]: ...

    def repeat(self, acts: Iterable[Kept], storage: Any) -> dict[str, int]: ...


def outbox() -> Outbox:
    """Where events go. Rooms that change something do not know who tells customers about it."""
    return cast("Outbox", _only(room.outbox for room in rooms().values()))


def erasures() -> Erasures:
    """What was erased, revoked or withdrawn, and how it is done again."""
    return cast("Erasures", _only(room.erasures for room in rooms().values()))


def _only(paths: Iterable[str]) -> object:
    (path,) = filter(None, paths)
    return import_module(path)


def resolve(path: str) -> Any:
    """What a declaration names. Raises ImportError or AttributeError."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
