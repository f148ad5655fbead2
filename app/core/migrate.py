"""Migrates the database to the newest schema, and checks whether models and schema agree.

Only functions that change or compare a schema load Alembic. Every web process and command checks the revision, which
takes one row and the file names of the migrations.
"""

import re
import time
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.core import product_files
from app.core.db import Base, engine_options, prepare
from app.core.rooms import load_tables

if TYPE_CHECKING:
    from alembic.config import Config

_LOCK = 7_264_102
_OWN = re.compile(r"[0-9]{4}(_\w+)?")
"""Revisions of Parley. Another program's are not newer ones, however they sort."""


class Refused(RuntimeError):
    """The migration would do harm and was rolled back. The message says why."""


def engine_for(url: str) -> sa.Engine:
    """An engine set up like the application's own."""
    options = {k: v for k, v in engine_options(url).items() if k in {"connect_args", "pool_pre_ping"}}
    engine = sa.create_engine(url, hide_parameters=True, **options)
    prepare(engine)
    return engine


def upgrade(url: str, revision: str = "head") -> None:
    """Migrate the database at ``url``. On PostgreSQL, two processes that do so at the same time take turns.

    Raises Refused if a newer release has already migrated it further.
    """
    from alembic import command

    _run(url, lambda config: command.upgrade(config, revision))


def downgrade(url: str, revision: str) -> None:
    """Go back to ``revision``."""
    from alembic import command

    _run(url, lambda config: command.downgrade(config, revision))


def drift(url: str) -> list[Any]:
    """Differences between the migrated database and the models; empty if they agree."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    load_tables()
    engine = engine_for(url)
    with engine.connect() as connection:
        dialect = connection.dialect.name
        opts = {
            "compare_type": True,
            "render_as_batch": True,
            # Alembic does not know of ``ddl_if``.
            "include_object": lambda thing, *_: thing.info.get("dialect", dialect) == dialect,
        }
        context = MigrationContext.configure(connection, opts=opts)
        with warnings.catch_warnings():
            # Both warn that they cannot compare these; a test compares the names.
            warnings.filterwarnings("ignore", "autogenerate skipping metadata-specified expression-based index")
            warnings.filterwarnings("ignore", "Skipped unsupported reflection of expression-based index")
            differences = compare_metadata(context, Base.metadata)
    engine.dispose()
    return list(differences)


def is_current(connection: sa.Connection) -> bool:
    """Whether the database is at the newest revision."""
    return revision_of(connection) == head()


def may_serve(connection: sa.Connection) -> bool:
    """Whether this code works on the database: it is current, or a newer release has already migrated it further.

    A migration keeps what the release before it needs (docs/adding.md), so both can serve during an upgrade.
    """
    revision = revision_of(connection)
    if revision is None or revision == head():
        return revision is not None
    return _OWN.fullmatch(revision) is not None and not knows(revision) and revision > head()


@cache
def head() -> str:
    """The newest revision that this code knows."""
    return max(_revisions())


def knows(revision: str) -> bool:
    """Whether this code can migrate a database at ``revision``."""
    return revision in _revisions()


def revision_of(connection: sa.Connection) -> str | None:
    """The revision of the database; None before the first migration."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def _migrations() -> Path:
    return product_files.root() / "migrations"


@cache
def _revisions() -> frozenset[str]:
    """All revisions: the numbers at the beginning of the migrations' file names."""
    return frozenset(path.name.partition("_")[0] for path in (_migrations() / "versions").glob("[0-9]*.py"))


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_migrations()))
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
    """Try again and again: an index that is built while others write waits for their statements."""
    while not connection.scalar(sa.text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}):
        connection.commit()
        time.sleep(0.2)
    connection.commit()


def _refuse_newer(connection: sa.Connection) -> None:
    revision = revision_of(connection)
    connection.commit()
    if revision is not None and not knows(revision):
        raise Refused(
            f"the database is at revision {revision}, but this release supports revisions up to {head()}. Start the "
            "newer release that migrated it"
        )
