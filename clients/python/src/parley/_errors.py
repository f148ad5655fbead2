"""What can go wrong, as types: no response, a response that cannot be read, or a response that refuses."""

from collections.abc import Mapping
from typing import Any


class ParleyError(Exception):
    """Base of all errors of this package."""

    idempotency_key: str | None = None
    """The key the POST was sent with: repeat the call with it, and nothing is created twice."""


class APIConnectionError(ParleyError):
    """No response came. If the request had left, the server may have carried it out."""


class APITimeoutError(APIConnectionError):
    """The response took longer than ``timeout``."""


class UnexpectedResponseError(ParleyError):
    """A response that is not Parley's, such as a proxy's page."""


class WaitTimeoutError(ParleyError):
    """The interview was not completed within the time given to ``wait``."""


class LinkEndedError(ParleyError):
    """The candidate's link has expired or was closed before the interview was taken, so ``wait`` ends early."""

    def __init__(self, interview_id: str, state: str) -> None:
        """``state`` is ``expired`` or ``closed``."""
        super().__init__(f"Interview {interview_id} will not be completed: its link is {state}.")
        self.state = state


class APIStatusError(ParleyError):
    """The server refused. ``message`` says why and what to do; ``error`` is the code for programs."""

    def __init__(self, code: int, body: Any, headers: Mapping[str, str]) -> None:
        """Read what the server sent; ``body`` is its JSON, or None if there was none."""
        told = body if isinstance(body, dict) else {}
        self.code = code
        self.status = str(told.get("status", ""))
        self.message = str(told.get("message") or f"The server responded with {code} and no message.")
        self.errors: dict[str, Any] = told.get("errors") or {}
        self.error = headers.get("x-parley-error")
        self.request_id = headers.get("x-request-id")
        self.retry_after: float | None = None
        super().__init__(code, self.message)

    def __str__(self) -> str:
        """Everything a log needs: ``422 not_found: No interview has this id. (request 4f2a)``."""
        request = f" (request {self.request_id})" if self.request_id else ""
        name = self.error or self.status
        return f"{self.code}{' ' * bool(name)}{name}: {self.message}{request}"

    @property
    def is_missing(self) -> bool:
        """Whether no object has the id you gave. The API responds with 422 then, not with 404."""
        return self.error == "not_found"


class BadRequestError(APIStatusError):
    """400: the request cannot be read."""


class AuthenticationError(APIStatusError):
    """401: the API key is missing, unknown, expired or revoked."""


class PermissionDeniedError(APIStatusError):
    """403: the object belongs to another organization, or the key may not do this."""


class NotFoundError(APIStatusError):
    """404: no such URL. An unknown id is ``InvalidInputError`` with ``is_missing``."""


class ConflictError(APIStatusError):
    """409: the state of the object does not allow it."""


class GoneError(APIStatusError):
    """410: the cursor of the changes is too old. Start again without one."""


class BodyTooLargeError(APIStatusError):
    """413: the body is too large."""


class InvalidInputError(APIStatusError):
    """422: ``errors`` names the fields, ``is_missing`` says that there is no such object."""


class RateLimitError(APIStatusError):
    """429: too many calls. ``retry_after`` is the number of seconds to wait."""


class ServerError(APIStatusError):
    """5xx: the server, or something it needs, failed."""


_BY_CODE: dict[int, type[APIStatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    413: BodyTooLargeError,
    422: InvalidInputError,
    429: RateLimitError,
}


def status_error(code: int, body: Any, headers: Mapping[str, str]) -> APIStatusError:
    """The error of a response, in the type of its status code."""
    kind = ServerError if code >= 500 else _BY_CODE.get(code, APIStatusError)
    return kind(code, body, headers)
