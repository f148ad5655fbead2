"""One moment of a live SQLite database as a file of its own, and what that moment names, counts and has destroyed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from app.core.erasure_journal import ERASED, REVOKED, WITHDRAWN, Kept

KEYS = (
    ("chunk", "storage_key"),
    ("recording", "storage_key"),
    ("document", "storage_key"),
    ("document_part", "storage_key"),
    ("turn", "audio_key"),
    ("interview_flow", "logo_key"),
    ("interview_flow", "preamble_video_key"),
)
"""Every column that names a stored file; a test holds this against the declared rows."""

_ACTS = {
    ERASED: "SELECT interview_id, erased_at FROM erasure",
    REVOKED: "SELECT interview_id, revoked_at FROM revocation",
    WITHDRAWN: "SELECT id, withdrawn_at FROM interview WHERE withdrawn_at IS NOT NULL",
}


class Unreadable(Exception):
    """A database that is only asked what it knows does not answer."""


class Unsound(Exception):
    """The copy is no sound database; the message says what SQLite says."""


def take(source: Path, target: Path) -> None:
    """Copy the database at ``source``, which may be written to meanwhile, as it is at one moment.

    By VACUUM INTO: one reading transaction, which keeps no one from writing, and a copy without the remains of deleted
    rows that a copy page by page would carry along.
    """
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True, timeout=30, isolation_level=None)) as live:
        live.execute("VACUUM INTO ?", (str(target),))
    check(target)


def check(database: Path) -> None:
    """Raise Unsound unless SQLite finds the file whole, every row pointing at one that is there."""
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
    """The schema revision that the database says it has."""
    with closing(sqlite3.connect(database)) as copy:
        found = copy.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(found[0])


def counts(database: Path) -> dict[str, int]:
    """Rows by table."""
    with closing(sqlite3.connect(database)) as copy:
        tables = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        names = sorted(name for (name,) in tables)
        # nosemgrep: sql-put-together - names that the database itself has just told
        return {name: int(copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names}  # noqa: S608 - names of the database itself


def named(database: Path) -> Iterator[str]:
    """Keys of all files that rows name, but those of revoked recordings, which are meant to be gone."""
    wanted = " UNION ".join(f'SELECT "{column}" AS key FROM "{table}"' for table, column in KEYS)  # noqa: S608 - our own words
    statement = (
        f"SELECT key FROM ({wanted}) WHERE key IS NOT NULL AND NOT (key LIKE 'recordings/%' AND "  # noqa: S608 - as above
        "substr(key, 12, 36) IN (SELECT interview_id FROM revocation))"
    )
    with closing(sqlite3.connect(database)) as copy:
        for (key,) in copy.execute(statement):
            yield str(key)


def destroyed(database: Path) -> list[Kept]:
    """What was erased, revoked or withdrawn in this database, which may be one that is no longer in use.

    Raises Unreadable.
    """
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=30)) as kept:
            return [
                Kept(what, str(interview), datetime.fromisoformat(at).replace(tzinfo=UTC))
                for what, statement in _ACTS.items()
                for interview, at in kept.execute(statement)
            ]
    except sqlite3.Error as error:
        raise Unreadable(str(error)) from None


def settle(database: Path) -> None:
    """Rewrite it as one file, without the remains of deleted rows, so that it can be moved."""
    compact = database.with_name(f"{database.name}.compact")
    with closing(sqlite3.connect(database, isolation_level=None)) as kept:
        kept.execute("PRAGMA wal_checkpoint(truncate)")
        kept.execute("VACUUM INTO ?", (str(compact),))
    for ending in ("-wal", "-shm"):
        Path(f"{database}{ending}").unlink(missing_ok=True)
    compact.chmod(0o600)
    compact.replace(database)
