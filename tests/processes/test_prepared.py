"""Statements that go past the session: the same values and effects, and a read leaves no transaction behind."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.exc import IntegrityError, OperationalError, PendingRollbackError, ProgrammingError

from app.accounts.models import Organization, Team
from app.core import clock
from app.core.db import Base, Moment, db, reading, row_security
from app.core.db.prepared import Prepared
from tests.rows import row_of, tables

_O = Organization.__table__.c
BY_NAME = Prepared(sa.select(_O.id, _O.name).where(_O.name == sa.bindparam("name")))


@pytest.fixture
def filled(own_app: Flask) -> Iterator[dict[str, dict[str, Any]]]:
    """A committed row of every table, by the table's name; triggers may move that of the feed of changes."""
    with own_app.app_context():
        made: dict[str, dict[str, Any]] = {}
        for table in tables():
            there = db.session.execute(sa.select(table)).mappings().first()
            made[table.name] = row_of(table, made) if there is None else dict(there)
            if there is None:
                db.session.execute(sa.insert(table).values(made[table.name]))
        db.session.commit()
        for table in tables():
            made[table.name] = dict(db.session.execute(sa.select(table)).mappings().first() or {})
        db.session.remove()
        yield made
        db.session.remove()


def test_every_column_has_the_value_that_the_session_gives(filled: dict[str, dict[str, Any]]) -> None:
    for name in filled:
        statement = sa.select(*Base.metadata.tables[name].c)
        with reading():
            found = Prepared(statement).rows()
            assert db.is_in_transaction() is (db.engine.dialect.name != "sqlite")
            assert [tuple(row) for row in found] == [tuple(row) for row in db.session.execute(statement)]
            assert len(found) >= 1  # triggers add rows to the feed of changes
            db.session.remove()


@pytest.mark.usefixtures("filled")
def test_rows_that_come_at_once_have_the_same_values_in_the_same_order() -> None:
    names = [f'{number} "quoted" ä 日本 🎤 \t\\' for number in (5, 3, 9, 1)]
    for name in names:
        db.session.add(Organization(name=name))
    db.session.commit()
    for order in (_O.name.desc(), _O.name.asc()):
        statement = (
            sa.select(_O.id, _O.name, _O.disabled_at.is_(None)).where(_O.name != sa.bindparam("no")).order_by(order)
        )
        with reading():
            found = Prepared(statement, at_once=True).rows(no=names[0])
            assert [tuple(row) for row in found] == [
                tuple(row) for row in db.session.execute(statement, {"no": names[0]})
            ]
            assert len(found) == 4
            assert not Prepared(statement.where(_O.name == ""), at_once=True).rows(no="")
            db.session.remove()


@pytest.mark.parametrize(
    "kind", [sa.Float(), sa.Double(), sa.Numeric(), sa.LargeBinary(), sa.DateTime(), sa.types.NullType(), Moment()]
)
def test_what_json_may_change_does_not_come_at_once(kind: sa.types.TypeEngine[Any]) -> None:
    with pytest.raises(TypeError, match="may not survive JSON"):
        Prepared(sa.select(_O.id, sa.column("more", kind)), at_once=True)


def test_every_column_that_may_come_at_once_has_its_value(filled: dict[str, dict[str, Any]]) -> None:
    tried = set()
    for name in filled:
        for column in Base.metadata.tables[name].c:
            try:
                prepared = Prepared(sa.select(column), at_once=True)
            except TypeError:
                continue
            with reading():
                usual = [tuple(row) for row in db.session.execute(sa.select(column))]
                db.end_reading()
                assert [tuple(row) for row in prepared.rows()] == usual, column
                db.session.remove()
            tried.add(type(column.type))
    assert tried >= {sa.String, sa.Text, sa.Integer, sa.Boolean, sa.Enum, sa.JSON}


def test_parameters_are_converted_as_the_session_does(filled: dict[str, dict[str, Any]]) -> None:
    for name, row in filled.items():
        for column in Base.metadata.tables[name].c:
            value = row.get(column.name)
            stored = column.type.impl if isinstance(column.type, sa.TypeDecorator) else column.type
            if value is None or isinstance(stored, sa.JSON | sa.LargeBinary):
                continue
            statement = sa.select(column).where(column == sa.bindparam("value", type_=column.type))
            with reading():
                assert {row[0] for row in Prepared(statement).rows(value=value)} == {value}, column
                db.end_reading()


@pytest.mark.usefixtures("filled")
def test_an_open_transaction_sees_its_own_rows() -> None:
    with reading():
        assert not BY_NAME.rows(name="Uncommitted")
        db.end_reading()
    db.session.add(Organization(name="Uncommitted"))
    db.session.flush()
    with reading():
        assert len(BY_NAME.rows(name="Uncommitted")) == 1
    db.session.rollback()


@pytest.mark.usefixtures("filled")
def test_an_edge_that_may_write_begins_its_transaction() -> None:
    BY_NAME.rows(name="x")
    assert db.is_in_transaction()
    db.session.rollback()


@pytest.mark.usefixtures("filled")
def test_an_error_is_that_of_the_session() -> None:
    missing = Prepared(sa.select(sa.column("id")).select_from(sa.table("no_such_table")))
    with reading(), pytest.raises((OperationalError, ProgrammingError)):
        missing.rows()
    db.session.rollback()


@pytest.mark.parametrize("way", ["prepared", "prepared, another choice", "usual, another choice"])
@pytest.mark.usefixtures("filled")
def test_a_broken_connection_ends_the_transaction_and_the_next_one_has_another(way: str) -> None:
    if db.engine.dialect.name == "sqlite":
        return
    with reading():
        BY_NAME.rows(name="x")
        pid = db.session.scalar(sa.text("SELECT pg_backend_pid()"))
        with db.engine.connect() as other:
            assert other.scalar(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
        chosen = row_security.only("another") if "choice" in way else nullcontext()
        again = partial(db.session.execute, sa.select(_O.id)) if "usual" in way else partial(BY_NAME.rows, name="x")
        with chosen, pytest.raises(OperationalError) as failed:
            again()
        assert failed.value.connection_invalidated
        db.session.rollback()
        assert BY_NAME.rows(name="x") == []
        db.end_reading()


@pytest.mark.usefixtures("filled")
def test_a_statement_that_takes_long_leaves_less_time_for_locks() -> None:
    if db.engine.dialect.name == "sqlite":
        return
    with reading():
        Prepared(sa.select(sa.func.pg_sleep(0.4).cast(sa.Text))).rows()
        left = Prepared(sa.text("SHOW lock_timeout")).rows()[0][0]
        assert left.endswith("ms")
        assert 2000 < int(left.removesuffix("ms")) <= 2600
        db.end_reading()


@pytest.mark.usefixtures("filled")
def test_after_a_failed_flush_nothing_runs_before_the_rollback() -> None:
    table: Any = Organization.__table__
    rename = Prepared(sa.update(table).where(_O.id == sa.bindparam("org")).values(name=sa.bindparam("new")))
    [(org, name)] = db.session.execute(sa.select(_O.id, _O.name)).all()
    assert rename.changed({"org": org, "new": "Renamed"}) == 1
    db.session.add(Organization(id=org, name="Twice"))
    with pytest.raises(IntegrityError):
        db.session.flush()
    with pytest.raises(PendingRollbackError):
        rename.changed({"org": org, "new": "Renamed again"})
    db.session.rollback()
    assert db.session.scalars(sa.select(_O.name)).all() == [name]
    assert rename.changed({"org": org, "new": "Renamed at last"}) == 1
    db.session.rollback()
    assert db.session.scalars(sa.select(_O.name)).all() == [name]


@pytest.mark.usefixtures("filled")
def test_a_change_counts_its_rows_and_ends_with_the_transaction() -> None:
    table: Any = Organization.__table__
    rename = Prepared(sa.update(table).where(_O.name == sa.bindparam("old")).values(name=sa.bindparam("new")))
    [name] = db.session.scalars(sa.select(_O.name)).all()
    assert rename.changed({"old": name, "new": "Renamed"}) == 1
    assert rename.changed({"old": name, "new": "Renamed"}) == 0
    assert len(BY_NAME.rows(name="Renamed")) == 1
    db.session.rollback()
    assert [len(BY_NAME.rows(name=one)) for one in ("Renamed", name)] == [0, 1]
    db.session.rollback()


@pytest.mark.usefixtures("filled")
def test_returning_gives_converted_rows() -> None:
    table: Any = Organization.__table__
    touch = Prepared(sa.update(table).values(name=sa.bindparam("new")).returning(_O.name, _O.created_at))
    created = db.session.scalar(sa.select(_O.created_at))
    assert [tuple(row) for row in touch.rows(new="Renamed")] == [("Renamed", created)]
    db.session.rollback()


@pytest.mark.usefixtures("filled")
def test_a_refused_change_raises_the_error_of_the_session_and_changes_nothing() -> None:
    table: Any = Team.__table__
    add = Prepared(sa.insert(table))
    [team] = [row._asdict() for row in db.session.execute(sa.select(table))]
    with pytest.raises(IntegrityError):
        add.changed(team)
    db.session.rollback()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(table)) == 1
    db.session.rollback()


@pytest.mark.usefixtures("filled")
def test_columns_that_an_insert_leaves_out_get_their_defaults() -> None:
    add = Prepared(sa.insert(Organization.__table__))  # type: ignore[arg-type]
    for name in ("First", "Second"):
        assert add.changed({"name": name}) == 1
    prepared = [
        row._asdict() for row in db.session.execute(sa.select(Organization.__table__).where(_O.name == "First"))
    ]
    second = db.session.scalar(sa.select(_O.id).where(_O.name == "Second"))
    db.session.rollback()
    db.session.execute(sa.insert(Organization.__table__), [{"name": "First"}])  # type: ignore[arg-type]
    usual = [row._asdict() for row in db.session.execute(sa.select(Organization.__table__).where(_O.name == "First"))]
    assert prepared[0]["id"] not in {usual[0]["id"], second}
    for row in (prepared[0], usual[0]):
        assert abs((clock.now() - row.pop("created_at")).total_seconds()) < 60
        row.pop("id")
    assert prepared == usual
    db.session.rollback()
