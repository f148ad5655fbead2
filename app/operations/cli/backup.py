"""``parley backup``: the embedded installation in one file, while it runs."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import click

from app.core import clock
from app.core.erasure_journal import BadJournal
from app.core.errors import GatewayError
from app.operations.backups import Broken, making, snapshot, unpacking
from app.operations.backups.archive import SECRET
from app.operations.cli.console import AS_JSON, Failed, absence, environment, settings, tell
from app.settings import Settings

ELSEWHERE = (
    "{what} is not in this directory. parley {verb} works only for an embedded installation (SQLite and files in a "
    "directory). For PostgreSQL (pg_dump, pg_restore) and buckets, follow “Backup and restore” in "
    "docs/operations.md, then run parley erase-again."
)
WITH_KEY = (
    "The archive contains all candidate data and the secret key. Anyone who has it can read every interview and "
    "sign as this installation. Store it encrypted and limit who can access it."
)
WITHOUT_KEY = (
    "The archive contains all candidate data, but not the secret key. Store the key just as safely, somewhere "
    "else: without it, sessions, API keys, webhook secrets, authenticator codes and signed URLs do not work after "
    "a restore."
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--without-key", is_flag=True, help="Leave out the secret key. You store it yourself, somewhere else.")
@AS_JSON
def backup(*, file: Path, without_key: bool, as_json: bool) -> None:
    """Write database, files and secret key to a new archive FILE. Parley may be running."""
    from app.core import migrate

    config = settings(makes_key=False)
    target = file.absolute()
    where = layout_of(config, "backup")
    key = environment().get("SECRET_KEY") or text_of(config.data_dir / SECRET)
    with in_words("backup"):
        if words := absence(config):
            raise Failed(f"nothing to back up: {words}")
        if not snapshot.revision(where.database) == migrate.head():
            raise Failed("the database schema is out of date; run: parley migrate")
        place = making.Place(where.database, where.files, None if without_key or not key else key)
        header = {
            "parley": version("parley"),
            "revision": migrate.head(),
            "begun_at": clock.rfc3339(clock.now()),
            "has_key": place.secret is not None,
            "key_check": check_of(key) if key else None,
        }
        archive = making.make(target, place, header=header)
    files = "1 file that was" if len(archive.missing) == 1 else f"{len(archive.missing)} files that were"
    lost = f"\nNot in the archive: {files} already missing." if archive.missing else ""
    tell(
        {
            "file": str(target),
            "bytes": archive.size,
            "files": archive.files,
            "rows": archive.rows,
            "revision": archive.revision,
            "has_key": place.secret is not None,
            "taken_at": archive.taken_at,
            "missing": list(archive.missing),
        },
        as_json=as_json,
        words=f"{target}: {archive.rows:,} rows, {archive.files:,} files, {archive.size:,} bytes, "
        f"schema {archive.revision}.{lost}\n{WITH_KEY if place.secret is not None else WITHOUT_KEY}",
    )


def layout_of(config: Settings, verb: str) -> making.Place:
    """Paths of database and files. Raises Failed with a hint if they are not on this machine's disk."""
    import sqlalchemy as sa

    if not config.database_url.startswith("sqlite"):
        raise Failed(ELSEWHERE.format(what="The database, PostgreSQL,", verb=verb))
    if config.storage_url.startswith("s3://"):
        raise Failed(ELSEWHERE.format(what=f"The file storage {config.storage_url}", verb=verb))
    path = Path(str(sa.make_url(config.database_url).database)).absolute()
    return making.Place(path, Path(config.storage_url.removeprefix("file://")).absolute(), None)


@contextmanager
def in_words(verb: str) -> Iterator[None]:
    """Turn errors of disks and archives into a sentence that says what to do next."""
    stays = "completed steps are kept" if verb == "erase-again" else "nothing was changed"
    again = f"{stays}; run parley {verb} again"
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            reason = error.strerror if "needs" in (error.strerror or "") else "no space left"
            raise Failed(f"the disk is full: {reason}. Free some space; {again}") from None
        where = f" ({error.filename})" if error.filename else ""
        raise Failed(f"disk error{where}: {error.strerror or error}; {again}") from None
    except Broken as error:
        raise Failed(f"this archive cannot be restored: {error}. Nothing was changed") from None
    except unpacking.LeftAside as error:
        raise Failed(f"disk error: {error}, then run parley {verb} again") from None
    except snapshot.Unsound as error:
        raise Failed(f"the database is damaged: {error}. Nothing was changed") from None
    except (BadJournal, making.Restless, GatewayError, snapshot.Unreadable, sqlite3.Error) as error:
        raise Failed(f"{error}; {again}") from None


def text_of(path: Path) -> str:
    """The content of the file; empty if there is none."""
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def check_of(key: str) -> str:
    """A check value that distinguishes keys and reveals nothing about them."""
    from app.core.encryption import derived_key

    return derived_key("backup", secret_key=key).hex()[:32]
