"""The four ways in which the domain says no; edges translate them, each for its own audience.

No status codes here: under ``/v1`` and in the pages the same error reads differently (``app.web.errors``).
"""


class DomainError(Exception):
    """Something that the caller can be told in one sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFound(DomainError):
    """No such object."""


class Forbidden(DomainError):
    """The object exists and belongs to someone else, or the role does not reach this far."""


class Rejected(DomainError):
    """The input cannot be used. ``field`` names the culprit as the caller wrote it, where there is one."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Conflict(DomainError):
    """The request was right once, but the thing has moved on; ``details`` says where to."""

    def __init__(self, message: str, *, details: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.details = details or {}


class GatewayError(DomainError):
    """Something outside failed. ``retryable`` is decided where the failure is seen."""

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable
