"""Where a reader is in the feed, as text for URLs. It is no secret: it has a number, and ids that its reader knows."""

import base64
import binascii
import struct
import uuid
import zlib
from datetime import UTC, datetime
from typing import NamedTuple

from app.core.errors import Rejected

_FORMAT = struct.Struct(">B16s16sIQQI")
_CHECK = struct.Struct(">I")
_VERSION = 1
START_OVER = "Call GET /v1/changes without after to start over: it returns the present state of everything."
UNREADABLE = f"Use the next of an earlier response, unchanged. {START_OVER}"


class Cursor(NamedTuple):
    """A position in the feed of one organization, as keys with one scope see it (``KeyScope.view``). ``since`` is when
    its reader last had everything, or began.
    """

    generation: str
    organization_id: str
    view: int
    txid: int
    number: int
    since: datetime

    @property
    def position(self) -> tuple[int, int]:
        """Everything up to here has been read."""
        return self.txid, self.number


def text_of(cursor: Cursor) -> str:
    """The cursor as ``next``."""
    packed = _FORMAT.pack(
        _VERSION,
        uuid.UUID(cursor.generation).bytes,
        uuid.UUID(cursor.organization_id).bytes,
        cursor.view,
        *cursor.position,
        int(cursor.since.timestamp()),
    )
    return base64.urlsafe_b64encode(packed + _CHECK.pack(zlib.crc32(packed))).decode()


def read(text: str) -> Cursor:
    """The cursor that ``text`` is. Raises Rejected."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        packed, check = raw[: _FORMAT.size], raw[_FORMAT.size :]
        version, generation, organization, view, txid, number, since = _FORMAT.unpack(packed)
        is_whole = check == _CHECK.pack(zlib.crc32(packed)) and version == _VERSION
    except (binascii.Error, struct.error, UnicodeEncodeError):
        is_whole = False
    if not is_whole or max(txid, number) >= 2**63:
        raise Rejected(UNREADABLE, field="after", code="cursor_invalid")
    moment = datetime.fromtimestamp(since, UTC)
    return Cursor(str(uuid.UUID(bytes=generation)), str(uuid.UUID(bytes=organization)), view, txid, number, moment)
