"""Takes the files out of a ZIP of CVs: one by one, without folders, and never a trap.

Nothing of the archive is believed: its directory is measured before it is read, and each file is read up to the size
that it states and no further. Raises Rejected for an archive that cannot be opened.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from os import SEEK_END
from typing import IO

from app.core.errors import Rejected
from app.interviews.documents.file_types import LARGEST, LARGEST_RATIO, label_of

LARGEST_DIRECTORY = 4 * 1024 * 1024
_END, _TAIL, _ZIP64 = b"PK\x05\x06", 65_557, b"PK\x06\x07"
NOT_OPENED = "This ZIP is damaged or has an unusual structure. Make a new one, or upload the files separately."
TOO_MANY = "This ZIP has too many entries. Upload at most 200 CVs at once."
TOO_LARGE = "This file is larger than 10 MiB. Save a smaller version of it, and upload that."
LOCKED = "This file is protected by a password. Save it without a password, then upload it again."
NESTED = "Parley does not open a ZIP inside a ZIP. Upload this one separately."
BOMB = "This file was not opened because it would expand to more than 100 times its size. No normal CV does that."
DAMAGED = "This file inside the ZIP is damaged. Upload it separately."
IS_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the archive: its bytes, or the reason why it was not taken out."""

    name: str
    content: bytes = b""
    reason: str | None = None


def is_archive(file: IO[bytes], name: str) -> bool:
    """Whether this is a ZIP of files, and not a Word document, which is one too."""
    file.seek(0)
    begins = file.read(4) in {IS_ZIP, _END}
    return begins and not name.lower().endswith(".docx")


def entries_of(file: IO[bytes]) -> Iterator[Entry]:
    """Every file of the archive. What computers add for themselves is left out."""
    _measure(file)
    try:
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                label = label_of(info.filename)
                if not (info.is_dir() or info.filename.startswith("__MACOSX/") or label.startswith(".")):
                    yield _entry(archive, info, label)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error):
        raise Rejected(NOT_OPENED) from None


def _measure(file: IO[bytes]) -> None:
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < 22 or _ZIP64 in tail:
        raise Rejected(NOT_OPENED)
    if struct.unpack_from("<I", tail, at + 12)[0] > LARGEST_DIRECTORY:
        raise Rejected(TOO_MANY)
    file.seek(0)


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, label: str) -> Entry:
    if reason := _flaw(info, label):
        return Entry(label, reason=reason)
    try:
        with archive.open(info) as part:
            content = part.read(info.file_size + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError, ValueError):
        return Entry(label, reason=DAMAGED)
    if len(content) > info.file_size:
        return Entry(label, reason=DAMAGED)
    if content.startswith(IS_ZIP) and not label.lower().endswith(".docx"):
        return Entry(label, reason=NESTED)
    return Entry(label, content)


def _flaw(info: zipfile.ZipInfo, label: str) -> str | None:
    if info.flag_bits & 0x1:
        return LOCKED
    if label.lower().endswith(".zip"):
        return NESTED
    if info.file_size > LARGEST:
        return TOO_LARGE
    return BOMB if info.file_size > LARGEST_RATIO * max(info.compress_size, 1) else None
