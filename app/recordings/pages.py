"""Serves recordings at signed addresses: byte ranges, and revocation checked before and while bytes flow.

The application serves them itself, because an address that the storage signs cannot be taken back.
"""

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from flask import Blueprint, Response, g, request, stream_with_context
from werkzeug.exceptions import Forbidden, Gone, HTTPException, RequestedRangeNotSatisfiable

from app import clock, gateways
from app.db import db, reading
from app.errors import GatewayError, NotFound
from app.recordings import actions, queries
from app.recordings.addresses import Expired, Forged, Purpose, signer
from app.recordings.models import BLOCK
from app.storage import Storage

log = logging.getLogger(__name__)

pages = Blueprint("recordings", __name__)

CHECK_AFTER = timedelta(seconds=2)
_SLICE = 64 * 1024
_DIGEST = 32


@dataclass(frozen=True, slots=True)
class Served:
    """A recording as plain values, so that no transaction stays open while its bytes flow."""

    id: str
    interview_id: str
    media: str
    content_type: str
    key: str
    size: int
    blocks: bytes
    purpose: Purpose

    @property
    def filename(self) -> str:
        """A name that tells nothing about anyone."""
        return f"interview-{self.interview_id[:8]}-{self.media}.{'m4a' if self.media == 'audio' else 'mp4'}"


@pages.before_request
def require_signed_address() -> None:
    """Let only those in whose address was signed here, has not run out, and leads to something that is still there."""
    recording_id, token = (
        str((request.view_args or {}).get("recording_id")),
        str((request.view_args or {}).get("token")),
    )
    with reading():
        row = queries.recording(recording_id)
        try:
            purpose = signer().check(token, recording_id=row.id, organization_id=row.organization_id)
        except Forged:
            raise _said(
                Forbidden(), "This address is not complete. Open the recording from its interview again."
            ) from None
        except Expired:
            raise _said(Gone(), "This address has run out. Open the recording from its interview again.") from None
        if queries.is_revoked(row.interview_id):
            raise _said(Gone(), "The recordings of this interview were deleted.")
        if row.damaged_at is not None:
            raise _said(Gone(), "This recording is damaged and cannot be played. Your administrator has been told.")
        g.recording = Served(
            id=row.id, interview_id=row.interview_id, media=row.media.value, content_type=row.content_type,
            key=row.storage_key, size=row.size, blocks=row.blocks, purpose=purpose,
        )  # fmt: skip
    db.session.rollback()


@pages.get("/recordings/<recording_id>/<token>")
def recording(recording_id: str, token: str) -> Response:  # noqa: ARG001 - the guard has read both
    """The file, or the part of it that a Range header asks for."""
    served: Served = g.recording
    start, end = _asked(served.size)
    storage = gateways.current().storage
    body: Iterator[bytes] = iter(())
    if request.method != "HEAD" and end > start:
        body = _flow(served, storage, start=start, end=end)
        first = next(body)  # a missing or damaged file is told before the answer begins
        body = stream_with_context(_after(first, body))
    response = Response(body, status=206 if _is_part() else 200, content_type=served.content_type)
    response.headers.update(_headers(served))
    response.content_length = end - start
    if _is_part():
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{served.size}"
    return response


def _is_part() -> bool:
    """One range is answered as a part; several, or one tied to a validator (we give none), with the whole."""
    asked = request.range
    return asked is not None and asked.units == "bytes" and len(asked.ranges) == 1 and "If-Range" not in request.headers


def _asked(size: int) -> tuple[int, int]:
    if not _is_part() or request.range is None:
        return 0, size
    span = request.range.range_for_length(size)
    if span is None:
        raise RequestedRangeNotSatisfiable(length=size)
    return int(span[0]), int(span[1])


def _headers(served: Served) -> dict[str, str]:
    kind = "attachment" if served.purpose is Purpose.DOWNLOAD else "inline"
    return {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'{kind}; filename="{served.filename}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Referrer-Policy": "no-referrer",
    }


def _after(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _flow(served: Served, storage: Storage, *, start: int, end: int) -> Iterator[bytes]:
    """Slices of the range: each block is compared with its hash, and access looked up at every block and every 2 s."""
    checked = clock.now()
    for block in range(start // BLOCK, (end - 1) // BLOCK + 1):
        if block * BLOCK > start and not _still_open(served):
            return
        content = _sound_block(served, storage, block)
        here = content[max(0, start - block * BLOCK) : end - block * BLOCK]
        for begin in range(0, len(here), _SLICE):
            if clock.now() - checked >= CHECK_AFTER:
                if not _still_open(served):
                    return
                checked = clock.now()
            yield here[begin : begin + _SLICE]


def _still_open(served: Served) -> bool:
    with reading():
        closed = queries.is_revoked(served.interview_id)
    db.session.rollback()
    if closed:
        log.info("recording %s: revoked while it was being sent", served.id)
    return not closed


def _sound_block(served: Served, storage: Storage, block: int) -> bytes:
    try:
        content = b"".join(storage.open(served.key, block * BLOCK, min((block + 1) * BLOCK, served.size)))
    except NotFound:
        content = b""
    if hashlib.sha256(content).digest() != served.blocks[block * _DIGEST : (block + 1) * _DIGEST]:
        if not _still_open(served):
            raise _said(Gone(), "The recordings of this interview were deleted.")
        actions.mark_damaged(served.id)
        db.session.commit()
        log.error("recording %s: block %d is not what was published; it is no longer served", served.id, block)
        raise GatewayError("This recording is damaged and cannot be played.", retryable=False)
    return content


def _said(error: HTTPException, message: str) -> HTTPException:
    vars(error)["data"] = {"message": message}  # where web.errors looks, and where flask-smorest's abort puts it
    return error
