"""Builds the candidate's archive: rows are read first, then everything is streamed without a transaction."""

from typing import Any

import orjson
from flask import Response
from flask_babel import gettext

from app.candidate_requests.queries import requests_of
from app.candidates.queries import records_of
from app.core import clock
from app.core.db import db, reading
from app.flows.flow_script import FlowScript
from app.interviews.actions import result_of
from app.interviews.archive import Part, captions
from app.interviews.download import access_to, files_of, seat, streamed
from app.interviews.metadata import metadata_of
from app.interviews.models import Feedback, Interview
from app.mail_outbox.models import QueuedMailState
from app.outreach.messages.queries import messages_about
from app.privacy.own_page.queries import agreements_of


def sent(interview_id: str) -> Response:
    """The archive of an interview as a streamed response. Raises GatewayError if too many are being sent."""
    with reading():
        # nosemgrep: row-by-id-in-edge - the interview whose own page let this candidate in
        interview = db.session.get_one(Interview, interview_id)
        parts, access = parts_of(interview), access_to(interview, heeds_withdrawal=False)
        db.session.rollback()
    return streamed(interview_id, parts, seat(), access=access, heeds_withdrawal=False)


def parts_of(interview: Interview) -> list[Part]:
    """The files of the archive: the interview as JSON, the transcript as text and captions, recordings, documents."""
    result = result_of(interview)
    interview_json = orjson.dumps(_told(interview, result), option=orjson.OPT_INDENT_2)
    parts = [Part("interview.json", interview_json)]
    if result is not None:
        parts.append(Part("transcript.txt", (result["transcript"] + "\n").encode()))
        parts.append(Part("captions.vtt", captions_of(result).encode()))
    return [*parts, *files_of(interview)]


def captions_of(result: dict[str, Any]) -> str:
    """The transcript as WebVTT, with the speakers in the page's language."""
    return captions(result["transcript_with_timestamp"], agent=gettext("Interviewer"), candidate=gettext("You"))


def _told(interview: Interview, result: dict[str, Any] | None) -> dict[str, Any]:
    script = interview.script or FlowScript()
    said = (result or {}).get("transcript_with_timestamp", [])
    # nosemgrep: row-by-id-in-edge - what belongs to the interview at hand
    feedback = db.session.get(Feedback, interview.id)
    return {
        "feedback": {"rating": feedback.rating, "comment": feedback.comment} if feedback else None,
        "interview_id": interview.id,
        "title": script.title,
        "organization": script.org_name,
        "language": script.language,
        "questions": script.questions,
        "email_address": interview.interviewee_email_address,
        "first_name": interview.interviewee_first_name,
        "last_name": interview.interviewee_last_name,
        "phone": interview.candidate.phone if interview.candidate else None,
        "started_at": _at(interview.started_at),
        "submitted_at": _at(interview.submitted_at),
        "processed_at": _at(interview.completed_at),
        "said_no_cv_at": _at(interview.no_cv_at),
        "consent_withdrawn_at": _at(interview.withdrawn_at),
        "transcript": [{name: segment[name] for name in ("role", "content", "words")} for segment in said],
        "consents": [
            {"text_version": one.text_version, "locale": one.locale, "mode": one.mode, "agreed_at": _at(one.agreed_at)}
            for one in agreements_of(interview.id)
        ],
        "metadata": metadata_of(interview),
        "decisions": _decisions(interview),
        "messages": _messages(interview),
        "requests": _requests(interview),
    }


def _requests(interview: Interview) -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind,
            "state": one.state,
            "text": one.text,
            "details": one.details,
            "answer": one.answer,
            "asked_at": _at(one.created_at),
            "answer_by": _at(one.due_at),
            "answered_at": _at(one.decided_at),
        }
        for one in requests_of(interview.id)
    ]


def _decisions(interview: Interview) -> list[dict[str, Any]]:
    """What was decided about the candidate, the oldest first, without the names of members."""
    if interview.candidate is None:
        return []
    return [
        {
            "status": one.status,
            "meaning": one.meaning,
            "reason": one.reason,
            "decided_at": _at(one.at),
            "withdrawn_at": _at(one.withdrawn_at),
        }
        for one in records_of(interview.candidate).values()
    ]


def _messages(interview: Interview) -> list[dict[str, Any]]:
    """What members wrote to the candidate and was sent, the oldest first, without the names of members."""
    return [
        {"subject": one.subject, "text": one.text, "sent_at": _at(one.letter.settled_at)}
        for one in messages_about(interview.id)
        if one.letter.state is QueuedMailState.SENT
    ]


def _at(moment: Any) -> str | None:
    return clock.rfc3339(moment) if moment is not None else None
