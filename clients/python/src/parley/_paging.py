"""Lists, page by page, without a network: which page to ask for next, and when to stop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ._core import Call

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[T_co]):
    """Some objects, and for lists with a cursor where the next ones are."""

    items: list[T_co]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Plan(Generic[T]):
    """A list to walk through. ``position`` is the query parameter that moves on: ``offset`` or ``after``."""

    ask: Callable[[Mapping[str, Any]], Call[Page[T]]]
    id_of: Callable[[T], str]
    position: str
    limit: int
    max_items: int | None
    begin: int | str | None = None


class Walk(Generic[T]):
    """One walk through a list.

    It ends with a page that is not full (``offset``) or has no ``next`` (``after``), after ``max_items`` objects, and
    at a page that was there before: a server that ignores the position must not cause an endless loop.
    """

    def __init__(self, plan: Plan[T]) -> None:
        """Begin at the beginning."""
        self._plan = plan
        self._at = plan.begin
        self._left = plan.max_items
        self._asked = 0
        self._seen: set[str] = set()
        self._over = False

    def next_call(self) -> Call[Page[T]] | None:
        """The page to ask for, None at the end."""
        if self._over or (self._left is not None and self._left <= 0):
            return None
        self._asked = self._plan.limit if self._left is None else min(self._plan.limit, self._left)
        return self._plan.ask({"limit": self._asked, self._plan.position: self._at})

    def take(self, page: Page[T]) -> list[T]:
        """The objects of the page asked for, without those that had been there."""
        mark = self._plan.id_of(page.items[0]) if page.items else ""
        if not page.items or mark in self._seen:
            self._over = True
            return []
        self._seen.add(mark)
        self._move_on(page)
        items = page.items if self._left is None else page.items[: self._left]
        if self._left is not None:
            self._left -= len(items)
        return items

    def _move_on(self, page: Page[T]) -> None:
        if self._plan.position == "after":
            self._at, self._over = page.next, page.next is None
        else:
            self._at = int(self._at or 0) + len(page.items)
            self._over = len(page.items) < self._asked
