"""A snapshot of a live SQLite database as a file, and what it names, counts and has erased."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from app.core.erasure_journal import ERASED, REVOKED, WITHDRAWN, Kept

KEYS = (
    ("chunk", "storage_key"),
    ("recording", "storage_key"),
    ("recording", "replaced_key"),
    ("document", "storage_key"),
    ("document_part", "storage_key"),
    ("turn", "audio_key"),
    ("interview_flow", "logo_key"),
    ("interview_flow", "preamble_video_key"),
    ("organization", "logo_key"),
    ("cv_file", "storage_key"),
)
"""Every column that names a stored file. A test compares this with the models."""

_ACTS = {
    ERASED: "SELECT interview_id, erased_at FROM erasure",
    REVOKED: "SELECT interview_id, revoked_at FROM revocation",
    WITHDRAWN: "SELECT id, withdrawn_at FROM interview WHERE withdrawn_at IS NOT NULL",
}


class Unreadable(Exception):
    """The database cannot be read."""


class Unsound(Exception):
    """The copy is damaged. The message is SQLite's."""


def take(source: Path, target: Path) -> None:
    """Copy the database at ``source`` as of one moment, even while it is written to.

    VACUUM INTO reads in one transaction, which blocks no writer, and leaves out the remains of deleted rows, which a
    copy of the pages would contain.
    """
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True, timeout=30, isolation_level=None)) as live:
        live.execute("VACUUM INTO ?", (str(target),))
    check(target)


def check(database: Path) -> None:
    """Raise Unsound unless SQLite finds the file intact and every foreign key valid."""
    with closing(sqlite3.connect(database)) as copy:
        try:
            said = str(copy.execute("PRAGMA quick_check(1)").fetchone()[0])
            dangling = copy.execute("PRAGMA foreign_key_check").fetchone()
        except sqlite3.DatabaseError as error:
            raise Unsound(f"it is not an intact database ({error})") from None
    if said != "ok":
        raise Unsound(f"it is damaged: {said}")
    if dangling is not None:
        raise Unsound(f"a row of {dangling[0]} refers to a missing row of {dangling[2]}")


def revision(database: Path) -> str:
    """The schema revision of the database."""
    with closing(sqlite3.connect(database)) as copy:
        row = copy.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0])


def counts(database: Path) -> dict[str, int]:
    """The number of rows by table."""
    with closing(sqlite3.connect(database)) as copy:
        tables = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        names = sorted(name for (name,) in tables)
        # nosemgrep: sql-put-together - names that the database itself has just told
        return {name: int(copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names}  # noqa: S608 - names of the database itself


def named(database: Path) -> Iterator[str]:
    """Keys of all files that rows name, except those of revoked recordings, which should be gone.

    The database may be of an earlier release, which does not have all the columns.
    """
    columns = (
        "SELECT one.name, of.name FROM sqlite_master one JOIN pragma_table_info(one.name) of WHERE one.type = 'table'"
    )
    with closing(sqlite3.connect(database)) as copy:
        there = set(copy.execute(columns))
        known = [one for one in KEYS if one in there]
        wanted = " UNION ".join(f'SELECT "{column}" AS key FROM "{table}"' for table, column in known)  # noqa: S608 - our own words
        statement = (
            f"SELECT key FROM ({wanted}) WHERE key IS NOT NULL AND NOT (key LIKE 'recordings/%' AND "  # noqa: S608 - as above
            "substr(key, 12, 36) IN (SELECT interview_id FROM revocation))"
        )
        for (key,) in copy.execute(statement):
            yield str(key)


def destroyed(database: Path) -> list[Kept]:
    """What was erased, revoked or withdrawn in this database, which may no longer be in use.

    Raises Unreadable.
    """
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=30)) as connection:
            return [
                Kept(what, str(interview), datetime.fromisoformat(at).replace(tzinfo=UTC))
                for what, statement in _ACTS.items()
                for interview, at in connection.execute(statement)
            ]
    except sqlite3.Error as error:
        raise Unreadable(str(error)) from None


def settle(database: Path) -> None:
    """Rewrite the database as one file without remains of deleted rows, so that it can be moved."""
    compact = database.with_name(f"{database.name}.compact")
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(truncate)")
        connection.execute("VACUUM INTO ?", (str(compact),))
    for ending in ("-wal", "-shm"):
        Path(f"{database}{ending}").unlink(missing_ok=True)
    compact.chmod(0o600)
    compact.replace(database)
