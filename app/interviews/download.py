"""Sends the files of an interview as one archive. Rows are read first; sending holds no transaction."""

import logging
from collections.abc import Sequence

from flask import Flask, Response, current_app

from app import gateways
from app.core.db import db, reading, row_security
from app.core.errors import GatewayError
from app.interviews.archive import Part, archive
from app.interviews.models import Interview
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import is_revoked, recording_of
from app.web.streaming_slots import Lasting, Place, places

log = logging.getLogger(__name__)

ENDINGS = {Media.AUDIO: "m4a", Media.VIDEO: "mp4"}

Access = tuple[bool, bool]
"""Whether consent was withdrawn (always False where that does not matter), and whether recordings were revoked."""


def seat() -> Place:
    """A slot to send an archive, of a quarter of the threads, shared with candidates. GatewayError if none is free."""
    place = places("archives", share=4).take()
    if place is None:
        raise GatewayError("Too many downloads are running. Try again in a few minutes.", retryable=True)
    return place


def access_to(interview: Interview, *, heeds_withdrawal: bool) -> Access:
    """The state that must not change while the archive is being sent."""
    return heeds_withdrawal and interview.withdrawn_at is not None, is_revoked(interview.id)


def files_of(interview: Interview, *, with_recordings: bool = True) -> list[Part]:
    """The recordings, unless they were revoked, and the candidate's documents, as parts with storage keys."""
    parts = []
    if with_recordings and not is_revoked(interview.id):
        recordings = ((media, recording_of(interview.id, media)) for media in Media)
        parts += [Part(f"recording-{media}.{ENDINGS[media]}", key=one.storage_key) for media, one in recordings if one]
    for number, document in enumerate(interview.documents, 1):
        name = document.name.replace("/", "_").replace("\\", "_")
        parts.append(Part(f"documents/{number}-{name}", key=document.storage_key))
    return parts


def streamed(
    interview_id: str, parts: Sequence[Part], place: Place, *, access: Access, heeds_withdrawal: bool
) -> Response:
    """A response that builds the archive while sending it, and stops within seconds when ``access`` changes."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for the time after the request

    @row_security.as_chosen
    def is_open() -> bool:
        with app.app_context(), reading():
            # nosemgrep: row-by-id-in-edge - access to this interview was checked before; this checks again
            interview = db.session.get_one(Interview, interview_id)
            same = interview.erased_at is None and access_to(interview, heeds_withdrawal=heeds_withdrawal) == access
            db.session.rollback()
        if not same:
            log.info("interview %s: download stopped, because it was erased, revoked or withdrawn", interview_id)
        return same

    body = archive(parts, gateways.current().storage, is_open=is_open)
    response = Response(Lasting(body, place), mimetype="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name(interview_id, "zip")}"'
    return response


def file_name(interview_id: str, ending: str) -> str:
    """A file name without personal data."""
    return f"interview-{interview_id[:8]}.{ending}"
