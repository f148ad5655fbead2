"""The resources of both clients. A method is one line here: its arguments and its text are those of the operation."""

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Protocol, TypeVar, Unpack, overload

from . import _models as m
from . import _operations as ops
from ._core import Call, Steps
from ._operations import InterviewFilter, TranscriptChoice
from ._paging import Plan, Walk
from ._waiting import waiting

P = ParamSpec("P")
T = TypeVar("T")

Full = m.Interview[m.InterviewData]
TextOnly = m.Interview[m.InterviewDataTextOnly]
NoTranscript = m.Interview[m.InterviewDataNoTranscript]


class Run(Protocol):
    """Carries a call, or steps, out."""

    def __call__(self, what: Call[T] | Steps[T], /) -> T:
        """Return the result."""


class AsyncRun(Protocol):
    """The same with asyncio."""

    def __call__(self, what: Call[T] | Steps[T], /) -> Coroutine[Any, Any, T]:
        """Return the result, awaited."""


class _Methods:
    """Gives methods the names they are called by, instead of those of their operations."""

    def __init_subclass__(cls) -> None:
        """Name the methods of a resource."""
        for name, method in vars(cls).items():
            if hasattr(method, "__wrapped__"):
                method.__name__, method.__qualname__ = name, f"{cls.__name__}.{name}"


class Resource(_Methods):
    """Operations on one kind of object."""

    def __init__(self, run: Run) -> None:
        """Operations are carried out by ``run``."""
        self._run = run


class AsyncResource(_Methods):
    """Operations on one kind of object, awaited."""

    def __init__(self, run: AsyncRun) -> None:
        """Operations are carried out by ``run``."""
        self._run = run


Method = TypeVar("Method", bound=Callable[..., Any])


def _named(method: Method, operation: Callable[..., Any]) -> Method:
    """Give a method the text and the parameters of its operation, for ``help()`` and for editors."""
    functools.update_wrapper(method, operation)
    written = inspect.signature(operation)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    vars(method)["__signature__"] = inspect.Signature([own, *written.parameters.values()])
    return method


def _check(method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
    """Refuse arguments that do not fit, in the words of the method that was called."""
    written = inspect.signature(method)
    try:
        written.bind(None, *args, **kwargs)
    except TypeError as wrong:
        plain = [one.replace(annotation=one.empty) for name, one in written.parameters.items() if name != "self"]
        raise TypeError(f"{method.__name__}(): {wrong}. Its arguments are {inspect.Signature(plain)}.") from None


def _sync(operation: Callable[P, Call[T]]) -> Callable[Concatenate[Resource, P], T]:
    def method(self: Resource, /, *args: P.args, **kwargs: P.kwargs) -> T:
        _check(method, *args, **kwargs)
        return self._run(operation(*args, **kwargs))

    return _named(method, operation)


def _async(operation: Callable[P, Call[T]]) -> Callable[Concatenate[AsyncResource, P], Coroutine[Any, Any, T]]:
    async def method(self: AsyncResource, /, *args: P.args, **kwargs: P.kwargs) -> T:
        _check(method, *args, **kwargs)
        return await self._run(operation(*args, **kwargs))

    return _named(method, operation)


class Listing(Generic[T]):
    """A list that is read page by page while you iterate: ``for flow in client.flows.list():``."""

    def __init__(self, run: Run, plan: Plan[T]) -> None:
        """Nothing is asked yet."""
        self._run, self._plan = run, plan

    def pages(self) -> Iterator[list[T]]:
        """The list in pages of ``limit`` objects."""
        walk = Walk(self._plan)
        while (call := walk.next_call()) is not None:
            if items := walk.take(self._run(call)):
                yield items

    def __iter__(self) -> Iterator[T]:
        """Each object; every iteration begins at the beginning."""
        for page in self.pages():
            yield from page


class AsyncListing(Generic[T]):
    """A list that is read page by page while you iterate: ``async for flow in client.flows.list():``."""

    def __init__(self, run: AsyncRun, plan: Plan[T]) -> None:
        """Nothing is asked yet."""
        self._run, self._plan = run, plan

    async def pages(self) -> AsyncIterator[list[T]]:
        """The list in pages of ``limit`` objects."""
        walk = Walk(self._plan)
        while (call := walk.next_call()) is not None:
            if items := walk.take(await self._run(call)):
                yield items

    async def __aiter__(self) -> AsyncIterator[T]:
        """Each object; every iteration begins at the beginning."""
        async for page in self.pages():
            for one in page:
                yield one


def _listed(operation: Callable[P, Plan[T]]) -> Callable[Concatenate[Resource, P], Listing[T]]:
    def method(self: Resource, /, *args: P.args, **kwargs: P.kwargs) -> Listing[T]:
        _check(method, *args, **kwargs)
        return Listing(self._run, operation(*args, **kwargs))

    return _named(method, operation)


def _async_listed(operation: Callable[P, Plan[T]]) -> Callable[Concatenate[AsyncResource, P], AsyncListing[T]]:
    def method(self: AsyncResource, /, *args: P.args, **kwargs: P.kwargs) -> AsyncListing[T]:
        _check(method, *args, **kwargs)
        return AsyncListing(self._run, operation(*args, **kwargs))

    return _named(method, operation)


class Teams(Resource):
    """Teams of the organization."""

    list = _sync(ops.list_teams)


class AsyncTeams(AsyncResource):
    """Teams of the organization."""

    list = _async(ops.list_teams)


class TeamMembers(Resource):
    """Members, whom you can assign to interviews."""

    list = _sync(ops.list_team_members)


class AsyncTeamMembers(AsyncResource):
    """Members, whom you can assign to interviews."""

    list = _async(ops.list_team_members)


class Flows(Resource):
    """Interview flows."""

    create = _sync(ops.create_interview_flow)
    retrieve = _sync(ops.get_interview_flow)
    list = _listed(ops.list_interview_flows)
    archive = _sync(ops.delete_interview_flow)
    update = _sync(ops.update_interview_flow)
    close = _sync(ops.close_interview_flow)
    reopen = _sync(ops.reopen_interview_flow)
    rotate_webhook_secret = _sync(ops.rotate_webhook_secret)
    switch_webhook_secret = _sync(ops.switch_webhook_secret)


class AsyncFlows(AsyncResource):
    """Interview flows."""

    create = _async(ops.create_interview_flow)
    retrieve = _async(ops.get_interview_flow)
    list = _async_listed(ops.list_interview_flows)
    archive = _async(ops.delete_interview_flow)
    update = _async(ops.update_interview_flow)
    close = _async(ops.close_interview_flow)
    reopen = _async(ops.reopen_interview_flow)
    rotate_webhook_secret = _async(ops.rotate_webhook_secret)
    switch_webhook_secret = _async(ops.switch_webhook_secret)


class Interviews(Resource):
    """Interviews and their results."""

    create = _sync(ops.create_interview)
    revoke_recordings = _sync(ops.delete_interview)
    cancel = _sync(ops.cancel_interview)
    link = _sync(ops.get_interview_link)
    extend = _sync(ops.extend_interview)
    score_versions = _sync(ops.list_score_versions)
    metadata = _sync(ops.get_interview_metadata)
    set_metadata = _sync(ops.set_interview_metadata)
    lookup = _sync(ops.lookup_interviews)

    @overload
    def retrieve(self, interview_id: str, *, transcript: Literal["full"] = ...) -> Full: ...

    @overload
    def retrieve(self, interview_id: str, *, transcript: Literal["text"]) -> TextOnly: ...

    @overload
    def retrieve(self, interview_id: str, *, transcript: Literal["none"]) -> NoTranscript: ...

    def retrieve(self, interview_id: str, *, transcript: TranscriptChoice = "full") -> m.Interview[Any]:
        """Read one interview. ``transcript`` chooses how much of the result you get."""
        return self._run(ops.get_interview(interview_id, transcript=transcript))

    @overload
    def list(self, *, transcript: Literal["full"] = ..., **which: Unpack[InterviewFilter]) -> Listing[Full]: ...

    @overload
    def list(self, *, transcript: Literal["text"], **which: Unpack[InterviewFilter]) -> Listing[TextOnly]: ...

    @overload
    def list(self, *, transcript: Literal["none"], **which: Unpack[InterviewFilter]) -> Listing[NoTranscript]: ...

    def list(self, *, transcript: TranscriptChoice = "full", **which: Unpack[InterviewFilter]) -> Listing[Any]:
        """Interviews, newest first. ``limit`` is the size of a page.

        An interview that is created while you read moves the pages, so that one can come twice.
        """
        return Listing(self._run, ops.list_interviews(transcript=transcript, **which))

    @overload
    def wait(
        self, interview_id: str, *, timeout: float = ..., poll: float | None = ..., transcript: Literal["full"] = ...
    ) -> Full: ...

    @overload
    def wait(
        self, interview_id: str, *, timeout: float = ..., poll: float | None = ..., transcript: Literal["text"]
    ) -> TextOnly: ...

    @overload
    def wait(
        self, interview_id: str, *, timeout: float = ..., poll: float | None = ..., transcript: Literal["none"]
    ) -> NoTranscript: ...

    def wait(
        self,
        interview_id: str,
        *,
        timeout: float = 3600.0,
        poll: float | None = None,
        transcript: TranscriptChoice = "full",
    ) -> m.Interview[Any]:
        """Read the interview until it is completed: after a second at first, every half minute in the end.

        Webhooks need no waiting; this is for scripts. ``poll`` sets a fixed number of seconds. Raises
        ``WaitTimeoutError`` after ``timeout`` seconds, and ``LinkEndedError`` if the candidate's link has expired or
        was closed, which every fifth read finds out.
        """
        steps = waiting(interview_id, timeout=timeout, poll=poll, transcript=transcript)
        told: Any = None
        while True:
            try:
                step = steps.send(told)
            except StopIteration as done:
                found: m.Interview[Any] = done.value
                return found
            told = self._run(step)


class AsyncInterviews(AsyncResource):
    """Interviews and their results."""

    create = _async(ops.create_interview)
    revoke_recordings = _async(ops.delete_interview)
    cancel = _async(ops.cancel_interview)
    link = _async(ops.get_interview_link)
    extend = _async(ops.extend_interview)
    score_versions = _async(ops.list_score_versions)
    metadata = _async(ops.get_interview_metadata)
    set_metadata = _async(ops.set_interview_metadata)
    lookup = _async(ops.lookup_interviews)

    @overload
    async def retrieve(self, interview_id: str, *, transcript: Literal["full"] = ...) -> Full: ...

    @overload
    async def retrieve(self, interview_id: str, *, transcript: Literal["text"]) -> TextOnly: ...

    @overload
    async def retrieve(self, interview_id: str, *, transcript: Literal["none"]) -> NoTranscript: ...

    async def retrieve(self, interview_id: str, *, transcript: TranscriptChoice = "full") -> m.Interview[Any]:
        """Read one interview. ``transcript`` chooses how much of the result you get."""
        return await self._run(ops.get_interview(interview_id, transcript=transcript))

    @overload
    def list(self, *, transcript: Literal["full"] = ..., **which: Unpack[InterviewFilter]) -> AsyncListing[Full]: ...

    @overload
    def list(self, *, transcript: Literal["text"], **which: Unpack[InterviewFilter]) -> AsyncListing[TextOnly]: ...

    @overload
    def list(self, *, transcript: Literal["none"], **which: Unpack[InterviewFilter]) -> AsyncListing[NoTranscript]: ...

    def list(self, *, transcript: TranscriptChoice = "full", **which: Unpack[InterviewFilter]) -> AsyncListing[Any]:
        """Interviews, newest first. ``limit`` is the size of a page.

        An interview that is created while you read moves the pages, so that one can come twice.
        """
        return AsyncListing(self._run, ops.list_interviews(transcript=transcript, **which))

    @overload
    async def wait(
        self, interview_id: str, *, timeout: float = ..., poll: float | None = ..., transcript: Literal["full"] = ...
    ) -> Full: ...

    @overload
    async def wait(
        self, interview_id: str, *, timeout: float = ..., poll: float | None = ..., transcript: Literal["text"]
    ) -> TextOnly: ...

    @overload
    async def wait(
        self, interview_id: str, *, timeout: float = ..., poll: float | None = ..., transcript: Literal["none"]
    ) -> NoTranscript: ...

    async def wait(
        self,
        interview_id: str,
        *,
        timeout: float = 3600.0,
        poll: float | None = None,
        transcript: TranscriptChoice = "full",
    ) -> m.Interview[Any]:
        """Read the interview until it is completed: after a second at first, every half minute in the end.

        Webhooks need no waiting; this is for scripts. ``poll`` sets a fixed number of seconds. Raises
        ``WaitTimeoutError`` after ``timeout`` seconds, and ``LinkEndedError`` if the candidate's link has expired or
        was closed, which every fifth read finds out.
        """
        steps = waiting(interview_id, timeout=timeout, poll=poll, transcript=transcript)
        told: Any = None
        while True:
            try:
                step = steps.send(told)
            except StopIteration as done:
                found: m.Interview[Any] = done.value
                return found
            told = await self._run(step)


class Candidates(Resource):
    """Candidates in the pipeline."""

    list = _listed(ops.list_candidates)
    retrieve = _sync(ops.get_candidate)
    move = _sync(ops.move_candidate)


class AsyncCandidates(AsyncResource):
    """Candidates in the pipeline."""

    list = _async_listed(ops.list_candidates)
    retrieve = _async(ops.get_candidate)
    move = _async(ops.move_candidate)


class Statuses(Resource):
    """Statuses of the pipeline."""

    list = _sync(ops.list_statuses)


class AsyncStatuses(AsyncResource):
    """Statuses of the pipeline."""

    list = _async(ops.list_statuses)


class WebhookEndpoints(Resource):
    """Webhook URLs."""

    list = _sync(ops.list_webhook_endpoints)
    retrieve = _sync(ops.get_webhook_endpoint)
    create = _sync(ops.create_webhook_endpoint)
    delete = _sync(ops.delete_webhook_endpoint)
    enable = _sync(ops.enable_webhook_endpoint)
    rotate_secret = _sync(ops.rotate_webhook_endpoint_secret)
    switch_secret = _sync(ops.switch_webhook_endpoint_secret)


class AsyncWebhookEndpoints(AsyncResource):
    """Webhook URLs."""

    list = _async(ops.list_webhook_endpoints)
    retrieve = _async(ops.get_webhook_endpoint)
    create = _async(ops.create_webhook_endpoint)
    delete = _async(ops.delete_webhook_endpoint)
    enable = _async(ops.enable_webhook_endpoint)
    rotate_secret = _async(ops.rotate_webhook_endpoint_secret)
    switch_secret = _async(ops.switch_webhook_endpoint_secret)


class WebhookDeliveries(Resource):
    """Events on their way to endpoints."""

    list = _listed(ops.list_webhook_deliveries)
    retrieve = _sync(ops.get_webhook_delivery)
    resend = _sync(ops.resend_webhook_delivery)
    resend_all = _sync(ops.resend_webhook_deliveries)


class AsyncWebhookDeliveries(AsyncResource):
    """Events on their way to endpoints."""

    list = _async_listed(ops.list_webhook_deliveries)
    retrieve = _async(ops.get_webhook_delivery)
    resend = _async(ops.resend_webhook_delivery)
    resend_all = _async(ops.resend_webhook_deliveries)
