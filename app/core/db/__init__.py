"""The database, SQLite or PostgreSQL: engine, transactions, constraint names, and the column types all rooms use.

Nothing outside this module, its parts, ``claims`` and ``migrations/`` knows which of
the two is running.
"""

import enum
import functools
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Annotated, Any

import sqlalchemy as sa
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.engine import Connection, Dialect, Engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, mapped_column, registry
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.sql.functions import FunctionElement

from app.core import clock
from app.core.db import row_security
from app.core.db.write_queue import Line, Queued
from app.core.errors import DomainError, Forbidden, NotFound

_reading: ContextVar[bool] = ContextVar("reading", default=False)

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PAST_THE_SESSION = {"synchronize_session": False}
BUSY_SECONDS = 30
"""Seconds that SQLite waits for its one writer before it gives up."""


class Moment(sa.types.TypeDecorator[datetime]):
    """A moment in UTC. SQLite stores no time zone, so writing removes it and reading adds it again."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment needs a time zone")
        in_utc = value.astimezone(UTC)
        return in_utc.replace(tzinfo=None) if dialect.name == "sqlite" else in_utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


_metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Base(DeclarativeBase):
    """Base class of all rows. Constraints have names, so that migrations can change them on both databases."""

    registry = registry(
        metadata=_metadata,
        type_annotation_map={datetime: Moment(), dict[str, Any]: sa.JSON(), list[str]: sa.JSON()},
    )
    metadata = _metadata


def contains(word: str, *columns: Any) -> sa.ColumnElement[bool]:
    """Whether any of the texts contains the word, in upper or lower case; on SQLite this holds for ASCII letters."""
    # LIKE of SQLite ignores case by itself, and takes half as long without lower().
    is_sqlite = db.engine.dialect.name == "sqlite"
    return sa.or_(*((one.contains if is_sqlite else one.icontains)(word, autoescape=True) for one in columns))


class seconds_between(FunctionElement[float]):  # noqa: N801 - used like a function of SQL
    """Seconds from one moment to another; NULL if either is. SQLite counts in whole milliseconds."""

    type = sa.Float()
    inherit_cache = True


@compiles(seconds_between, "postgresql")
def _seconds_on_postgresql(element: seconds_between, compiler: SQLCompiler, **options: Any) -> str:
    start, end = (compiler.process(one, **options) for one in element.clauses)
    return f"CAST(EXTRACT(EPOCH FROM {end} - {start}) AS DOUBLE PRECISION)"


@compiles(seconds_between, "sqlite")
def _seconds_on_sqlite(element: seconds_between, compiler: SQLCompiler, **options: Any) -> str:
    start, end = (compiler.process(one, **options) for one in element.clauses)
    return f"ROUND((JULIANDAY({end}) - JULIANDAY({start})) * 86400, 3)"


class month_of(FunctionElement[str]):  # noqa: N801 - used like a function of SQL
    """The month of a moment in UTC, as ``2026-01``."""

    type = sa.String()
    inherit_cache = True


@compiles(month_of, "postgresql")
def _month_on_postgresql(element: month_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"TO_CHAR({compiler.process(element.clauses, **options)} AT TIME ZONE 'UTC', 'YYYY-MM')"


@compiles(month_of, "sqlite")
def _month_on_sqlite(element: month_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"STRFTIME('%Y-%m', {compiler.process(element.clauses, **options)})"


def new_id() -> str:
    """A random UUID version 4 in lower case. Ids appear in URLs and responses, so they must not be guessable."""
    return str(uuid.uuid4())


def is_id(text: str) -> bool:
    """Whether this has the form of an id. Other text never reaches the database: PostgreSQL fails on a NUL."""
    return _ID.fullmatch(text) is not None


def unless_there(table: sa.Table) -> Insert:
    """An INSERT that skips rows which exist already; ``rowcount`` is the number of new ones."""
    # The syntax is the same on both databases, so SQLAlchemy's form for PostgreSQL serves both.
    return insert(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)


def one_of(states: type[enum.StrEnum], *, name: str = "") -> sa.Enum:
    """Column type for a fixed set of words: text with a CHECK constraint, on both databases.

    The constraint is called ``name``, or else like the class: a renamed class keeps its constraint's name.
    """
    return sa.Enum(
        states,
        native_enum=False,
        create_constraint=True,
        length=32,
        name=name or states.__name__.lower(),
        values_callable=lambda members: [member.value for member in members],
    )


Id = Annotated[str, mapped_column(sa.String(36), primary_key=True, default=new_id)]
Ref = Annotated[str, mapped_column(sa.String(36))]
CreatedAt = Annotated[datetime, mapped_column(Moment(), default=clock.now)]

Job = Callable[[str], None]


class Database(SQLAlchemy):
    """Flask-SQLAlchemy, with methods for statements that change rows without the session."""

    def changed(self, statement: sa.Update | sa.Delete) -> int:
        """Run an UPDATE or DELETE without RETURNING; returns how many rows it changed.

        Objects in memory keep their old values: refresh or expire those that you still use.
        """
        result: Any = self.session.execute(statement, execution_options=_PAST_THE_SESSION)
        return int(result.rowcount)

    def is_in_transaction(self) -> bool:
        """Whether this context has begun a transaction. The check does not begin one."""
        return self.session.registry.has() and self.session().in_transaction()

    def end_reading(self) -> None:
        """End the transaction of a read, if there is one."""
        if self.session.registry.has():
            self.session.rollback()

    # In quotation marks, because semgrep cannot read the star and would skip the file.
    def changed_rows(self, statement: "ReturningUpdate[*tuple[Any, ...]]") -> Sequence[sa.Row[Any]]:
        """Run an UPDATE with RETURNING; returns the named columns of every changed row."""
        return self.session.execute(statement, execution_options=_PAST_THE_SESSION).all()


db = Database(model_class=Base, session_options={"join_transaction_mode": "create_savepoint"})


def unseen(model: type[Any], row_id: str, missing: NotFound, *, foreign: str) -> DomainError:
    """The error for a row that was not found: ``missing``, or Forbidden if it belongs to another organization.

    Row security hides the difference, so this reads past it, but only whether the row exists.
    """
    if (
        row_security.chosen() == row_security.EVERYONE
        or db.session.get_bind().dialect.name == "sqlite"
        or not is_id(row_id)
    ):
        return missing
    with row_security.everyone():
        exists = db.session.scalar(sa.select(model.id).where(model.id == row_id)) is not None
    return Forbidden(foreign, code="other_organization") if exists else missing


def for_one(model: type[Any]) -> Callable[[Job], Job]:
    """Decorate the job of one row: it sees only the rows of that row's organization.

    The organization is that of the row, or of its interview.
    """

    def narrowed(job: Job) -> Job:
        @functools.wraps(job)
        def done(row_id: str) -> None:
            with row_security.only(_owner(model, row_id) or row_security.chosen()):
                job(row_id)

        return done

    return narrowed


def _owner(model: type[Any], row_id: str) -> str | None:
    if row_security.chosen() != row_security.EVERYONE or db.engine.dialect.name == "sqlite":
        return None
    table, interview = model.__table__, Base.metadata.tables["interview"]
    owned = table if "organization_id" in table.c else table.join(interview)
    query = sa.select(owned.c.organization_id if owned is table else interview.c.organization_id).select_from(owned)
    owner = db.session.scalar(query.where(table.c.id == row_id))
    db.session.rollback()
    return owner


@contextmanager
def reading() -> Iterator[None]:
    """Begin transactions as readers: on SQLite these never wait for the one writer."""
    token = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(token)


def is_reading() -> bool:
    """Whether transactions currently begin as readers."""
    return _reading.get()


def set_reading(value: bool) -> None:  # noqa: FBT001 - one switch, named by the function
    """As ``reading``, for an edge that cannot use a block: it sets this for a request and resets it afterwards."""
    _reading.set(value)


def engine_options(url: str, *, is_serving: bool = False) -> dict[str, Any]:
    """Pool and driver settings for ``url``. Errors quote no values, because they end up in logs.

    ``is_serving`` must be the same for ``prepare``.
    """
    if url.startswith("sqlite"):
        # The latest connection first: its pages are still in memory.
        return {
            "pool_size": 64,
            "max_overflow": 64,
            "pool_use_lifo": True,
            "hide_parameters": True,
            "connect_args": {"timeout": BUSY_SECONDS, "isolation_level": None, "factory": Queued},
        }
    from app.core.db import timeouts  # the driver is loaded only when it is needed

    return {
        "pool_size": 20,
        "max_overflow": 20,
        "pool_timeout": 3,
        "pool_pre_ping": not is_serving,  # beginning the transaction checks the connection
        "hide_parameters": True,
        "connect_args": timeouts.CONNECT_ARGS,
    }


def prepare(engine: Engine, *, is_serving: bool = False) -> None:
    """Set an engine up. SQLite: WAL, foreign keys, durable commits, and BEGIN IMMEDIATE where an edge writes.

    On PostgreSQL, ``is_serving`` is for engines of the web and of workers: a transaction begins in one round trip, and
    its statements share the time limit for locks.
    """
    if engine.dialect.name != "sqlite":
        from app.core.db import timeouts

        timeouts.prepare(engine)
        if is_serving:
            timeouts.share_lock_time(engine)
        event.listen(engine, "before_cursor_execute", _on_execute)
        row_security.stand(engine, opens_at_checkout=is_serving)
        return
    line = Line()

    def stand(connection: Queued, _record: object) -> None:
        connection.line = line

    event.listen(engine, "connect", stand)
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)


def _on_execute(_connection: Connection, cursor: Any, *event_arguments: Any) -> None:
    # ``binary_results`` reads bytes as they are stored. PostgreSQL's text form is twice as long.
    _statement, _parameters, context, _many = event_arguments
    if context is not None and context.execution_options.get("binary_results"):
        cursor.format = 1


def _on_connect(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=wal", "synchronous=full", "foreign_keys=on", f"busy_timeout={BUSY_SECONDS * 1000}"):
        # nosemgrep: sql-put-together - four fixed settings, written out above
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _on_begin(connection: Connection) -> None:
    # A transaction that begins as a reader and then writes fails with "locked" at once, whatever the busy time-out is.
    if _reading.get():
        connection.exec_driver_sql("BEGIN")
        return
    queued: Any = connection.connection.dbapi_connection
    if not isinstance(queued, Queued):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    queued.enter()
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except BaseException:
        queued.leave()
        raise
