"""Restores a backup: it is unpacked, checked and prepared in a separate folder, then moved into place."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.data_dir import LOCK
from app.operations.backups.archive import DATABASE, FILES, SECRET, Broken, Reader

STAGING = ".restoring-"
MODELS = "models"
"""Directory of speech models below DATA_DIR, unless MODELS_DIR names another. A restore leaves it where it is."""


class LeftAside(Exception):
    """The backup could not be moved into place, nor the old data back. The message says where that is."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of database and files, relative to DATA_DIR."""

    database: Path
    files: Path

    def place(self, below: Path) -> Callable[[str], Path]:
        """A function that returns the path of a member of the archive."""

        def placed(name: str) -> Path:
            if name == DATABASE:
                return below / self.database
            return below / SECRET if name == SECRET else below / self.files / name.removeprefix(FILES)

        return placed


@dataclass(frozen=True, slots=True)
class Unpacked:
    """An unpacked backup, not in place yet. ``manifest`` is the first line of its manifest."""

    folder: Path
    header: dict[str, Any]
    manifest: dict[str, Any]


def holds_something(data_dir: Path) -> bool:
    """Whether it contains anything besides speech models, its lock and the remains of a killed restore."""
    return data_dir.is_dir() and any(
        path.name not in {MODELS, LOCK} and not path.name.startswith(STAGING) for path in data_dir.iterdir()
    )


@contextmanager
def unpacked(
    archive: Path, data_dir: Path, layout: Layout, *, fits: Callable[[dict[str, Any]], None]
) -> Iterator[Unpacked]:
    """The archive's content in a folder inside ``data_dir``, deleted at the end unless it was moved into place.

    ``fits`` gets the header before anything is unpacked, and raises if it must not be. Raises Broken and OSError.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in data_dir.glob(STAGING + "*"):
        shutil.rmtree(left)
    if (needed := archive.stat().st_size) > (free := shutil.disk_usage(data_dir).free):
        raise OSError(errno.ENOSPC, f"the backup needs {needed:,} bytes, but only {free:,} are free", str(data_dir))
    folder = Path(tempfile.mkdtemp(prefix=STAGING, dir=data_dir))
    try:
        with tempfile.TemporaryDirectory(dir=folder) as room, archive.open("rb") as file:
            reader = Reader(file, Path(room))
            try:
                fits(reader.header)
                manifest = reader.extract(layout.place(folder))
            finally:
                reader.close()
        if not (folder / layout.database).is_file():
            raise Broken("it contains no database")
        yield Unpacked(folder, reader.header, manifest)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_in_place(folder: Path, data_dir: Path, *, aside: Path) -> bool:
    """Make ``folder``, inside ``data_dir``, the new ``data_dir``. What was there moves to ``aside``, except models.

    Returns whether there was anything. Everything is on the disk first. Raises OSError, or LeftAside where what was
    there cannot be moved back.
    """
    os.sync()
    if not holds_something(data_dir):
        for path in sorted(folder.iterdir(), key=lambda path: path.is_file()):
            path.rename(data_dir / path.name)
        os.sync()
        return False
    if aside.exists():
        raise FileExistsError(errno.EEXIST, "is there already", str(aside))
    data_dir.rename(aside)
    try:
        (aside / folder.name).rename(data_dir)
    except OSError as error:
        try:
            aside.rename(data_dir)
        except OSError:
            raise LeftAside(f"{error.strerror or error}; what was in {data_dir} is in {aside}: move it back") from error
        raise
    data_dir.chmod(0o700)
    if (aside / MODELS).exists():
        (aside / MODELS).rename(data_dir / MODELS)
    os.sync()
    return True
