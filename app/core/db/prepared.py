"""The statements that every call makes, such as whose key it is: each compiled once, and sent by the shortest way.

They go to the driver directly, since what a session and a connection add costs several times as much. On SQLite, a
read outside a transaction gets none: one SELECT is its own transaction. On PostgreSQL it always gets one, since row
security is set for a transaction.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect, Engine
from sqlalchemy.orm import Session

from app.core.db import db, is_reading, row_security

Row = Sequence[Any]
Values = Mapping[str, Any]

_CONNECTIONS = "parley.connections"
"""Where a session notes its transaction and what ``_in_transaction`` found for it."""


class _Plan(NamedTuple):
    """A statement in the driver's terms: its text, and what converts its parameters and its results, in order."""

    sql: str
    parameters: Sequence[tuple[str, Any]]
    constants: Values
    """Parameters that are part of the statement."""
    defaults: Sequence[tuple[str, Any]]
    """What settles columns that an INSERT leaves to their defaults."""
    results: Callable[[Any], Sequence[tuple[int, Any]]]
    """For a cursor: which columns are converted, and by what."""
    is_binary: bool
    """Whether PostgreSQL sends the rows in its binary format."""
    is_one_text: bool
    """Whether all rows come as one JSON text."""

    def bound(self, values: Values) -> list[tuple[str, Any]]:
        by_name = {**self.constants, **values, **{name: default() for name, default in self.defaults}}
        return [
            (name, by_name[name] if process is None else process(by_name[name])) for name, process in self.parameters
        ]

    def fetched(self, cursor: Any) -> list[Row]:
        raws = cursor.fetchall()
        if self.is_one_text:
            raws = orjson.loads(raws[0][0])
        results = self.results(cursor)
        return [_row(raw, results) for raw in raws] if results else raws


class Prepared:
    """A statement of plain tables, without lists among its parameters.

    What SQLite's driver refuses is sent again the usual way, which raises, counts and reports the error as everywhere.
    """

    def __init__(
        self, statement: sa.Select[*tuple[Any, ...]] | sa.UpdateBase | sa.TextClause, *, at_once: bool = False
    ) -> None:
        """``at_once``: SQLite returns all rows of a SELECT as one JSON text. Raises TypeError for columns that are not
        text, integers, booleans, or JSON objects and arrays.

        Python's driver gives up the interpreter for each row. Where other threads wait for it, that costs more than the
        rows themselves.
        """
        if at_once:
            _refuse_lossy(statement)
        self._statement: Any = statement.execution_options(preserve_rowcount=True)
        self._at_once = at_once
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def rows(self, **values: Any) -> Sequence[Row]:
        """Run it and return all rows, of a SELECT or of RETURNING. An edge that may write begins its transaction."""
        if (engine := _engine()) is not None:
            plan = self._plan(engine, values)
            if engine.dialect.name == "postgresql":
                return plan.fetched(_sent(plan, values))
            with _driver(engine) as driver:
                try:
                    return plan.fetched(driver.execute(plan.sql, [value for _, value in plan.bound(values)]))
                except engine.dialect.loaded_dbapi.Error:
                    pass
        return db.session.connection().execute(self._statement, values).all()

    def changed(self, *values: Values) -> int:
        """Run it for each of ``values`` and return how many rows it changed. The first one names the parameters."""
        if (engine := _engine()) is not None and len(values) == 1:
            plan = self._plan(engine, values[0])
            if engine.dialect.name == "postgresql":
                return int(_sent(plan, values[0]).rowcount)
            with _driver(engine) as driver:
                try:
                    return int(driver.execute(plan.sql, [value for _, value in plan.bound(values[0])]).rowcount)
                except engine.dialect.loaded_dbapi.Error:
                    pass
        parameters = values[0] if len(values) == 1 else list(values)
        return db.session.connection().execute(self._statement, parameters).rowcount

    def _plan(self, engine: Engine, values: Values) -> _Plan:
        key = (engine.dialect.name, *values)
        plan = self._plans.get(key)
        if plan is None:
            self._plans[key] = plan = self._planned(engine.dialect, list(values))
        return plan

    def _planned(self, dialect: Dialect, names: list[str]) -> _Plan:
        # The parameters name the columns of an INSERT, and only of that.
        columns = names if isinstance(self._statement, sa.Insert) else None
        is_one_text = self._at_once and dialect.name == "sqlite"
        statement = _gathered(self._statement) if is_one_text else self._statement
        compiled = statement.compile(dialect=dialect, column_keys=columns)
        binds = compiled.binds
        ordered = compiled.positiontup or list(compiled.bind_names.values())
        return _Plan(
            sql=str(compiled),
            parameters=[(name, binds[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in ordered],
            constants={name: compiled.params[name] for name in ordered if not binds[name].required},
            defaults=[(column.key, _default(column)) for column in compiled.insert_prefetch],
            results=_results(_types(self._statement), dialect),
            is_binary=self._statement.get_execution_options().get("binary_results", False),
            is_one_text=is_one_text,
        )


def _row(raw: Row, results: Sequence[tuple[int, Any]]) -> Row:
    values = list(raw)
    for at, process in results:
        values[at] = process(values[at])
    return values


def _results(kinds: Sequence[sa.types.TypeEngine[Any]], dialect: Dialect) -> Callable[[Any], Sequence[tuple[int, Any]]]:
    """What ``_Plan.results`` is. PostgreSQL's types are known from the first cursor; SQLite's are None."""

    found: Sequence[tuple[int, Any]] | None = None

    def of(cursor: Any) -> Sequence[tuple[int, Any]]:
        nonlocal found
        if found is None:
            codes = chain((column[1] for column in cursor.description), repeat(None))
            processes = [
                kind.dialect_impl(dialect).result_processor(dialect, code)
                for kind, code in zip(kinds, codes, strict=False)
            ]
            found = [(at, process) for at, process in enumerate(processes) if process is not None]
        return found

    return of


def _refuse_lossy(statement: Any) -> None:
    for kind in _types(statement):
        if not isinstance(kind, sa.String | sa.Integer | sa.Boolean | sa.JSON):
            raise TypeError(f"a column of {kind!r} may not survive JSON")


def _gathered(statement: sa.Select[*tuple[Any, ...]]) -> sa.Select[str]:
    """One text with an array for each row, in the same order: SQLite drops no ORDER BY below such a function."""
    return sa.select(sa.func.json_group_array(sa.func.json_array(*statement.subquery().columns)))


def _default(column: sa.Column[Any]) -> Callable[[], Any]:
    default: Any = column.default
    return partial(default.arg, None) if default.is_callable else lambda: default.arg


def _types(statement: Any) -> list[sa.types.TypeEngine[Any]]:
    if isinstance(statement, sa.Select):
        return [column.type for column in statement.selected_columns]
    return [column["type"] for column in getattr(statement, "returning_column_descriptions", ())]


def _engine() -> Engine | None:
    """The engine; a test that keeps everything in one transaction has a connection instead."""
    engine: Engine | Connection = db.engine
    return engine if isinstance(engine, Engine) else None


@contextmanager
def _driver(engine: Engine) -> Iterator[Any]:
    """SQLite's connection of the transaction, or one of the pool for a read without a transaction."""
    if not is_reading() or db.is_in_transaction():
        yield _in_transaction(db.session())[1]
        return
    pooled = engine.raw_connection()
    try:
        yield pooled.driver_connection
    finally:
        pooled.close()


def _sent(plan: _Plan, values: Values) -> Any:
    """PostgreSQL's cursor after the statement, which does for it what the engine does for others."""
    from app.core.db import timeouts  # the driver is loaded only where PostgreSQL is used

    connection, driver, info = _in_transaction(db.session())
    began = time.monotonic()
    cursor = driver.cursor(binary=plan.is_binary)
    try:
        row_security.tell(info, driver)
        cursor.execute(plan.sql, dict(plan.bound(values)))
    except (connection.dialect.loaded_dbapi.Error, KeyboardInterrupt, SystemExit) as error:
        # It wraps and counts the error, and discards a broken connection. SQLAlchemy has no public name for that.
        connection._handle_dbapi_exception(error, plan.sql, None, cursor, None)  # noqa: SLF001
    timeouts.took(time.monotonic() - began, info, driver)
    return cursor


def _in_transaction(session: Session) -> tuple[Connection, Any, dict[Any, Any]]:
    """The connection of the session's transaction, the driver's, and what is noted about it.

    The transaction begins if there is none; the connection is looked up once in each. After a failed flush, until the
    rollback, the session refuses: what the driver got then would be no part of it.
    """
    begun, *found = session.info.get(_CONNECTIONS, (None,))
    if begun is None or begun is not session.get_transaction() or not session.is_active:
        connection = session.connection()
        found = [connection, connection.connection.driver_connection, connection.info]
        session.info[_CONNECTIONS] = session.get_transaction(), *found
    connection, driver, info = found
    return connection, driver, info
