"""Counts what a piece of work cost at a language model: calls that were answered, and the tokens the server reports."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Used:
    """Answered calls, and tokens read and written; servers that report none leave them at 0."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, other: "Used") -> None:
        """The costs of another piece of work as well."""
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens


_counting: ContextVar[Used | None] = ContextVar("language model usage", default=None)


@contextmanager
def counted() -> Iterator[Used]:
    """Count all calls of the block, in this thread."""
    used = Used()
    token = _counting.set(used)
    try:
        yield used
    finally:
        _counting.reset(token)


def count(*, input_tokens: int, output_tokens: int) -> None:
    """One answered call."""
    used = _counting.get()
    if used is not None:
        used.calls += 1
        used.input_tokens += input_tokens
        used.output_tokens += output_tokens
