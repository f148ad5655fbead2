"""The two clients. Both carry out the steps of ``_core``: ``Parley`` with threads, ``AsyncParley`` with asyncio."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2

from . import _operations as ops
from ._core import Answer, Call, Fault, Options, Send, Sleep, Steps, attempts
from ._errors import ParleyError
from ._feed import AsyncChanges, Changes
from ._resources import (
    AsyncCandidates,
    AsyncFlows,
    AsyncInterviews,
    AsyncStatuses,
    AsyncTeamMembers,
    AsyncTeams,
    AsyncWebhookDeliveries,
    AsyncWebhookEndpoints,
    Candidates,
    Flows,
    Interviews,
    Statuses,
    TeamMembers,
    Teams,
    WebhookDeliveries,
    WebhookEndpoints,
)
from ._version import __version__

T = TypeVar("T")


class _Client:
    """What both clients know: where, with which key, how patiently."""

    def __init__(self, api_key: str | None, base_url: str | None, options: Options) -> None:
        self._key = _given(api_key, "api_key", "PARLEY_API_KEY")
        self._base = _base(_given(base_url, "base_url", "PARLEY_BASE_URL"))
        self._options = options
        if options.timeout <= 0 or options.max_retries < 0 or options.deadline <= 0:
            raise ValueError("timeout and deadline are seconds above 0, and max_retries is 0 or more.")

    def _changed(self, timeout: float | None, max_retries: int | None, deadline: float | None) -> dict[str, Any]:
        given = {"timeout": timeout, "max_retries": max_retries, "deadline": deadline}
        return {name: getattr(self._options, name) if value is None else value for name, value in given.items()}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._base}>"

    def _headers(self, step: Send) -> dict[str, str]:
        own = {"Authorization": f"Bearer {self._key}", "Accept": "application/json"}
        return {**own, "User-Agent": f"parley-client-python/{__version__}", **step.headers}

    def _request(self, step: Send) -> dict[str, Any]:
        patience = httpx2.Timeout(step.timeout, connect=min(step.timeout, 10.0))
        named = {"params": step.query or None, "headers": self._headers(step), "content": step.content}
        where = {"method": step.method, "url": self._base + step.path, "follow_redirects": False}
        return {**where, "timeout": patience, **named}


def _given(value: str | None, name: str, variable: str) -> str:
    found = (os.environ.get(variable, "") if value is None else value).strip()
    if not found or not found.isascii() or not found.isprintable():
        raise ParleyError(f"Give {name}, or set the environment variable {variable}: printable ASCII, not empty.")
    return found


def _base(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        raise ParleyError(f"base_url is the URL of your Parley, such as https://parley.example.com, not {url!r}.")
    return url.rstrip("/").removesuffix("/v1")


def _fault(reason: httpx2.RequestError) -> Fault:
    return Fault(reason, isinstance(reason, httpx2.TimeoutException))


def _answer(response: httpx2.Response, body: bytes) -> Answer:
    return Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)


class Parley(_Client):
    """A client of ``/v1``. One may be shared by threads.

    ``timeout`` seconds for one attempt, ``max_retries`` more attempts, none of them later than ``deadline`` seconds
    after the first. ``http_client`` is an ``httpx2.Client`` of your own, which you close yourself.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 2,
        deadline: float = 120.0,
        http_client: httpx2.Client | None = None,
    ) -> None:
        """Read what is not given from ``PARLEY_API_KEY`` and ``PARLEY_BASE_URL``."""
        super().__init__(api_key, base_url, Options(timeout, max_retries, deadline))
        self._is_mine = http_client is None
        self._http = http_client or httpx2.Client()
        self._sleep: Callable[[float], None] = time.sleep
        self.teams = Teams(self._run)
        self.team_members = TeamMembers(self._run)
        self.flows = Flows(self._run)
        self.interviews = Interviews(self._run)
        self.candidates = Candidates(self._run)
        self.statuses = Statuses(self._run)
        self.webhook_endpoints = WebhookEndpoints(self._run)
        self.webhook_deliveries = WebhookDeliveries(self._run)

    def with_options(
        self, *, timeout: float | None = None, max_retries: int | None = None, deadline: float | None = None
    ) -> Self:
        """The same client with other options: ``client.with_options(timeout=5).ping()``."""
        chosen = self._changed(timeout, max_retries, deadline)
        return type(self)(self._key, self._base, **chosen, http_client=self._http)

    def ping(self) -> str:
        """Check the connection and the key; returns ``pong``."""
        return self._run(ops.ping())

    def changes(self, *, after: str | None = None, limit: int = 100, poll: float = 5.0, follow: bool = True) -> Changes:
        """Everything that changes, without end. Begin ``after`` a cursor that you stored, or at the beginning.

        Read ``.pages()`` and store ``next`` of each page, or iterate over single changes. ``limit`` is the size of a
        page, ``poll`` the number of seconds to the next call once there is nothing more. ``follow=False`` ends with the
        last change there is now.
        """
        return Changes(self._run, after=after, limit=limit, poll=poll, follow=follow)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Send anything, for operations that this version does not know; returns parsed JSON."""
        return self._run(ops.request(method, path, query=query, body=body, idempotency_key=idempotency_key))

    def _run(self, what: Call[T] | Steps[T]) -> T:
        steps = attempts(what, self._options) if isinstance(what, Call) else what
        outcome: Answer | Fault | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            outcome = None
            if isinstance(step, Sleep):
                self._sleep(step.seconds)
            else:
                outcome = self._send(step)

    def _send(self, step: Send) -> Answer | Fault:
        ends = time.monotonic() + step.timeout
        body = bytearray()
        try:
            with self._http.stream(**self._request(step)) as response:
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() > ends:  # a response that drips never exceeds the time between two reads
                        return Fault(httpx2.ReadTimeout("the response took too long"), timed_out=True)
                return _answer(response, bytes(body))
        except httpx2.RequestError as reason:
            return _fault(reason)

    def close(self) -> None:
        """Close the connections, unless they are those of your ``http_client``."""
        if self._is_mine:
            self._http.close()

    def __enter__(self) -> Self:
        """Close at the end of ``with``."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


class AsyncParley(_Client):
    """The same client for asyncio: every method is awaited, lists and changes are read with ``async for``."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 2,
        deadline: float = 120.0,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        """Read what is not given from ``PARLEY_API_KEY`` and ``PARLEY_BASE_URL``."""
        super().__init__(api_key, base_url, Options(timeout, max_retries, deadline))
        self._is_mine = http_client is None
        self._http = http_client or httpx2.AsyncClient()
        self._sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
        self.teams = AsyncTeams(self._run)
        self.team_members = AsyncTeamMembers(self._run)
        self.flows = AsyncFlows(self._run)
        self.interviews = AsyncInterviews(self._run)
        self.candidates = AsyncCandidates(self._run)
        self.statuses = AsyncStatuses(self._run)
        self.webhook_endpoints = AsyncWebhookEndpoints(self._run)
        self.webhook_deliveries = AsyncWebhookDeliveries(self._run)

    def with_options(
        self, *, timeout: float | None = None, max_retries: int | None = None, deadline: float | None = None
    ) -> Self:
        """The same client with other options: ``await client.with_options(timeout=5).ping()``."""
        chosen = self._changed(timeout, max_retries, deadline)
        return type(self)(self._key, self._base, **chosen, http_client=self._http)

    async def ping(self) -> str:
        """Check the connection and the key; returns ``pong``."""
        return await self._run(ops.ping())

    def changes(
        self, *, after: str | None = None, limit: int = 100, poll: float = 5.0, follow: bool = True
    ) -> AsyncChanges:
        """Everything that changes, without end. Begin ``after`` a cursor that you stored, or at the beginning.

        Read ``.pages()`` and store ``next`` of each page, or iterate over single changes. ``limit`` is the size of a
        page, ``poll`` the number of seconds to the next call once there is nothing more. ``follow=False`` ends with the
        last change there is now.
        """
        return AsyncChanges(self._run, after=after, limit=limit, poll=poll, follow=follow)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Send anything, for operations that this version does not know; returns parsed JSON."""
        return await self._run(ops.request(method, path, query=query, body=body, idempotency_key=idempotency_key))

    async def _run(self, what: Call[T] | Steps[T]) -> T:
        steps = attempts(what, self._options) if isinstance(what, Call) else what
        outcome: Answer | Fault | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            outcome = None
            if isinstance(step, Sleep):
                await self._sleep(step.seconds)
            else:
                outcome = await self._send(step)

    async def _send(self, step: Send) -> Answer | Fault:
        try:
            async with asyncio.timeout(step.timeout), self._http.stream(**self._request(step)) as response:
                return _answer(response, await response.aread())
        except TimeoutError:
            return Fault(httpx2.ReadTimeout("the response took too long"), timed_out=True)
        except httpx2.RequestError as reason:
            return _fault(reason)

    async def close(self) -> None:
        """Close the connections, unless they are those of your ``http_client``."""
        if self._is_mine:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        """Close at the end of ``async with``."""
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        """Close."""
        await self.close()
