"""Reports how an engine did: which one, how long it took, and whether it failed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

Part = Literal["recognition", "speech", "questions", "judgement", "drafts"]


class Watch(Protocol):
    """Gets every call."""

    def __call__(self, part: Part, engine: str, *, seconds: float, failed: bool) -> None: ...


def unwatched(part: Part, engine: str, *, seconds: float, failed: bool) -> None:
    """Counts nothing."""


@contextmanager
def watched(watch: Watch, part: Part, engine: str) -> Iterator[None]:
    """One call."""
    began, failed = time.perf_counter(), True
    try:
        yield
        failed = False
    finally:
        watch(part, engine, seconds=time.perf_counter() - began, failed=failed)
