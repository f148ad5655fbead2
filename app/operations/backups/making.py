"""Makes a backup while Parley runs and writes: files, then the database, then the files added since.

Files are durable before rows name them, so every file that a snapshot names existed when it was taken. Files that were
deleted between the snapshot and the second pass are missing; then a newer snapshot replaces it.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core import clock
from app.gateways.storage import vetted
from app.operations.backups import snapshot
from app.operations.backups.archive import DATABASE, FILES, SECRET, Writer

ROUNDS = 5
_TRANSIENT = ("check/", "probe/")


class Restless(Exception):
    """Files that rows name keep being deleted while the backup is made."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an installation stores its data. ``secret`` is the key to include, None to leave it out."""

    database: Path
    files: Path
    secret: str | None


@dataclass(frozen=True, slots=True)
class Made:
    """A finished backup. ``missing`` are files that rows name but that no longer existed."""

    size: int
    files: int
    rows: int
    revision: str
    taken_at: str
    missing: tuple[str, ...]


def make(target: Path, place: Place, *, header: dict[str, Any], snapped: Callable[[], None] = lambda: None) -> Made:
    """Write the archive ``target``, which must not exist. It gets its name once it is complete and on the disk.

    ``snapped`` is called after each snapshot. Raises OSError, Unsound and Restless, and then leaves nothing behind.
    """
    if target.exists():
        raise FileExistsError(f"{target} already exists")
    with tempfile.TemporaryDirectory(prefix=".parley-backup-", dir=target.parent) as folder:
        room = Path(folder)
        with (room / "archive").open("xb") as file:
            (room / "archive").chmod(0o600)
            writer = Writer(file, room, header=header)
            try:
                archive = _write(writer, place, room=room, snapped=snapped)
            finally:
                writer.close()
            file.flush()
            os.fsync(file.fileno())
        (room / "archive").rename(target)
        descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return archive


def _write(writer: Writer, place: Place, *, room: Path, snapped: Callable[[], None]) -> Made:
    _add_files(writer, place.files)
    copy, gone = room / "database", set[str]()
    for _round in range(ROUNDS):
        taken_at = clock.rfc3339(clock.now())  # before, so that whatever was done later is known to be later
        snapshot.take(place.database, copy)
        snapped()
        _add_files(writer, place.files)
        missing = {key for key in snapshot.named(copy) if FILES + key not in writer}
        if missing <= gone:  # nothing is missing, or nothing but what was missing before
            break
        gone = missing
    else:
        raise Restless("files are being deleted faster than they can be copied")
    files = writer.totals[0] - 1
    writer.file(DATABASE, copy)
    if place.secret is not None:
        writer.words(SECRET, place.secret.encode())
    counts, revision = snapshot.counts(copy), snapshot.revision(copy)
    writer.finish(
        taken_at=taken_at,
        revision=revision,
        rows=counts,
        files=files,
        missing=sorted(missing)[:100],
        missing_files=len(missing),
    )
    return Made(
        size=(room / "archive").stat().st_size,
        files=files,
        rows=sum(counts.values()),
        revision=revision,
        taken_at=taken_at,
        missing=tuple(sorted(missing)),
    )


def _add_files(writer: Writer, root: Path) -> None:
    """Add every stored file that is not in the archive yet. Files still being written have no key and are left out."""
    for key, path in _stored(root):
        if FILES + key not in writer:
            writer.file(FILES + key, path)


def _stored(root: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            key = path.relative_to(root).as_posix()
            try:
                vetted(key)
            except ValueError:
                continue
            if not key.startswith(_TRANSIENT) and not path.is_symlink():
                yield key, path
