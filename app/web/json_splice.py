"""Builds long JSON answers out of pieces that were compressed once, without parsing or compressing them again.

A gzip client gets ONE ordinary gzip member: small dynamic parts go in as stored deflate blocks, kept fragments as they
are, and the checksum is put together from the parts' (zlib's crc32_combine). Other clients get the inflated bytes.
Concatenated members or zstd frames would be shorter to write, but most HTTP clients stop after the first.
"""

import struct
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from flask import Response, request
from isal import isal_zlib
from werkzeug.wsgi import wrap_file

from app.web.body_files import DiskFile, PiecesFile

LEVEL = 6
_RAW = -15
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LAST_BLOCK = b"\x03\x00"
_STORED_MOST = 65_535
SHORT = 32 * 1024
"""Bytes: the server keeps a body up to this length for a slow reader by itself, and without the cost of a file."""
AT_ONCE = 8 * 1024 * 1024
"""Bytes: a longer body waits for its reader on the disk. Without room there it goes out piece by piece, and holds a
thread for as long as its reader takes."""
_BLOCK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Fragment:
    """Raw deflate data that ends on a byte without a last block, with the length and CRC-32 of what was deflated."""

    deflated: bytes
    length: int
    crc: int


Part = bytes | Fragment


def make_fragment(raw: bytes) -> Fragment:
    """Compress once, when the data is made."""
    press = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW)
    return Fragment(press.compress(raw) + press.flush(zlib.Z_FULL_FLUSH), len(raw), zlib.crc32(raw))


def inflate(fragment: Fragment) -> bytes:
    """The bytes a fragment was made of."""
    return bytes(isal_zlib.decompressobj(_RAW).decompress(fragment.deflated))


def spliced(parts: Iterable[Part], *, accepts_gzip: bool, mimetype: str = "application/json") -> Response:
    """One response with its length."""
    pieces = gzipped(parts) if accepts_gzip else [p if isinstance(p, bytes) else inflate(p) for p in parts]
    length = sum(map(len, pieces))
    headers = {"Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if accepts_gzip else {})}
    if length <= SHORT:
        return Response(b"".join(pieces), mimetype=mimetype, headers=headers)
    headers["Content-Length"] = str(length)
    file = _waiting(pieces, length)
    if file is None:
        return Response(pieces, mimetype=mimetype, headers=headers)
    body = wrap_file(request.environ, file, _BLOCK)  # type: ignore[arg-type]  # all that is read of a file
    return Response(body, mimetype=mimetype, headers=headers, direct_passthrough=True)


def _waiting(pieces: list[bytes], length: int) -> PiecesFile | DiskFile | None:
    """The body where it may wait for its reader without a thread; None when there is no room at all."""
    if length <= AT_ONCE and PiecesFile.has_room(length):
        return PiecesFile(pieces)
    if DiskFile.has_room(length):
        with suppress(OSError):
            return DiskFile(pieces)
    return None


def gzipped(parts: Iterable[Part]) -> list[bytes]:
    """The pieces of one gzip member that holds all parts in order."""
    pieces = [_GZIP_HEAD]
    crc = length = 0
    for part in parts:
        if isinstance(part, bytes):
            _store(pieces, part)
            crc = zlib.crc32(part, crc)
            length += len(part)
        else:
            pieces.append(part.deflated)
            crc = combined(crc, part.crc, part.length)
            length += part.length
    pieces += [_LAST_BLOCK, struct.pack("<II", crc, length & 0xFFFFFFFF)]
    return pieces


def _store(pieces: list[bytes], raw: bytes) -> None:
    for start in range(0, len(raw), _STORED_MOST):
        block = raw[start : start + _STORED_MOST]
        pieces.append(struct.pack("<BHH", 0, len(block), len(block) ^ 0xFFFF) + block)


def combined(first: int, second: int, second_length: int) -> int:
    """CRC-32 of two byte strings put together, from theirs and the length of the second."""
    return int(isal_zlib.crc32_combine(first, second, second_length))
