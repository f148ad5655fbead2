"""The statements that every call makes, such as whose key it is: each compiled once, and sent by the shortest way.

On SQLite they go to the driver directly, since what a session and a connection add costs several times as much. A read
outside a transaction gets none there: one SELECT is its own transaction. On PostgreSQL they go the usual way,
since row security is set for a transaction.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler

from app.core.db import db, is_reading

Row = Sequence[Any]
Values = Mapping[str, Any]

_DRIVER = "parley.driver"
"""Where a session notes its transaction and the driver's connection of it."""


class _Plan(NamedTuple):
    """A statement in the driver's terms: its text, and what converts its parameters and its results, in order."""

    sql: str
    parameters: Sequence[tuple[str, Any]]
    constants: Values
    """Parameters that are part of the statement."""
    defaults: Sequence[tuple[str, Any]]
    """What settles columns that an INSERT leaves to their defaults."""
    results: Sequence[tuple[int, Any]]
    """Which columns are converted, and by what."""

    def bound(self, values: Values) -> list[Any]:
        by_name = {**self.constants, **values, **{name: default() for name, default in self.defaults}}
        return [by_name[name] if process is None else process(by_name[name]) for name, process in self.parameters]

    def row(self, raw: Row) -> Row:
        values = list(raw)
        for at, process in self.results:
            values[at] = process(values[at])
        return values


class Prepared:
    """A statement of plain tables, without lists among its parameters.

    What the driver refuses is sent again the usual way, which raises, counts and reports the error as everywhere.
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
        if (engine := _sqlite()) is not None:
            plan = self._plan(engine, values)
            with _driver(engine) as driver:
                try:
                    raws = driver.execute(plan.sql, plan.bound(values)).fetchall()
                    return [plan.row(raw) for raw in (orjson.loads(raws[0][0]) if self._at_once else raws)]
                except engine.dialect.loaded_dbapi.Error:
                    pass
        return db.session.connection().execute(self._statement, values).all()

    def changed(self, *values: Values) -> int:
        """Run it for each of ``values`` and return how many rows it changed. The first one names the parameters."""
        if (engine := _sqlite()) is not None and len(values) == 1:
            plan = self._plan(engine, values[0])
            with _driver(engine) as driver:
                try:
                    return int(driver.execute(plan.sql, plan.bound(values[0])).rowcount)
                except engine.dialect.loaded_dbapi.Error:
                    pass
        parameters = values[0] if len(values) == 1 else list(values)
        return db.session.connection().execute(self._statement, parameters).rowcount

    def _plan(self, engine: Engine, values: Values) -> _Plan:
        names = tuple(values)
        plan = self._plans.get(names)
        if plan is None:
            # The parameters name the columns of an INSERT, and only of that.
            columns = list(names) if isinstance(self._statement, sa.Insert) else None
            statement = _gathered(self._statement) if self._at_once else self._statement
            compiled = statement.compile(dialect=engine.dialect, column_keys=columns)
            self._plans[names] = plan = _plan(compiled, _types(self._statement))
        return plan


def _plan(compiled: SQLCompiler, types: list[sa.types.TypeEngine[Any]]) -> _Plan:
    dialect, names, binds = compiled.dialect, compiled.positiontup or (), compiled.binds
    parameters = [(name, binds[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names]
    constants = {name: compiled.params[name] for name in names if not binds[name].required}
    defaults = [(column.key, _default(column)) for column in compiled.insert_prefetch]
    processes = [kind.dialect_impl(dialect).result_processor(dialect, None) for kind in types]
    results = [(at, process) for at, process in enumerate(processes) if process is not None]
    return _Plan(str(compiled), parameters, constants, defaults, results)


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


def _sqlite() -> Engine | None:
    """The engine, where it is SQLite's; a test that keeps everything in one transaction has a connection instead."""
    engine: Engine | Connection = db.engine
    return engine if isinstance(engine, Engine) and engine.dialect.name == "sqlite" else None


@contextmanager
def _driver(engine: Engine) -> Iterator[Any]:
    """The driver's connection of the transaction, or one of the pool for a read without a transaction."""
    if not is_reading() or db.is_in_transaction():
        yield _in_transaction(db.session())
        return
    pooled = engine.raw_connection()
    try:
        yield pooled.driver_connection
    finally:
        pooled.close()


def _in_transaction(session: Session) -> Any:
    """The driver's connection of the session's transaction, which begins if there is none; looked up once in each.

    After a failed flush, until the rollback, the session refuses: what the driver got then would be no part of it.
    """
    begun, driver = session.info.get(_DRIVER, (None, None))
    if begun is None or begun is not session.get_transaction() or not session.is_active:
        driver = session.connection().connection.driver_connection
        session.info[_DRIVER] = session.get_transaction(), driver
    return driver
