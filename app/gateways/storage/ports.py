"""What Parley asks of a place for files. Keys look like paths, are made by us alone, and are vetted all the same."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from app.core.errors import GatewayError

PIECE = 256 * 1024
"""How many bytes travel at once."""

LONGEST_KEY = 200
_KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")

Content = bytes | BinaryIO | Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Stored:
    """What was really written: bytes, and their SHA-256 in lower-case hex."""

    size: int
    sha256: str


class Damaged(GatewayError):
    """Stored bytes are not the ones that were acknowledged. Trying again reads the same damage.

    People read the message, so ``key`` is for the log alone.
    """

    def __init__(self, key: str) -> None:
        super().__init__("a file in the storage is damaged: it differs from what was stored", retryable=False)
        self.key = key


class Storage(Protocol):
    """Keeps files under keys. GatewayError means that the place itself failed, NotFound that the key is empty."""

    def put(self, key: str, content: Content) -> Stored:
        """Store ``content`` under ``key`` in place of what was there; on return the bytes would survive a power cut."""

    def open(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from ``start`` up to, not including, ``end``; without ``end`` to the last one.

        With ``end`` nothing is looked up beforehand: NotFound comes with the first bytes.
        """

    def size(self, key: str) -> int:
        """Bytes under ``key``."""

    def delete(self, key: str) -> None:
        """Destroy the bytes; a key without any is fine."""

    def delete_prefix(self, prefix: str) -> None:
        """Destroy everything below the folder ``prefix``; an empty or absent one is fine."""

    def list(self, prefix: str) -> Iterator[str]:
        """Keys below the folder ``prefix``, sorted."""

    def has_room(self) -> bool:
        """Whether there is room for another interview; running ones may go on even when there is not."""


def vetted(key: str) -> str:
    """``key`` itself, when it can only mean a place inside the storage; ValueError otherwise."""
    if len(key) > LONGEST_KEY or not _KEY.fullmatch(key) or ".." in key:
        raise ValueError("a storage key is made of letters, digits, '_', '-', '.' and single slashes")
    return key


def pieces_of(content: Content) -> Iterator[bytes]:
    """The content in pieces, whatever form it came in."""
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
    """As ``read``; raises Damaged unless the bytes are the ones that were acknowledged under ``sha256``."""
    content = read(storage, key)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Damaged(key)
    return content
