"""What Parley needs of a storage for files. Keys look like paths; only Parley creates them, and all are vetted."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from app.core.errors import GatewayError

PIECE = 256 * 1024
"""Bytes per piece."""

LONGEST_KEY = 200
_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")

Content = bytes | BinaryIO | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Stored:
    """What was actually written: number of bytes, and their SHA-256 in lower-case hex."""

    size: int
    sha256: str


class Damaged(GatewayError):
    """The stored bytes differ from the acknowledged ones. Reading again does not help.

    People read the message, so ``key`` is for the log only.
    """

    def __init__(self, key: str) -> None:
        super().__init__(
            "a stored file is damaged and no longer matches what was saved; "
            "ask your operator to restore it from a backup, then try again",
            retryable=False,
        )
        self.key = key


class Storage(Protocol):
    """Stores files under keys. GatewayError means that the storage failed, NotFound that there is no such key."""

    def put(self, key: str, content: Content) -> Stored:
        """Store ``content`` under ``key``, replacing what was there. On return the bytes survive a power cut."""

    def open(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from ``start`` up to, but not including, ``end``; without ``end`` up to the last.

        With ``end``, nothing is checked beforehand: NotFound is raised when the first bytes are read.
        """

    def size(self, key: str) -> int:
        """The number of bytes under ``key``."""

    def delete(self, key: str) -> None:
        """Delete the bytes for good. A missing key is no error."""

    def delete_prefix(self, prefix: str) -> None:
        """Delete everything below the folder ``prefix`` for good. An empty or missing folder is no error."""

    def list(self, prefix: str) -> Iterator[str]:
        """Keys below the folder ``prefix``, sorted."""

    def has_room(self) -> bool:
        """Whether there is space for another interview. Running ones may continue without it."""


def vetted(key: str) -> str:
    """Return ``key`` if it can only name a place inside the storage. Raises ValueError otherwise."""
    if len(key) > LONGEST_KEY or not _KEY.fullmatch(key) or ".." in key:
        raise ValueError("a storage key is made of letters, digits, '_', '-', '.' and single slashes")
    return key


def pieces_of(content: Content) -> Iterator[bytes]:
    """The content in pieces, whatever form it has."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        yield bytes(content)
    elif hasattr(content, "read"):
        while piece := content.read(PIECE):
            yield piece
    else:
        yield from content


def read(storage: Storage, key: str) -> bytes:
    """All bytes under ``key``: for small files such as chunks."""
    return b"".join(storage.open(key))


def read_verified(storage: Storage, key: str, *, sha256: str) -> bytes:
    """As ``read``. Raises Damaged if the bytes do not have the hash ``sha256``."""
    content = read(storage, key)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Damaged(key)
    return content
