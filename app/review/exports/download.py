"""Puts archives together: rows are read first, then everything is sent without a transaction."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from flask import Flask, Response, current_app, render_template

from app import gateways
from app.core.db import db, reading, row_security
from app.core.errors import GatewayError
from app.interviews.models import Interview
from app.interviews.recordings.models import Media
from app.interviews.recordings.queries import is_revoked, recording_of
from app.review.exports.bundle import Part, archive, captions
from app.review.exports.sheet import as_csv
from app.web.streaming_slots import Lasting, Place, places

log = logging.getLogger(__name__)

ENDINGS = {Media.AUDIO: "m4a", Media.VIDEO: "mp4"}
STYLES = ("tokens", "report")

Access = tuple[bool, bool]
"""Whether consent was withdrawn, as far as that matters, and whether the recordings were revoked."""


def seat() -> Place:
    """The right to send an archive: a quarter of the threads, candidates' own ones included. GatewayError if none."""
    place = places("archives", share=4).take()
    if place is None:
        raise GatewayError("Many downloads are under way just now; try again in a little while.", retryable=True)
    return place


def access_to(interview: Interview, *, heeds_withdrawal: bool) -> Access:
    """What has to stay as it is while the archive is being sent."""
    return heeds_withdrawal and interview.withdrawn_at is not None, is_revoked(interview.id)


def files_of(interview: Interview, *, with_recordings: bool = True) -> list[Part]:
    """The recordings, unless they were revoked, and the candidate's documents, where they are stored."""
    parts = []
    if with_recordings and not is_revoked(interview.id):
        kept = ((media, recording_of(interview.id, media)) for media in Media)
        parts += [Part(f"recording-{media}.{ENDINGS[media]}", key=one.storage_key) for media, one in kept if one]
    for number, document in enumerate(interview.documents, 1):
        name = document.name.replace("/", "_").replace("\\", "_")
        parts.append(Part(f"documents/{number}-{name}", key=document.storage_key))
    return parts


def streamed(
    interview_id: str, parts: Sequence[Part], place: Place, *, access: Access, heeds_withdrawal: bool
) -> Response:
    """The archive as an answer, made while it is sent; it ends within seconds when ``access`` changes."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for the time after the request

    @row_security.as_chosen
    def is_open() -> bool:
        with app.app_context(), reading():
            # nosemgrep: row-by-id-in-edge - asked again about an interview that the caller was let in to
            interview = db.session.get_one(Interview, interview_id)
            same = interview.erased_at is None and access_to(interview, heeds_withdrawal=heeds_withdrawal) == access
            db.session.rollback()
        if not same:
            log.info("interview %s: erased, revoked or withdrawn while it was being sent", interview_id)
        return same

    body = archive(parts, gateways.current().storage, is_open=is_open)
    response = Response(Lasting(body, place), mimetype="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name(interview_id, "zip")}"'
    return response


def file_name(interview_id: str, ending: str) -> str:
    """A name that tells nothing about anyone."""
    return f"interview-{interview_id[:8]}.{ending}"


def as_json(told: Mapping[str, Any]) -> bytes:
    """Readable, with times as ``/v1`` writes them."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(told, option=option)


def has_captions(told: Mapping[str, Any]) -> bool:
    """Whether anything has times on the recording's clock."""
    return any(one["words"] for one in told["transcript"])


def as_vtt(told: Mapping[str, Any]) -> str:
    """Captions with both sides as voices."""
    segments = [
        {"role": one["role"], "shown": [(word["word"], word["start"], word["end"]) for word in one["words"]]}
        for one in told["transcript"]
    ]
    return captions(segments, agent="Agent", candidate="Candidate")


def as_document(told: Mapping[str, Any]) -> str:
    """The report as one file that needs no other, loads nothing and runs nothing."""
    root = Path(current_app.static_folder or "") / "css"
    styles = "\n".join((root / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Interview report</title>\n'
        f"<style>\n{styles}</style>\n</head>\n<body>\n<main>\n"
        f"{render_template('review/exports/_report.html', told=told)}\n</main>\n</body>\n</html>\n"
    )


def parts_of(told: Mapping[str, Any], files: Sequence[Part]) -> list[Part]:
    """Everything that there is of the interview, each in its format."""
    parts = [
        Part("report.html", as_document(told).encode()),
        Part("interview.json", as_json(told)),
        Part("transcript.csv", "".join(as_csv(told)).encode()),
    ]
    if has_captions(told):
        parts.append(Part("captions.vtt", as_vtt(told).encode()))
    return [*parts, *files]
