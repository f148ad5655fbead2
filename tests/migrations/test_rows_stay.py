"""A change of a table keeps its rows, and the rows of other tables that point at them."""

import pytest
import sqlalchemy as sa

from app.core import migrate
from tests.rows import Row, row_of, tables

OLDER = "0022"
"""The revision that one of every row comes from; those of tables that came later go with them."""

WRITTEN = {"change"}
"""Tables that triggers fill."""


def fill(connection: sa.Connection) -> None:
    """One row in every table, each pointing at the one row of its parents."""
    made: dict[str, Row] = {}
    for table in tables():
        if table.name in WRITTEN or connection.scalar(sa.select(sa.func.count()).select_from(table)):
            continue  # its rows came with a migration or a trigger
        made[table.name] = row_of(table, made)
        connection.execute(sa.insert(table).values(made[table.name]))


def counts(url: str) -> dict[str, int]:
    engine = migrate.engine_for(url)
    with engine.connect() as connection:
        names = set(sa.inspect(connection).get_table_names()) - {"alembic_version", *WRITTEN}
        found = {name: connection.scalar(sa.select(sa.func.count()).select_from(sa.table(name))) or 0 for name in names}
    engine.dispose()
    return found


@pytest.fixture
def filled(own_database: str) -> str:
    engine = migrate.engine_for(own_database)
    with engine.begin() as connection:
        fill(connection)
    engine.dispose()
    assert set(counts(own_database).values()) == {1}
    return own_database


def test_rows_with_children_survive_the_way_down_and_up(filled: str) -> None:
    migrate.downgrade(filled, OLDER)
    older = counts(filled)
    assert {"candidate", "status_change", "interview", "chunk", "api_key"} <= set(older)
    assert set(older.values()) == {1}
    migrate.upgrade(filled)
    now = counts(filled)
    assert {name: now[name] for name in older} == older
    engine = migrate.engine_for(filled)
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall() == []
    engine.dispose()


def test_attempts_that_are_there_already_learn_where_they_went(filled: str) -> None:
    migrate.downgrade(filled, "0032")
    engine = migrate.engine_for(filled)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE webhook_attempt SET url = (SELECT url FROM webhook_endpoint)")
        organization = "(SELECT organization_id FROM webhook_endpoint)"
        connection.exec_driver_sql(f"UPDATE webhook_delivery SET organization_id = {organization}")
    migrate.upgrade(filled)
    with engine.connect() as connection:
        (found,) = connection.exec_driver_sql("SELECT endpoint_id FROM webhook_attempt").scalars()
        assert found == connection.exec_driver_sql("SELECT id FROM webhook_endpoint").scalar_one()
    engine.dispose()


def test_interviews_that_are_there_already_are_numbered_by_mode(filled: str) -> None:
    migrate.downgrade(filled, "0040")
    engine = migrate.engine_for(filled)
    interview = next(table for table in tables() if table.name == "interview")
    there = {column["name"] for column in sa.inspect(engine).get_columns("interview")}
    old = [column for column in interview.columns if column.name in there]
    into = sa.table("interview", *(sa.column(column.name, column.type) for column in old))
    with engine.begin() as connection:
        (row,) = connection.execute(sa.select(*old)).mappings()
        for seq in range(2, 8):
            more = {"id": f"id-{seq}", "org_seq": seq, "team_seq": seq, "is_test": seq % 3 == 0, "status": "completed"}
            connection.execute(sa.insert(into).values({**row, **more}))
        connection.exec_driver_sql("UPDATE organization SET interview_seq = 7")
    migrate.upgrade(filled)
    with engine.connect() as connection:
        numbers = connection.exec_driver_sql(
            "SELECT org_seq, is_test, org_mode_seq, team_mode_seq FROM interview ORDER BY org_seq"
        ).all()
        tests = connection.exec_driver_sql("SELECT interview_test_seq FROM organization").scalar_one()
        buckets = connection.exec_driver_sql("SELECT status, bucket, interviews FROM interview_test_bucket").all()
    engine.dispose()
    assert [(seq, bool(is_test), of_org, of_team) for seq, is_test, of_org, of_team in numbers] == [
        (1, False, 1, 1),
        (2, False, 2, 2),
        (3, True, 1, 1),
        (4, False, 3, 3),
        (5, False, 4, 4),
        (6, True, 2, 2),
        (7, False, 5, 5),
    ]
    assert tests == 2
    assert [tuple(row) for row in buckets] == [("completed", 0, 2)] * 2


def test_no_revision_leaves_orphans(filled: str) -> None:
    """PostgreSQL refuses the deletion itself; on SQLite, where migrations let go of keys, the revision finds it."""
    engine = migrate.engine_for(filled)
    if engine.dialect.name == "postgresql":
        with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM candidate")
        engine.dispose()
        return
    with engine.connect() as connection:
        plain = connection.connection.dbapi_connection
        assert plain is not None
        plain.cursor().execute("PRAGMA foreign_keys=off")
        plain.cursor().execute("DELETE FROM candidate")
    engine.dispose()
    with pytest.raises(migrate.Refused, match="pointing at nothing"):
        migrate.downgrade(filled, OLDER)
