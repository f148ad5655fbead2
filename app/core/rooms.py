"""What rooms declare about themselves. Everything is named by its path, so that declaring it loads nothing.

A room is a package directly under ``app/`` whose ``__init__`` has a ``ROOM``. Its parts are packages inside it that
have a ``ROOM`` too.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Iterable, Iterator
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
    """A job: its name in queues and metrics, function, queue, longest run in seconds, and the function for its due ids.

    The name never changes: workers of other releases have to know it.
    """

    name: str
    function: str
    queue: str
    seconds: int
    overdue: str = ""

    @property
    def key(self) -> str:
        """The name of the function for RQ."""
        return f"app.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A room's declaration: paths of blueprints, ``/v1`` blueprints, modules with more views, models and sweeps
    (functions that the worker calls every few seconds); its jobs; and the names of its parts.
    """

    blueprints: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    """Modules whose views belong to a blueprint of another module."""
    api: tuple[str, ...] = ()
    openapi: str = ""
    """A function that adds to the OpenAPI document."""
    tables: str = ""
    jobs: tuple[Job, ...] = ()
    sweeps: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    outbox: str = ""
    """The module that stores events for customers until they are delivered: an ``Outbox``."""
    erasures: str = ""
    """The module that knows what was erased and repeats it after a restore: ``Erasures``."""
    ratings: str = ""
    """The module that knows how members rated candidates: ``Ratings``."""
    scores: str = ""
    """The module that knows which version of a result's scores is in force: ``Scores``."""


@cache
def rooms() -> dict[str, Room]:
    """All rooms and parts by their paths, in alphabetical order."""
    declared: dict[str, Room] = {}
    for module in pkgutil.iter_modules([str(HOUSE)], "app."):
        if module.ispkg:
            declared.update(_declared(module.name))
    return declared


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
    """How rooms below the outbox announce events."""

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
    """What a restore needs to repeat erasures."""

    def acts(self, *, since: datetime | None = None) -> list[Kept]: ...

    def repeat(self, acts: Iterable[Kept], storage: Any) -> dict[str, int]: ...


class Ratings(Protocol):
    """What a decision record says about the member who decided."""

    def own_ratings(self, member_id: str, candidate_ids: Collection[str]) -> dict[str, float]: ...


class Scores(Protocol):
    """What a decision record says about the scores that the member saw."""

    def versions_in_force(self, candidate_ids: Collection[str]) -> dict[str, int]: ...


def outbox() -> Outbox:
    """The outbox. Rooms that change something do not know which room sends events to customers."""
    return cast("Outbox", _only(room.outbox for room in rooms().values()))


def erasures() -> Erasures:
    """What was erased, revoked or withdrawn, and how to repeat it."""
    return cast("Erasures", _only(room.erasures for room in rooms().values()))


def ratings() -> Ratings:
    """How members rated candidates. Moves of candidates are in a room below the one with the ratings."""
    return cast("Ratings", _only(room.ratings for room in rooms().values()))


def scores() -> Scores:
    """The versions of scores. Moves of candidates are in a room below the one with the results."""
    return cast("Scores", _only(room.scores for room in rooms().values()))


def _only(paths: Iterable[str]) -> object:
    (path,) = filter(None, paths)
    return import_module(path)


def resolve(path: str) -> Any:
    """Load what a declared path names. Raises ImportError or AttributeError."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
