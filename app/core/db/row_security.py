"""Whose rows the current work may touch, for PostgreSQL's row-level security.

The policies (``migrations/``) use the parameter ``parley.organization``: one organization's id, the word "everyone",
or nothing if nothing was chosen, which hides all rows. It is set before a transaction's first statement, for that
transaction only, and again when something else is chosen. The same statement reads the database's time
(``app.core.clock``). SQLite has no row-level security.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from app.core import clock

P = ParamSpec("P")
R = TypeVar("R")

EVERYONE, NO_ONE = "everyone", ""

_whose: ContextVar[str] = ContextVar("whose", default=NO_ONE)
_TOLD = "parley.organization"


@contextmanager
def _chosen(whose: str) -> Iterator[None]:
    before = _whose.get()
    _whose.set(whose)
    try:
        yield
    finally:
        _whose.set(before)


def everyone() -> AbstractContextManager[None]:
    """A block that may touch the rows of all organizations: guards before the caller is known, jobs, commands."""
    return _chosen(EVERYONE)


def only(organization_id: str) -> AbstractContextManager[None]:
    """A block that may touch the rows of one organization."""
    return _chosen(organization_id)


def finding() -> AbstractContextManager[None]:
    """A block that looks up whose work this is: among the rows already chosen, or else among everyone's."""
    return _chosen(_whose.get() or EVERYONE)


def settle(organization_id: str) -> None:
    """Choose the organization that was looked up, unless something was chosen before."""
    choose(_whose.get() or organization_id)


def choose(whose: str) -> None:
    """Choose the rows of one organization, or of ``EVERYONE``: for guards, whose block is the request."""
    _whose.set(whose)


def chosen() -> str:
    """The current choice, so that an edge that cannot use a block can go back to it."""
    return _whose.get()


def as_chosen(work: Callable[P, R]) -> Callable[P, R]:
    """``work`` with the current choice, wherever it is called: in another thread, or after the request."""
    whose = _whose.get()

    @functools.wraps(work)
    def done(*args: P.args, **kwargs: P.kwargs) -> R:
        with _chosen(whose):
            return work(*args, **kwargs)

    return done


def stand(engine: Engine) -> None:
    """Set it up on an engine of PostgreSQL."""
    event.listen(engine, "begin", _begun)
    event.listen(engine, "before_cursor_execute", _tell)
    for end in ("commit", "rollback"):
        event.listen(engine, end, _ended)


def _begun(connection: Connection) -> None:
    connection.info[_TOLD] = NO_ONE  # the previous value ended with its transaction


def _ended(_connection: Connection) -> None:
    clock.ended()


def _tell(connection: Connection, cursor: Any, statement: str, *_given: Any) -> None:
    from psycopg.pq import TransactionStatus  # the driver is loaded only where PostgreSQL is used

    whose = _whose.get()
    if statement.startswith("ROLLBACK TO"):
        connection.info[_TOLD] = None  # the database goes back to the value before the SAVEPOINT
        return
    # A failed transaction accepts nothing but its end.
    if connection.info.get(_TOLD) != whose and cursor.connection.info.transaction_status != TransactionStatus.INERROR:
        with cursor.connection.cursor() as own:
            own.execute("SELECT set_config('parley.organization', %s, true), clock_timestamp()", (whose,))
            row = own.fetchone()
        connection.info[_TOLD] = whose
        if row is not None:
            clock.begun(row[1])
