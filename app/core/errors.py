"""The errors that actions and queries raise. Edges translate them for their own readers.

There are no status codes here: ``/v1`` and pages answer the same error differently (``app.web.errors``).
"""


def place_of(error: BaseException) -> str:
    """The last places in the code that an error passed, for logs: its text may quote what someone typed."""
    steps, trace = [], error.__traceback__
    while trace is not None:
        steps.append(f"{trace.tb_frame.f_code.co_filename.rsplit('/app/', 1)[-1]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(steps[-8:]))


def sentence(text: str) -> str:
    """Mark a message that candidates may read, so that it is collected for translation. Returns it unchanged."""
    return text


class DomainError(Exception):
    """A problem that one sentence explains to the caller.

    ``values`` fill the sentence's ``%(name)s`` placeholders. ``template`` is the sentence with placeholders, by which
    translations are looked up. ``code`` is for programs that call ``/v1``; without one, the kind of the error decides.
    """

    def __init__(self, message: str, *, code: str = "", **values: object) -> None:
        self.template, self.values, self.code = message, values, code
        self.message = message % values if values else message
        super().__init__(self.message)


class NotFound(DomainError):
    """No such object."""


class Forbidden(DomainError):
    """The object exists but belongs to someone else, or the role does not allow this."""


class Unseen(Forbidden, NotFound):
    """The object does not exist or the member may not see it; the error does not reveal which.

    ``kind`` and ``thing_id`` name what was requested. Without an id, access cannot be requested.
    """

    def __init__(self, kind: str = "", thing_id: str = "") -> None:
        super().__init__("There is nothing here, or you do not have access to it.")
        self.kind, self.thing_id = kind, thing_id


class Rejected(DomainError):
    """The input cannot be used. ``field`` is the name of the field at fault as the caller wrote it, if there is one.

    ``also`` are further fields that the same sentence is about.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        also: tuple[str, ...] = (),
        code: str = "",
        **values: object,
    ) -> None:
        super().__init__(message, code=code, **values)
        self.field = field
        self.also = also


class Conflict(DomainError):
    """The object is no longer in a state that allows the request. ``details`` says which state it is in."""

    def __init__(
        self, message: str, *, details: dict[str, object] | None = None, code: str = "", **values: object
    ) -> None:
        super().__init__(message, code=code, **values)
        self.details = details or {}


class Gone(DomainError):
    """What was asked for was there once, and is not kept any more."""


class GatewayError(DomainError):
    """Something outside Parley failed. The gateway decides whether it is ``retryable``."""

    def __init__(self, message: str, *, retryable: bool, code: str = "", **values: object) -> None:
        super().__init__(message, code=code, **values)
        self.retryable = retryable
