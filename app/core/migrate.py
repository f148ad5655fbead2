"""Brings the database to the newest schema, and says whether rows and schema agree.

Alembic is loaded by what changes or compares a schema. Which revision a database is at, and which is the newest, every
web process and every command asks: that takes one row and the names of the migrations' files.
"""

import time
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.core.db import Base, engine_options, prepare
from app.core.rooms import load_tables

if TYPE_CHECKING:
    from alembic.config import Config

_LOCK = 7_264_102
_MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


class Refused(RuntimeError):
    """A migration that would do harm: nothing of it is kept. The message says why."""


def engine_for(url: str) -> sa.Engine:
    """An engine with the habits of the application's own."""
    kept = {k: v for k, v in engine_options(url).items() if k in {"connect_args", "pool_pre_ping"}}
    engine = sa.create_engine(url, hide_parameters=True, **kept)
    prepare(engine)
    return engine


def upgrade(url: str, revision: str = "head") -> None:
    """Migrate the database at ``url``; two processes that do so at once take turns on PostgreSQL.

    Raises Refused where a newer release has brought it further already.
    """
    from alembic import command

    _run(url, lambda config: command.upgrade(config, revision))


def downgrade(url: str, revision: str) -> None:
    """Go back to ``revision``."""
    from alembic import command

    _run(url, lambda config: command.downgrade(config, revision))


def drift(url: str) -> list[Any]:
    """Differences between the migrated database and the rows the code declares; empty when they agree."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    load_tables()
    engine = engine_for(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "render_as_batch": True})
        with warnings.catch_warnings():
            # There are none on SQLite, and Alembic says that it could not compare them.
            warnings.filterwarnings("ignore", "autogenerate skipping metadata-specified expression-based index")
            found = compare_metadata(context, Base.metadata)
    engine.dispose()
    return list(found)


def is_current(connection: sa.Connection) -> bool:
    """Whether the database is at the newest revision."""
    return revision_of(connection) == head()


def may_serve(connection: sa.Connection) -> bool:
    """Whether this code works on the database: it is current, or a newer release has already brought it further.

    A migration leaves what the release before it needs (docs/adding.md): both serve while one replaces the other.
    """
    found = revision_of(connection)
    return found is not None and (found == head() or (not knows(found) and found > head()))


@cache
def head() -> str:
    """The newest revision that this code knows."""
    return max(_revisions())


def knows(revision: str) -> bool:
    """Whether a database at ``revision`` can be brought up by this code."""
    return revision in _revisions()


def revision_of(connection: sa.Connection) -> str | None:
    """The revision that the database is at; None before the first migration."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return found


@cache
def _revisions() -> frozenset[str]:
    """The numbers that the files of migrations begin with are their revisions."""
    return frozenset(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    return config


def _run(url: str, work: Any) -> None:
    engine = engine_for(url)
    try:
        with engine.connect() as connection:
            _work_on(connection, work)
    finally:
        engine.dispose()


def _work_on(connection: sa.Connection, work: Any) -> None:
    config, is_postgresql = _config(), connection.dialect.name == "postgresql"
    plain: Any = connection.connection.dbapi_connection
    if is_postgresql:
        plain.is_patient = True
        # Another's turn, an index over many rows and a copy of them have no time limit; a lock that the old
        # release holds on a table is waited for as briefly as ever.
        connection.execute(sa.text("SET statement_timeout = 0"))
        _await_turn(connection)
    else:
        # A table that is rebuilt to be changed is dropped in between: its rows' children must survive that.
        plain.cursor().execute("PRAGMA foreign_keys=off")
    config.attributes["connection"] = connection
    try:
        _refuse_newer(connection)
        work(config)
    finally:
        connection.commit()
        if is_postgresql:
            connection.execute(sa.text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
            connection.commit()


def _await_turn(connection: sa.Connection) -> None:
    """Ask again and again: an index that is built while others write waits for their statements."""
    while not connection.scalar(sa.text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}):
        connection.commit()
        time.sleep(0.2)
    connection.commit()


def _refuse_newer(connection: sa.Connection) -> None:
    found = revision_of(connection)
    connection.commit()
    if found is not None and not knows(found):
        raise Refused(
            f"the database is at revision {found}, but this release supports revisions up to {head()}. Start the "
            "newer release that migrated it"
        )
