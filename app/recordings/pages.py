"""Serves recordings at signed addresses: byte ranges, and revocation checked before and while bytes flow.

The application serves them itself, because an address that the storage signs cannot be taken back.
"""

import hashlib
import logging
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import timedelta

from flask import Blueprint, Flask, Response, current_app, g, request
from werkzeug.exceptions import Forbidden, Gone, HTTPException, RequestedRangeNotSatisfiable

from app import clock, gateways
from app.accounts.access import current_login, note_access
from app.accounts.queries import is_disabled, organization_with
from app.db import db, reading
from app.errors import GatewayError, NotFound
from app.recordings import actions, queries
from app.recordings.addresses import Expired, Forged, Purpose, signer
from app.recordings.models import BLOCK
from app.storage import Storage
from app.web.lasting import Lasting, Place, places

log = logging.getLogger(__name__)

pages = Blueprint("recordings", __name__)

CHECK_AFTER = timedelta(seconds=2)
_SLICE = 64 * 1024
_CHECK_BLOCKS = 1024 * 1024 // BLOCK
_DIGEST = 32


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
        if is_disabled(row.organization_id):
            raise _said(Gone(), "The organization of this recording has been disabled.")
        if row.damaged_at is not None:
            raise _said(Gone(), "This recording is damaged and cannot be played. Your administrator has been told.")
        g.recording = Served(
            id=row.id, interview_id=row.interview_id, organization_id=row.organization_id, media=row.media.value,
            content_type=row.content_type,
            key=row.storage_key, size=row.size, blocks=row.blocks, purpose=purpose,
        )  # fmt: skip
    db.session.rollback()


@pages.get("/recordings/<recording_id>/<token>")
def recording(recording_id: str, token: str) -> Response:  # noqa: ARG001 - the guard has read both
    """The file, or the part of it that a Range header asks for."""
    served: Served = g.recording
    start, end = _asked(served.size)
    if start == 0 and request.method == "GET":
        _note(served)
    body: Iterator[bytes] = iter(())
    if request.method != "HEAD" and end > start:
        end, place = _granted(start, end)
        app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - Flask's own way
        body = Lasting(_flow(_Keeper(served, app), start=start, end=end), place).begun()
    response = Response(body, status=206 if _is_part() else 200, content_type=served.content_type)
    response.headers.update(_headers(served))
    response.content_length = end - start
    if _is_part():
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{served.size}"
    return response


def _note(served: Served) -> None:
    """Write down that someone began to play or load it; who, where a member is signed in here."""
    login = current_login()
    by = login.member if login is not None and login.member.organization_id == served.organization_id else None
    organization = by.organization if by else organization_with(served.organization_id)
    told = {"interview": served.interview_id, "media": served.media, "for": served.purpose.value}
    note_access(organization, "recording.fetched", served.id, by=by, **told)
    db.session.rollback()


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


def _granted(start: int, end: int) -> tuple[int, Place | None]:
    """Where this answer ends, and its place among those that last; none for one that is short.

    A reader that pauses holds a thread as long as more than the server's buffer is on its way. Half of the threads may
    be held like that; then players get one block at a time, which fits into the buffer, and ask for the next one.
    """
    block_end = (start // BLOCK + 1) * BLOCK
    if end <= block_end:
        return end, None
    place = places("recordings", share=2).take()
    if place is not None:
        return end, place
    if _is_part():
        return block_end, None
    raise GatewayError("Many recordings are being downloaded just now; try again in a little while.", retryable=True)


def _headers(served: Served) -> dict[str, str]:
    kind = "attachment" if served.purpose is Purpose.DOWNLOAD else "inline"
    return {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        # The address itself is the permission: customers put it into players on sites of their own.
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Content-Disposition": f'{kind}; filename="{served.filename}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Referrer-Policy": "no-referrer",
    }


def _flow(keeper: "_Keeper", *, start: int, end: int) -> Generator[bytes, None, None]:
    """Slices of the range: each block is compared with its hash, and access looked up at every MiB and every 2 s."""
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
    """Looks things up while an answer flows: each time in a context of its own, so that nothing is held in between."""

    def __init__(self, served: Served, app: Flask) -> None:
        self._served = served
        self._app = app
        self._storage: Storage = gateways.current().storage

    def is_open(self) -> bool:
        """Whether access has not been ended."""
        with self._app.app_context(), reading():
            closed = queries.is_revoked(self._served.interview_id)
            db.session.rollback()
        if closed:
            log.info("recording %s: revoked while it was being sent", self._served.id)
        return not closed

    def block(self, number: int) -> bytes:
        """The bytes of a block, when they are the published ones; else the recording is taken out of reach."""
        served, start = self._served, number * BLOCK
        try:
            content = b"".join(self._storage.open(served.key, start, min(start + BLOCK, served.size)))
        except NotFound:
            content = b""
        if hashlib.sha256(content).digest() == served.blocks[number * _DIGEST : (number + 1) * _DIGEST]:
            return content
        if not self.is_open():
            raise _said(Gone(), "The recordings of this interview were deleted.")
        self._mark_damaged(number)
        raise GatewayError("This recording is damaged and cannot be played.", retryable=False)

    def _mark_damaged(self, number: int) -> None:
        log.error("recording %s: block %d is not what was published; it is no longer served", self._served.id, number)
        with self._app.app_context():
            actions.mark_damaged(self._served.id)
            db.session.commit()


def _said(error: HTTPException, message: str) -> HTTPException:
    vars(error)["data"] = {"message": message}  # where web.errors looks, and where flask-smorest's abort puts it
    return error
