"""``DATA_DIR`` belongs to the user that Parley runs as, and to one ``parley up`` or ``parley restore`` at a time."""

import fcntl
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

log = logging.getLogger(__name__)

UMASK = 0o077
"""Umask of every Parley process: only its own user can read what it writes."""

_OTHERS = 0o077
LOCK = "up.lock"
"""Name of the file that is locked. Only the process that has locked it may delete it."""


class InUse(Exception):
    """Another ``parley up`` or ``parley restore`` runs on the same directory; the message names its process."""


def make_private(data_dir: Path) -> None:
    """Create the directory so that only its user can read it, or restrict an existing one."""
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    close_to_others(data_dir)


def close_to_others(data_dir: Path) -> None:
    """Restrict a directory that others can read, with everything in it, to its owner, and log it.

    An earlier release may have left files that everyone can read, so all of them are restricted, once. Afterwards the
    directory itself keeps others out. ``parley check`` reports a directory that cannot be changed.
    """
    if not data_dir.is_dir() or not is_open(data_dir):
        return
    try:
        _close(data_dir.resolve())
    except OSError as error:
        log.warning(
            "other users of this machine can read DATA_DIR %s, and its permissions cannot be changed: %s",
            *(data_dir, error.strerror),
        )
        return
    log.warning("other users of this machine could read DATA_DIR %s; it is now restricted to its owner", data_dir)
    for folder, folders, files in os.walk(data_dir):
        for name in (*folders, *files):
            with suppress(OSError):  # deleted meanwhile, or another user's; the directory keeps others out
                _close(Path(folder, name))


def is_open(path: Path) -> bool:
    """Whether its mode lets anyone but the owner do anything with it."""
    return bool(path.stat().st_mode & _OTHERS)


def is_reachable(path: Path) -> bool:
    """Whether every user of this machine can read it: its mode allows it, and so do those of all parent directories."""
    return bool(path.stat().st_mode & stat.S_IROTH) and all(
        above.stat().st_mode & stat.S_IXOTH for above in path.resolve().parents
    )


def _close(path: Path) -> None:
    mode = path.lstat().st_mode
    if not stat.S_ISLNK(mode) and mode & _OTHERS:
        path.chmod(stat.S_IMODE(mode) & ~_OTHERS)


@contextmanager
def held_alone(data_dir: Path) -> Iterator[None]:
    """Hold the directory for this process. Raises InUse.

    The lock is a record lock: forked children do not inherit it, so it ends with this process, however that ends.
    """
    with _locked(data_dir / LOCK) as file:
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _locked(path: Path) -> IO[str]:
    """The file at this path, locked. It may be deleted or replaced before it is locked; then the new one counts."""
    while True:
        file = path.open("a+")
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            with file:
                raise InUse(_who(path.parent, file)) from error
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        file.close()


def _who(data_dir: Path, lock: IO[str]) -> str:
    lock.seek(0)
    number = lock.read().strip()
    process = f" (process {number})" if number else ""
    return (
        f"Another parley up or parley restore{process} is using {data_dir}. Stop it or wait until it has ended, or "
        "set DATA_DIR to another directory."
    )
