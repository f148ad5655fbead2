"""Sends published files: byte ranges, every block checked against its hash, access checked before and while sending.

Callers decide who may have the file; this module repeatedly checks what ends access for everyone.
"""

import hashlib
import logging
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import timedelta

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import Gone, HTTPException, RequestedRangeNotSatisfiable

from app import gateways
from app.accounts.access import current_login, note_access
from app.accounts.queries import is_disabled, organization_with
from app.core import clock
from app.core.db import db, reading, row_security
from app.core.errors import GatewayError, NotFound
from app.gateways.storage import Storage
from app.interviews.recordings import queries
from app.interviews.recordings.models import BLOCK, Recording
from app.web.streaming_slots import Lasting, Place, places

log = logging.getLogger(__name__)

CHECK_AFTER = timedelta(seconds=2)
_SLICE = 64 * 1024
_CHECK_BLOCKS = 1024 * 1024 // BLOCK
_DIGEST = 32

Damaged = Callable[[str, str], None]
"""Marks the recording with this id, stored under this key, as damaged, and commits; called in a separate application
context.
"""
GoesOn = Callable[[], bool]
"""Whether the receiver still has access; called in a separate read transaction."""


@dataclass(frozen=True, slots=True)
class Served:
    """A recording as plain values, so that no transaction stays open while its bytes flow."""

    id: str
    interview_id: str
    organization_id: str
    media: str
    content_type: str
    key: str
    size: int
    blocks: bytes
    used_for: str
    """The purpose in the audit log: ``play``, ``download``, or a caller's word."""
    is_download: bool = False

    @property
    def filename(self) -> str:
        """A file name without personal data."""
        return f"interview-{self.interview_id[:8]}-{self.media}.{'m4a' if self.media == 'audio' else 'mp4'}"

    @classmethod
    def of(cls, row: Recording, used_for: str, *, is_download: bool = False) -> "Served":
        """The values of a row. Raises Gone when it was revoked, is damaged, or its organization is disabled."""
        if queries.is_revoked(row.interview_id):
            raise said(Gone(), "The recordings of this interview were deleted.")
        if is_disabled(row.organization_id):
            raise said(Gone(), "The organization of this recording is disabled.")
        if row.damaged_at is not None:
            raise said(Gone(), "This recording is damaged and cannot be played. Contact your administrator.")
        return cls(
            id=row.id,
            interview_id=row.interview_id,
            organization_id=row.organization_id,
            media=row.media.value,
            content_type=row.content_type,
            key=row.storage_key,
            size=row.size,
            blocks=row.blocks,
            used_for=used_for,
            is_download=is_download,
        )


def sent(served: Served, *, damaged: Damaged, goes_on: GoesOn | None = None) -> Response:
    """The file, or the part that a Range header requests; stops within seconds once ``goes_on`` returns False."""
    start, end = _asked(served.size)
    if start == 0 and request.method == "GET":
        _note(served)
    body: Iterator[bytes] = iter(())
    if request.method != "HEAD" and end > start:
        end, place = _granted(start, end)
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - Flask's own way
        body = Lasting(
            _flow(_Keeper(served, app, damaged=damaged, goes_on=goes_on), start=start, end=end), place
        ).begun()
    response = Response(body, status=206 if _is_part() else 200, content_type=served.content_type)
    response.headers.update(_headers(served))
    response.content_length = end - start
    if _is_part():
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{served.size}"
    return response


def _note(served: Served) -> None:
    """Record in the audit log that the file was played or downloaded, and by whom if a member is signed in."""
    login = current_login()
    by = login.member if login is not None and login.member.organization_id == served.organization_id else None
    organization = by.organization if by else organization_with(served.organization_id)
    details = {"interview": served.interview_id, "media": served.media, "for": served.used_for}
    note_access(organization, "recording.fetched", served.id, by=by, **details)
    db.session.rollback()


def _is_part() -> bool:
    """Whether to answer with a part: one range, without If-Range (there are no validators). Else the whole file."""
    span = request.range
    return span is not None and span.units == "bytes" and len(span.ranges) == 1 and "If-Range" not in request.headers


def _asked(size: int) -> tuple[int, int]:
    if not _is_part() or request.range is None:
        return 0, size
    span = request.range.range_for_length(size)
    if span is None:
        raise RequestedRangeNotSatisfiable(length=size)
    return int(span[0]), int(span[1])


def _granted(start: int, end: int) -> tuple[int, Place | None]:
    """Where this response ends, and its streaming slot; short responses need none.

    A paused reader occupies a thread while more than the server's buffer is to be sent. Half of the threads may be
    occupied like that; then players get one block at a time, which fits into the buffer, and request the next one.
    """
    block_end = (start // BLOCK + 1) * BLOCK
    if end <= block_end:
        return end, None
    place = places("recordings", share=2).take()
    if place is not None:
        return end, place
    if _is_part():
        return block_end, None
    raise GatewayError("Too many downloads are running. Try again in a few minutes.", retryable=True)


def _headers(served: Served) -> dict[str, str]:
    kind = "attachment" if served.is_download else "inline"
    return {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        # The URL itself is the permission: customers use it in players on their own sites.
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Content-Disposition": f'{kind}; filename="{served.filename}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Referrer-Policy": "no-referrer",
    }


def _flow(keeper: "_Keeper", *, start: int, end: int) -> Generator[bytes, None, None]:
    """Slices of the range. Each block is compared with its hash, and access is checked at every MiB and every 2 s."""
    checked = clock.now()
    for block in range(start // BLOCK, (end - 1) // BLOCK + 1):
        if block * BLOCK > start and block % _CHECK_BLOCKS == 0 and not keeper.is_open():
            return
        content = keeper.block(block)
        here = content[max(0, start - block * BLOCK) : end - block * BLOCK]
        for begin in range(0, len(here), _SLICE):
            if clock.now() - checked >= CHECK_AFTER:
                if not keeper.is_open():
                    return
                checked = clock.now()
            yield here[begin : begin + _SLICE]


class _Keeper:
    """Reads blocks and checks access while a response is sent, each time in a new context that holds nothing open."""

    def __init__(self, served: Served, app: Flask, *, damaged: Damaged, goes_on: GoesOn | None) -> None:
        self._served = served
        self._app = app
        self._damaged = damaged
        self._goes_on = goes_on
        self._storage: Storage = gateways.current().storage

    def is_open(self) -> bool:
        """Whether the receiver still has access."""
        with self._app.app_context(), reading(), row_security.only(self._served.organization_id):
            closed = queries.is_revoked(self._served.interview_id)
            closed = closed or (self._goes_on is not None and not self._goes_on())
            db.session.rollback()
        if closed:
            log.info("recording %s: access ended during the download", self._served.id)
        return not closed

    def block(self, number: int) -> bytes:
        """The bytes of a block. If they differ from the published ones, marks the recording as damaged and raises."""
        served, start = self._served, number * BLOCK
        try:
            content = b"".join(self._storage.open(served.key, start, min(start + BLOCK, served.size)))
        except NotFound:
            content = b""
        if hashlib.sha256(content).digest() == served.blocks[number * _DIGEST : (number + 1) * _DIGEST]:
            return content
        if not self.is_open():
            raise said(Gone(), "The recordings of this interview were deleted.")
        self._mark_damaged(number)
        raise GatewayError("This recording is damaged and cannot be played.", retryable=False)

    def _mark_damaged(self, number: int) -> None:
        log.error("recording %s: block %d differs from the published file; no longer served", self._served.id, number)
        with self._app.app_context(), row_security.only(self._served.organization_id):
            self._damaged(self._served.id, self._served.key)


def said(error: HTTPException, message: str) -> HTTPException:
    """The error with ``message`` as its text."""
    vars(error)["data"] = {"message": message}  # where web.errors looks, and where flask-smorest's abort puts it
    return error
