"""Puts the candidate's archive together: rows are read first, then everything is sent without a transaction."""

import logging
from typing import Any

import orjson
from flask import Flask, Response, current_app
from flask_babel import gettext

from app import clock, gateways
from app.db import db, reading
from app.errors import GatewayError
from app.interviews.actions import result_of
from app.interviews.models import Feedback, Interview
from app.portal.bundle import Part, archive, captions
from app.portal.queries import agreements_of
from app.recordings.models import Media
from app.recordings.queries import is_revoked, recording_of
from app.web.lasting import Lasting, places
from app.wishes.queries import wishes_of

log = logging.getLogger(__name__)

ENDINGS = {Media.AUDIO: "m4a", Media.VIDEO: "mp4"}


def sent(interview_id: str) -> Response:
    """The archive of an interview as an answer. GatewayError when too many are being sent just now."""
    with reading():
        parts = parts_of(db.session.get_one(Interview, interview_id))
        was_revoked = is_revoked(interview_id)
        db.session.rollback()
    place = places("archives", share=4).take()
    if place is None:
        raise GatewayError("Many downloads are under way just now; try again in a little while.", retryable=True)
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001 - for the time after the request
    storage = gateways.current().storage
    body = archive(parts, storage, is_open=lambda: _is_open(app, interview_id, was_revoked=was_revoked))
    response = Response(Lasting(body, place), mimetype="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="interview-{interview_id[:8]}.zip"'
    return response


def _is_open(app: Flask, interview_id: str, *, was_revoked: bool) -> bool:
    """Whether everything in the archive may still be had."""
    with app.app_context(), reading():
        is_erased = db.session.get_one(Interview, interview_id).erased_at is not None
        is_open = not is_erased and is_revoked(interview_id) == was_revoked
        db.session.rollback()
    if not is_open:
        log.info("interview %s: erased or revoked while it was being sent", interview_id)
    return is_open


def parts_of(interview: Interview) -> list[Part]:
    """The files of the archive: the interview as JSON, text and captions, the recordings, the documents."""
    result = result_of(interview)
    told = orjson.dumps(_told(interview, result), option=orjson.OPT_INDENT_2)
    parts = [Part("interview.json", told)]
    if result is not None:
        parts.append(Part("transcript.txt", (result["transcript"] + "\n").encode()))
        parts.append(Part("captions.vtt", captions_of(result).encode()))
    if not is_revoked(interview.id):
        kept = ((media, recording_of(interview.id, media)) for media in Media)
        parts += [Part(f"recording-{media}.{ENDINGS[media]}", key=one.storage_key) for media, one in kept if one]
    for number, document in enumerate(interview.documents, 1):
        name = document.name.replace("/", "_").replace("\\", "_")
        parts.append(Part(f"documents/{number}-{name}", key=document.storage_key))
    return parts


def captions_of(result: dict[str, Any]) -> str:
    """The transcript as WebVTT, with the speakers in the page's language."""
    return captions(result["transcript_with_timestamp"], agent=gettext("Interviewer"), candidate=gettext("You"))


def _told(interview: Interview, result: dict[str, Any] | None) -> dict[str, Any]:
    script = interview.script or {}
    segments = [
        {"role": segment["role"], "content": segment["content"], "words": segment["words"]}
        for segment in (result or {}).get("transcript_with_timestamp", [])
    ]
    feedback = db.session.get(Feedback, interview.id)
    return {
        "feedback": {"rating": feedback.rating, "comment": feedback.comment} if feedback else None,
        "interview_id": interview.id, "title": script.get("title"), "organization": script.get("org_name"),
        "language": script.get("language"), "questions": script.get("questions"),
        "email_address": interview.interviewee_email_address, "first_name": interview.interviewee_first_name,
        "last_name": interview.interviewee_last_name, "started_at": _at(interview.started_at),
        "submitted_at": _at(interview.submitted_at), "processed_at": _at(interview.completed_at),
        "consent_withdrawn_at": _at(interview.withdrawn_at), "transcript": segments,
        "consents": [
            {"text_version": one.text_version, "locale": one.locale, "mode": one.mode, "agreed_at": _at(one.agreed_at)}
            for one in agreements_of(interview.id)
        ],
        "requests": [
            {
                "kind": one.kind, "state": one.state, "text": one.text, "details": one.details, "answer": one.answer,
                "asked_at": _at(one.created_at), "answer_by": _at(one.due_at), "answered_at": _at(one.decided_at),
            }
            for one in wishes_of(interview.id)
        ],
    }  # fmt: skip


def _at(moment: Any) -> str | None:
    return clock.rfc3339(moment) if moment is not None else None
