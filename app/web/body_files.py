"""Many pieces as one file, so that a server can send a long body in large steps without a copy of the whole.

Handed over piece by piece, a body costs the server a lock, a system call and often a change of threads for every one.
"""

import os
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

WAITING = 64 * 1024 * 1024
"""Bytes that the readers of all such bodies together may leave in memory."""


ON_DISK = 2 * 1024 * 1024 * 1024
"""And on the disk, for what does not find room there."""


class _Waiting:
    """A body that waits for its reader counts against ``most`` until it is closed, read or not."""

    most: ClassVar[int]
    _lock: ClassVar = threading.Lock()
    _waiting: ClassVar[int] = 0

    @classmethod
    def has_room(cls, length: int) -> bool:
        """Whether ``length`` bytes more may wait for their readers; threads that ask at once may all get room."""
        return cls._waiting + length <= cls.most

    @classmethod
    def _count(cls, length: int) -> None:
        with cls._lock:
            cls._waiting += length


class DiskFile(_Waiting):
    """What a WSGI server needs of a file, in one without a name that is gone when it is closed. Raises OSError."""

    most = ON_DISK
    _length = 0

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - the server closes it
        try:
            self._file.writelines(pieces)
            self._count(length := self._file.tell())
            self._length = length
            self._file.seek(0)
        except OSError:
            self.close()
            raise
        self.read, self.tell, self.seek, self.seekable = (
            self._file.read,
            self._file.tell,
            self._file.seek,
            self._file.seekable,
        )

    def close(self) -> None:
        """Give the room back; once is enough."""
        length, self._length = self._length, 0
        self._count(-length)
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # there may have been no room for it
            self.close()


class PiecesFile(_Waiting):
    """What a WSGI server needs of a file, in memory."""

    most = WAITING

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self._ends = list(accumulate(map(len, pieces)))
        self._length = self._ends[-1] if self._ends else 0
        self._at = 0
        self._last_at, self._last = 0, b""
        self._is_open = True
        self._count(self._length)

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes, all that are left for -1."""
        left = self._length - self._at
        wanted = left if size < 0 else min(size, left)
        # Servers read, send what the socket takes, go back, and read over what was sent.
        if self._last_at != self._at or len(self._last) < wanted:
            self._last_at, self._last = self._at, self._joined(wanted)
        content = self._last[:wanted]
        self._at += wanted
        return content

    def _joined(self, wanted: int) -> bytes:
        number, parts = bisect_right(self._ends, self._at), []
        start = self._at - (self._ends[number - 1] if number else 0)
        while wanted > 0:
            part = memoryview(self._pieces[number])[start : start + wanted]
            parts.append(part)
            wanted -= len(part)
            number, start = number + 1, 0
        return b"".join(parts)

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go elsewhere, never beyond either end."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence]
        self._at = min(max(0, origin + offset), self._length)
        return self._at

    def seekable(self) -> bool:
        """Yes."""
        return True

    def close(self) -> None:
        """Give the memory back; once is enough."""
        if self._is_open:
            self._is_open = False
            self._count(-self._length)
            self._pieces, self._ends, self._last, self._at = (), [], b"", self._length

    def __del__(self) -> None:
        self.close()  # a body that no one asked for, after HEAD for instance
