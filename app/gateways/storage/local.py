"""Files in a local directory, written so that an acknowledged file survives a power cut.

Temporary file, fsync, rename, fsync of the directory: in this order, and each checked. After a failed fsync the kernel
may drop the pages and still report success for the next one, so the file is deleted and written again under another
name.
"""

import errno
import hashlib
import itertools
import logging
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from app.core.errors import GatewayError, NotFound
from app.gateways.storage.ports import PIECE, Content, Stored, pieces_of, vetted

log = logging.getLogger(__name__)

_FULL = {errno.ENOSPC, errno.EDQUOT}
_ATTEMPTS = 3
_LOW_BYTES = 2 * 1024**3
_LOW_SHARE = 0.10
_INCOMING = ".incoming"


class LocalStorage:
    """Keys are paths below ``directory``. Tests pass another ``fsync`` to try a failing disk."""

    def __init__(self, directory: Path | str, *, fsync: Callable[[int], None] = os.fsync) -> None:
        self._root = Path(directory).absolute()
        self._incoming = f"{self._root}/{_INCOMING}"
        self._prefix, self._numbers = uuid.uuid4().hex, itertools.count()
        self._fsync = fsync
        self._durable: set[str] = set()

    def put(self, key: str, content: Content) -> Stored:
        target = f"{self._root}/{vetted(key)}"  # a string, because Path takes longer than the system calls here
        try:
            return self._put(target, content)
        except OSError as error:
            raise _trouble(error) from error

    def open(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        stop = self.size(key) if end is None else end
        return self._pieces(self._path(key), start, stop)

    def size(self, key: str) -> int:
        path = self._path(key)
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound("the stored file does not exist") from None
        except OSError as error:
            raise _trouble(error) from error
        if not path.is_file():
            raise NotFound("the stored file does not exist")
        return status.st_size

    def delete(self, key: str) -> None:
        path = self._path(key)
        try:
            path.unlink(missing_ok=True)
            if path.parent.is_dir():
                self._sync_directory(path.parent)
        except NotADirectoryError:
            return
        except OSError as error:
            raise _trouble(error) from error

    def delete_prefix(self, prefix: str) -> None:
        folder = self._path(prefix)
        try:
            if folder.is_dir():
                self._durable.clear()
                shutil.rmtree(folder)
                self._sync_directory(folder.parent)
        except FileNotFoundError:
            return self.delete_prefix(prefix)  # another process deletes the same; delete the rest
        except OSError as error:
            raise _trouble(error) from error

    def list(self, prefix: str) -> Iterator[str]:
        folder = self._path(prefix)
        files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
        return (path.relative_to(self._root).as_posix() for path in files)

    def has_room(self) -> bool:
        self._root.mkdir(parents=True, exist_ok=True)
        disk = shutil.disk_usage(self._root)
        inodes = os.statvfs(self._root)
        low_on_inodes = inodes.f_files > 0 and inodes.f_favail < inodes.f_files * 0.01
        return disk.free >= _LOW_BYTES and disk.free >= disk.total * _LOW_SHARE and not low_on_inodes

    def _path(self, key: str) -> Path:
        return self._root / vetted(key)

    def _put(self, target: str, content: Content) -> Stored:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._write(target, content)
            except FileNotFoundError:  # the folder was deleted meanwhile
                if attempt == _ATTEMPTS or not _rewound(content):
                    raise
            except OSError as error:
                if error.errno != errno.EIO or attempt == _ATTEMPTS or not _rewound(content):
                    raise
                log.warning("storage: input/output error, writing the file again under another name")
        raise AssertionError("the last attempt returns or raises")

    def _write(self, target: str, content: Content) -> Stored:
        folder = os.path.dirname(target)  # noqa: PTH120
        self._make_durable(self._incoming)
        self._make_durable(folder)
        temporary = f"{self._incoming}/{self._prefix}-{os.getpid()}-{next(self._numbers)}"
        try:
            stored = self._fill(temporary, content)
            os.replace(temporary, target)  # noqa: PTH105
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        self._sync_directory(folder)
        return stored

    def _fill(self, temporary: str, content: Content) -> Stored:
        digest, size = hashlib.sha256(), 0
        with open(temporary, "xb", buffering=0) as file:  # noqa: PTH123
            for piece in pieces_of(content):
                _write_all(file.fileno(), piece)
                digest.update(piece)
                size += len(piece)
            self._fsync(file.fileno())
        return Stored(size=size, sha256=digest.hexdigest())

    def _make_durable(self, name: str) -> None:
        """Create a folder and sync its entry and those above it to disk, once per process and folder."""
        if name in self._durable and os.path.isdir(name):  # noqa: PTH112
            return
        folder = Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        above = [path for path in folder.parents if path == self._root or self._root in path.parents]
        for path in (*above, self._root.parent):
            self._sync_directory(path)
        self._durable.add(name)

    def _sync_directory(self, folder: Path | str) -> None:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._fsync(descriptor)
        finally:
            os.close(descriptor)

    @staticmethod
    def _pieces(path: Path, start: int, end: int) -> Iterator[bytes]:
        try:
            with path.open("rb", buffering=0) as file:
                while start < end and (piece := os.pread(file.fileno(), min(PIECE, end - start), start)):
                    start += len(piece)
                    yield piece
        except FileNotFoundError:
            raise NotFound("the stored file is gone") from None
        except OSError as error:
            raise _trouble(error) from error


def _write_all(descriptor: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(descriptor, left) :]


def _rewound(content: Content) -> bool:
    if isinstance(content, bytes):
        return True
    seekable = getattr(content, "seekable", None)
    if seekable is None or not seekable():
        return False
    content.seek(0)  # type: ignore[attr-defined]
    return True


def _trouble(error: OSError) -> GatewayError:
    if error.errno in _FULL:
        return GatewayError("the storage is full; free some space and try again", retryable=True)
    return GatewayError(
        f"the storage failed ({errno.errorcode.get(error.errno or 0, 'unknown error')})", retryable=True
    )
