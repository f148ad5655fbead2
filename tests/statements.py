"""Which statements a block sends."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from app.core.db import db


@contextmanager
def sent() -> Iterator[list[str]]:
    """The statements that go through the engine inside the block, in order; prepared ones of SQLite go past it."""
    statements: list[str] = []

    def note(*given: Any) -> None:
        statements.append(given[2])

    sa.event.listen(db.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(db.engine, "before_cursor_execute", note)
