"""Migrations lead from nothing to exactly the rows the code declares, and back."""

import ast
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from app.core import migrate, product_files
from app.core.db import Base, timeouts
from app.core.rooms import load_tables


def test_zero_to_head_equals_the_declared_rows(pristine_database: str) -> None:
    assert migrate.drift(pristine_database) == []


def test_down_to_nothing_and_up_again(own_database: str) -> None:
    migrate.downgrade(own_database, "base")
    engine = migrate.engine_for(own_database)
    with engine.connect() as connection:
        assert set(sa.inspect(connection).get_table_names()) <= {"alembic_version"}
    engine.dispose()
    migrate.upgrade(own_database)
    assert migrate.drift(own_database) == []


def test_there_is_one_line_of_numbered_revisions() -> None:
    scripts = list(ScriptDirectory("migrations").walk_revisions())
    numbers = [script.revision for script in reversed(scripts)]
    assert numbers == [f"{n:04d}" for n in range(1, len(numbers) + 1)]
    assert all(Path(script.path).name.startswith(script.revision) for script in scripts)
    assert (migrate.head(), migrate.knows(numbers[0]), migrate.knows("0000")) == (numbers[-1], True, False)


def test_migrations_never_import_the_rows() -> None:
    for path in Path("migrations/versions").glob("*.py"):
        assert "from app" not in path.read_text(encoding="utf-8"), path


def test_constraints_have_the_names_that_a_later_migration_will_call_them_by(pristine_database: str) -> None:
    load_tables()
    engine = migrate.engine_for(pristine_database)
    with engine.connect() as connection:
        inspector = sa.inspect(connection)
        told, known = engine.dialect.identifier_preparer, {}
        for table in Base.metadata.sorted_tables:
            found = {str(key["name"]) for key in inspector.get_foreign_keys(table.name)}
            found |= {str(key["name"]) for key in inspector.get_unique_constraints(table.name)}
            wanted = {
                str(told.format_constraint(one)).strip('"')
                for one in table.constraints
                if isinstance(one, sa.ForeignKeyConstraint | sa.UniqueConstraint)
            }
            if found != wanted:
                known[table.name] = (sorted(found - wanted), sorted(wanted - found))
    engine.dispose()
    assert known == {}


def test_every_index_is_there(pristine_database: str) -> None:
    """On SQLite, a migration that rebuilds a table loses its indexes over expressions, which Alembic does not see."""
    load_tables()
    engine = migrate.engine_for(pristine_database)
    dialect, told = engine.dialect.name, engine.dialect.identifier_preparer
    wanted = {
        str(told.format_index(one)).strip('"')
        for table in Base.metadata.sorted_tables
        for one in table.indexes
        if one.info.get("dialect", dialect) == dialect
    }
    asked = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
        "postgresql": "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()",
    }
    with engine.connect() as connection:
        found = set(connection.scalars(sa.text(asked[dialect])))
    engine.dispose()
    assert wanted - found == set() != wanted


def test_every_trigger_is_there(pristine_database: str) -> None:
    """On SQLite, a migration that rebuilds a table loses its triggers: it has to create them again."""
    wanted = {
        f"change_{trigger.name}"
        for script in ScriptDirectory("migrations").walk_revisions()
        for trigger in getattr(script.module, "TRIGGERS", ())
    }
    engine = migrate.engine_for(pristine_database)
    asked = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }
    with engine.connect() as connection:
        found = set(connection.scalars(sa.text(asked[engine.dialect.name])))
    engine.dispose()
    assert found == wanted != set()


def test_a_migration_may_take_long_and_waits_briefly_for_tables(
    own_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite knows no such limits; there the keys are off while tables are made anew."""
    is_sqlite = own_database.startswith("sqlite")
    asked = ["PRAGMA foreign_keys"] if is_sqlite else ["SHOW statement_timeout", "SHOW lock_timeout"]
    slow = "SELECT 1" if is_sqlite else "SELECT pg_sleep(0.6)"
    monkeypatch.setattr(timeouts, "ANSWER_SECONDS", 0.3)
    found: list[object] = []
    migrate._run(
        own_database,
        lambda config: found.extend(config.attributes["connection"].scalar(sa.text(one)) for one in [slow, *asked]),
    )
    assert found[1:] == ([0] if is_sqlite else ["0", "3s"])


def test_a_migration_takes_nothing_away_from_the_release_before_it() -> None:
    """Old and new processes serve on one schema while a release is rolled out."""
    taking = {"drop_table", "drop_column", "rename_table"}
    for path in sorted(Path("migrations/versions").glob("*.py")):
        for part in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(part, ast.FunctionDef) or part.name == "downgrade":
                continue
            for node in (one for one in ast.walk(part) if isinstance(one, ast.Call)):
                told, given = f"{path}:{node.lineno}", {word.arg: ast.unparse(word.value) for word in node.keywords}
                called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                assert called not in taking, told
                assert called != "alter_column" or not ({"new_column_name", "type_"} & set(given)), told
                assert called != "alter_column" or given.get("nullable") != "False", told


def test_alembics_own_command_is_sent_to_ours() -> None:
    config = Config()
    config.set_main_option("script_location", str(product_files.root() / "migrations"))
    with pytest.raises(migrate.Refused, match="parley migrate"):
        command.upgrade(config, "head")
