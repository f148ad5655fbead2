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
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from app.core import clock

P = ParamSpec("P")
R = TypeVar("R")

EVERYONE, NO_ONE = "everyone", ""

_whose: ContextVar[str] = ContextVar("whose", default=NO_ONE)
_TOLD, _OPENED_AT = "parley.organization", "parley.opened_at"


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


def stand(engine: Engine, *, opens_at_checkout: bool) -> None:
    """Set it up on an engine of PostgreSQL.

    With ``opens_at_checkout``, a connection that the pool hands out has begun its transaction, and chosen. That takes
    one round trip where the driver, SQLAlchemy's check of the connection and this module need three. Without it, a
    connection can be switched to autocommit, as migrations do.
    """
    if opens_at_checkout:
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "checkout", _on_checkout)
    event.listen(engine, "begin", _on_begin if opens_at_checkout else _begun)
    event.listen(engine, "before_cursor_execute", _on_execute)
    for end in ("commit", "rollback"):
        event.listen(engine, end, _ended)


def tell(info: dict[Any, Any], driver: Any) -> None:
    """Tell the database the current choice before a statement. ``info`` is that of the pool's connection."""
    from psycopg.pq import TransactionStatus  # the driver is loaded only where PostgreSQL is used

    whose = _whose.get()
    # A failed transaction accepts nothing but its end.
    if info.get(_TOLD) != whose and driver.pgconn.transaction_status != TransactionStatus.INERROR:
        with driver.cursor() as own:
            own.execute("SELECT set_config('parley.organization', %s, true), clock_timestamp()", (whose,))
            row = own.fetchone()
        info[_TOLD] = whose
        if row is not None:
            clock.begun(row[1])


def _on_connect(driver: Any, _record: object) -> None:
    driver.autocommit = True  # the driver begins no transactions: ``_open`` does


def _on_checkout(driver: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
    """Where the server is gone, the pool discards its connections and opens a new one, as with ``pool_pre_ping``."""
    from psycopg import Error

    try:
        _open(record.info, driver)
    except Error:
        if driver.closed:
            raise InvalidatePoolError from None
        raise


def _open(info: dict[Any, Any], driver: Any) -> None:
    from psycopg.sql import SQL

    whose = _whose.get()
    opening = SQL("BEGIN; SELECT set_config('parley.organization', {}, true), clock_timestamp()")
    with driver.cursor() as own:
        own.execute(opening.format(whose))
        own.nextset()
        row = own.fetchone()
    info[_TOLD], info[_OPENED_AT] = whose, row[1]


def _on_begin(connection: Connection) -> None:
    """The first transaction of a connection was begun when the pool handed it out, a later one was not."""
    from psycopg.pq import TransactionStatus

    driver: Any = connection.connection.driver_connection
    if driver.pgconn.transaction_status == TransactionStatus.IDLE:
        _open(connection.info, driver)
    clock.begun(connection.info[_OPENED_AT])


def _begun(connection: Connection) -> None:
    connection.info[_TOLD] = NO_ONE  # the previous value ended with its transaction


def _ended(_connection: Connection) -> None:
    clock.ended()


def _on_execute(connection: Connection, cursor: Any, statement: str, *_given: Any) -> None:
    if statement.startswith("ROLLBACK TO"):
        connection.info[_TOLD] = None  # the database goes back to the value before the SAVEPOINT
        return
    tell(connection.info, cursor.connection)
