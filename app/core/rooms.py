"""What rooms declare about themselves. Everything is named by its path, so that declaring it loads nothing.

A room is a package directly under ``app/`` whose ``__init__`` has a ``ROOM``. Its parts are packages inside it that
have a ``ROOM`` too.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

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


@dataclass(frozen=True, slots=True)
class ChangeKind:
    """A kind of object in the feed of changes: its name in ``/v1``; a function that takes the organization's id and
    ids of objects, and returns those that are there by id, as ``/v1`` shows them; and their schema.

    Processes that do not know a kind skip its rows: a new one needs its rows moved to the end of the feed once all
    processes know it.
    """

    name: str
    shown: str
    schema: str


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
    changes: tuple[ChangeKind, ...] = ()
    parts: tuple[str, ...] = ()
    outbox: str = ""
    """The module that stores events for customers until they are delivered: an ``Outbox``."""
    erasures: str = ""
    """The module that knows what was erased and repeats it after a restore: ``Erasures``."""
    ratings: str = ""
    """The module that knows how members rated candidates: ``Ratings``."""
    rate_first: str = ""
    """The module that knows which scores a member does not see yet: ``RateFirst``."""
    scores: str = ""
    """The module that knows which version of a result's scores is in force: ``Scores``."""
    external_ids: str = ""
    """The module that knows the ids of interviews in customers' systems: ``ExternalIds``."""
    notices: str = ""
    """The module that tells members, Slack and Teams what happened: ``Notices``."""
    flows: str = ""
    """The module that knows flows by their titles: ``Flows``."""
    decision_mail: str = ""
    """The module that writes to candidates about decisions: ``DecisionMail``."""


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


def change_kinds() -> dict[str, ChangeKind]:
    """Every kind of object in the feed of changes, by its name."""
    return {kind.name: kind for room in rooms().values() for kind in room.changes}


def load_tables() -> None:
    """Make every table known to SQLAlchemy."""
    for room in rooms().values():
        if room.tables:
            import_module(room.tables)


class Event(NamedTuple):
    """One event for a customer, about one ``subject`` of a flow; ``sequence`` is its place among that subject's."""

    flow: Any
    payload: dict[str, Any]
    subject: str
    sequence: int
    is_test: bool = False


class Outbox(Protocol):
    """How rooms below the outbox announce events."""

    def listens_to_all(self, organization_id: str) -> bool:
        """Whether events of flows without a URL of their own are sent too."""

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

    def announce_all(self, events: Sequence[Event], *, event_type: str) -> int: ...

    def cancel(self, subject: str, event_type: str) -> None: ...

    def forget(self, subject: str) -> int: ...


class Erasures(Protocol):
    """What a restore needs to repeat erasures."""

    def acts(self, *, since: datetime | None = None) -> list[Kept]: ...

    def repeat(self, acts: Iterable[Kept], storage: Any) -> dict[str, int]: ...


class Ratings(Protocol):
    """What a decision record says about the member who decided; and the condition that they rated an interview."""

    def own_ratings(self, member_id: str, candidate_ids: Collection[str]) -> dict[str, float]: ...

    def rated_by(self, member_id: str) -> Any: ...


class RateFirst(Protocol):
    """Which scores are hidden from a member until they have rated. Flows are loaded already."""

    def asks_in_lists(self, member: Any, flow_id: str = "") -> bool: ...

    def is_hidden_from(self, member: Any) -> Any: ...

    def hidden_interviews(self, member: Any, interviews: Iterable[Any]) -> frozenset[str]: ...

    def hidden_candidates(self, member: Any, candidates: Iterable[Any]) -> frozenset[str]: ...


class InForce(NamedTuple):
    """The versions in force of a result: of its scores, and of the criteria that they are of, if there were any."""

    scores: int
    criteria: int | None


class Scores(Protocol):
    """The scores that decision records and the list of candidates name."""

    def versions_in_force(self, candidate_ids: Collection[str]) -> dict[str, InForce]: ...

    def scores_in_force(self, candidate_ids: Collection[str]) -> dict[str, dict[str, float | None]]: ...


class ExternalIds(Protocol):
    """What customers' systems call interviews. Ids of other things are left out."""

    def external_ids(self, interview_ids: Collection[str]) -> dict[str, str]: ...


class Notices(Protocol):
    """How rooms below announce what members want to know."""

    def announce(
        self,
        kind: str,
        *,
        organization_id: str,
        key: str,
        interview_id: str | None = None,
        request_id: str | None = None,
        endpoint_id: str | None = None,
        step: str | None = None,
    ) -> None: ...


class FlowLabel(NamedTuple):
    """A flow as one names it."""

    id: str
    title: str
    team_id: str


class Flows(Protocol):
    """The flows that an API key can be limited to: those with these ids, or else the newest that are not archived."""

    def labels_of(self, organization_id: str, *, ids: Collection[str] | None = None) -> list[FlowLabel]: ...


class DecisionMail(Protocol):
    """How a move takes back mail that is no longer true."""

    def withdraw(self, candidate_ids: Collection[str]) -> int: ...


def outbox() -> Outbox:
    """The outbox. Rooms that change something do not know which room sends events to customers."""
    return cast("Outbox", _only(room.outbox for room in rooms().values()))


def erasures() -> Erasures:
    """What was erased, revoked or withdrawn, and how to repeat it."""
    return cast("Erasures", _only(room.erasures for room in rooms().values()))


def ratings() -> Ratings:
    """How members rated candidates. Moves of candidates are in a room below the one with the ratings."""
    return cast("Ratings", _only(room.ratings for room in rooms().values()))


def rate_first() -> RateFirst:
    """Which scores are hidden. The lists and figures of lower rooms do not know who has rated."""
    return cast("RateFirst", _only(room.rate_first for room in rooms().values()))


def scores() -> Scores:
    """The versions of scores. Moves of candidates are in a room below the one with the results."""
    return cast("Scores", _only(room.scores for room in rooms().values()))


def external_ids() -> ExternalIds:
    """Ids in customers' systems. Webhooks are in a room below the one with the interviews."""
    return cast("ExternalIds", _only(room.external_ids for room in rooms().values()))


def notices() -> Notices:
    """Notices to members. Rooms in which something happens do not know who wants to know it."""
    return cast("Notices", _only(room.notices for room in rooms().values()))


def flows() -> Flows:
    """The flows of an organization. API keys are in a room below the one with the flows."""
    return cast("Flows", _only(room.flows for room in rooms().values()))


def decision_mail() -> DecisionMail:
    """Mail about decisions. Moves of candidates are in a room below the one with the mail."""
    return cast("DecisionMail", _only(room.decision_mail for room in rooms().values()))


def _only(paths: Iterable[str]) -> object:
    (path,) = filter(None, paths)
    return import_module(path)


def resolve(path: str) -> Any:
    """Load what a declared path names. Raises ImportError or AttributeError."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
