"""The four ways in which the domain says no; edges translate them, each for its own audience.

No status codes here: under ``/v1`` and in the pages the same error reads differently (``app.web.errors``).
"""


def place_of(error: BaseException) -> str:
    """The last lines of code that an error went through: for logs, since its text may quote what someone typed."""
    steps, trace = [], error.__traceback__
    while trace is not None:
        steps.append(f"{trace.tb_frame.f_code.co_filename.rsplit('/app/', 1)[-1]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(steps[-8:]))


def sentence(text: str) -> str:
    """Marks a message that candidates may read, so that it is collected for translation; gives it back as it is."""
    return text


class DomainError(Exception):
    """A problem that one sentence explains to the caller.

    ``values`` fill the sentence's ``%(name)s`` places; ``template`` is the sentence without them, which is what a
    translation is looked up by.
    """

    def __init__(self, message: str, **values: object) -> None:
        self.template, self.values = message, values
        self.message = message % values if values else message
        super().__init__(self.message)


class NotFound(DomainError):
    """No such object."""


class Forbidden(DomainError):
    """The object exists and belongs to someone else, or the role does not reach this far."""


class Unseen(Forbidden, NotFound):
    """Not for this member, or not there at all: which of the two is not said. ``kind`` and ``thing_id`` are what was
    asked for; without an id access to it cannot be requested.
    """

    def __init__(self, kind: str = "", thing_id: str = "") -> None:
        super().__init__("There is nothing here, or nothing that you may see.")
        self.kind, self.thing_id = kind, thing_id


class Rejected(DomainError):
    """The input cannot be used. ``field`` names the culprit as the caller wrote it, where there is one."""

    def __init__(self, message: str, *, field: str | None = None, **values: object) -> None:
        super().__init__(message, **values)
        self.field = field


class Conflict(DomainError):
    """The request was right once, but the thing has moved on; ``details`` says where to."""

    def __init__(self, message: str, *, details: dict[str, object] | None = None, **values: object) -> None:
        super().__init__(message, **values)
        self.details = details or {}


class GatewayError(DomainError):
    """Something outside failed. ``retryable`` is decided where the failure is seen."""

    def __init__(self, message: str, *, retryable: bool, **values: object) -> None:
        super().__init__(message, **values)
        self.retryable = retryable
