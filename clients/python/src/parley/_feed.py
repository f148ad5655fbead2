"""The feed of changes: pages or single changes without end, which you can stop and resume."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

from . import _models as m
from . import _operations as ops
from ._core import Call


class _Feed:
    def __init__(self, after: str | None, limit: int, poll: float, *, follow: bool) -> None:
        self.cursor = after
        """Where to resume if you read single changes: after the last page of which you have had every change.

        It moves on when you ask for the first change of the next page, so in a quiet organization it can stay None
        for a long time. ``pages`` gives you each cursor at once.
        """
        self._limit, self._poll, self._follow = limit, poll, follow

    def _next(self) -> Call[m.ChangesPage]:
        return ops.list_changes(after=self.cursor, limit=self._limit)


class Changes(_Feed):
    """Iterate over ``pages()``, or over each ``Change``. After an error, iterate again: it continues at ``cursor``."""

    def __init__(
        self,
        run: Callable[[Call[m.ChangesPage]], m.ChangesPage],
        *,
        after: str | None,
        limit: int,
        poll: float,
        follow: bool,
    ) -> None:
        """Begin ``after`` a cursor; ask every ``poll`` seconds once there is nothing more."""
        super().__init__(after, limit, poll, follow=follow)
        self._run = run
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the iteration, from any thread, also while it waits."""
        self._stopped.set()

    def pages(self) -> Iterator[m.ChangesPage]:
        """Yield pages, and wait for more. Handle the ``changes`` of each, then store its ``next``.

        An empty page comes after each poll that finds nothing: its ``next`` is younger and keeps your cursor alive.
        """
        while not self._stopped.is_set():
            page = self._run(self._next())
            yield page
            self.cursor = page.next
            if not page.has_more and (not self._follow or self._stopped.wait(self._poll)):
                return

    def __iter__(self) -> Iterator[m.Change]:
        """Yield changes, and wait for more."""
        for page in self.pages():
            for change in page.changes:
                if self._stopped.is_set():
                    return
                yield change


class AsyncChanges(_Feed):
    """Iterate with ``async for``, over ``pages()`` or over each ``Change``. After an error, iterate again."""

    def __init__(
        self,
        run: Callable[[Call[m.ChangesPage]], Coroutine[Any, Any, m.ChangesPage]],
        *,
        after: str | None,
        limit: int,
        poll: float,
        follow: bool,
    ) -> None:
        """Begin ``after`` a cursor; ask every ``poll`` seconds once there is nothing more."""
        super().__init__(after, limit, poll, follow=follow)
        self._run = run
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """End the iteration, also while it waits. Call it in the thread of the event loop."""
        self._stopped.set()

    async def pages(self) -> AsyncGenerator[m.ChangesPage, None]:
        """Yield pages, and wait for more. Handle the ``changes`` of each, then store its ``next``.

        An empty page comes after each poll that finds nothing: its ``next`` is younger and keeps your cursor alive.
        """
        while not self._stopped.is_set():
            page = await self._run(self._next())
            yield page
            self.cursor = page.next
            if page.has_more:
                continue
            if not self._follow:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), self._poll)

    async def __aiter__(self) -> AsyncIterator[m.Change]:
        """Yield changes, and wait for more."""
        async with contextlib.aclosing(self.pages()) as pages:
            async for page in pages:
                for change in page.changes:
                    if self._stopped.is_set():
                        return
                    yield change
