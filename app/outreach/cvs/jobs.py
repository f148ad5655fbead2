"""Reads uploaded CVs, creates the interviews of the confirmed ones, and deletes uploads after a week."""

import logging
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import current_app

from app import gateways
from app.core import claims, queue
from app.core.db import db, for_one
from app.core.errors import DomainError, GatewayError, NotFound, Rejected
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE
from app.gateways.storage import read
from app.interviews import actions as interviews
from app.interviews.actions.documents import attach_cv
from app.interviews.documents.extraction import KINDS, extract
from app.interviews.documents.file_types import LARGEST, Accepted, accept
from app.interviews.models import Interview
from app.outreach import actions as outreach
from app.outreach.actions import Post
from app.outreach.cvs import INVITE_CV, READ_CV, actions, queries, rules
from app.outreach.cvs.actions import BEYOND, MOST_FILES, Kept
from app.outreach.cvs.models import LONGEST_PHONE, CvFile, CvUpload, State
from app.outreach.cvs.unpacking import TOO_LARGE, Entry, entries_of, is_archive
from app.outreach.models import Step
from app.settings import Settings

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=12)
"""Longer than unpacking 200 files takes."""
BROKEN_OFF = "Reading this file was interrupted three times. Upload it again."
NO_TEXT = "This file has no text that can be read. It may be a scan. Upload a PDF with text, or a Word or text file."
NO_CV = "This file cannot be read as a CV. Upload a PDF, DOCX, RTF or TXT file."

_READING = claims.Work(
    CvFile.state,
    waits=State.WAITING,
    works=State.READING,
    failed=State.REFUSED,
    lease=LEASE,
    reason=CvFile.reason,
    broken_off=BROKEN_OFF,
)
_INVITING = claims.Work(
    CvFile.state,
    waits=State.CONFIRMED,
    works=State.INVITING,
    failed=State.FAILED,
    lease=LEASE,
    reason=CvFile.reason,
    broken_off="Creating the interview was interrupted three times. Confirm the candidate again.",
)


@dataclass(frozen=True, slots=True)
class _Source:
    """A claimed file as plain values."""

    file_id: str
    token: int
    upload_id: str
    name: str
    key: str
    language: str
    interview_id: str | None
    content_type: str
    size: int


def _source(row: CvFile, token: int) -> _Source:
    language = row.upload.flow.language or DEFAULT_LANGUAGE
    key, kind = row.storage_key or "", row.content_type or ""
    return _Source(row.id, token, row.upload_id, row.name, key, language, row.interview_id, kind, row.size)


@for_one(CvFile)
def read_cv(file_id: str) -> None:
    """Read one file, or take the files out of an archive. May run twice; a missing row is no error."""
    claims.run(_READING, file_id, read=_source, do=_read)
    _delete_what_is_not_needed(file_id)
    queue.enqueue_overdue(READ_CV)


def _read(source: _Source) -> dict[str, Any] | None:
    storage = gateways.current().storage
    try:
        with tempfile.TemporaryFile() as file:
            for piece in storage.open(source.key, 0, storage.size(source.key)):
                file.write(piece)
            if is_archive(file, source.name):
                return _unpacked(source, file)
            file.seek(0)
            return _found(source, file.read(LARGEST + 1))
    except NotFound:
        return None  # deleted meanwhile
    except Rejected as refusal:
        return _READING.given_up(refusal.message)


def _found(source: _Source, content: bytes) -> dict[str, Any]:
    if len(content) > LARGEST:
        raise Rejected(TOO_LARGE)
    try:
        accepted = accept(source.name, content)
    except Rejected as refusal:
        raise Rejected(NO_CV if "kinds" in refusal.values else refusal.message) from refusal
    if accepted.content_type not in KINDS:
        raise Rejected(NO_CV)
    try:
        text = extract(content, accepted.content_type, language=source.language)
    except GatewayError as error:
        if error.retryable:
            raise
        raise Rejected(f"This file cannot be read: {error.message}. Save it again, and upload the new file.") from error
    if text is None or not text.text:
        raise Rejected(NO_TEXT)
    found = rules.found_in(text.text)
    return {
        "state": State.READY,
        "reason": None,
        "recoveries": 0,
        "content_type": accepted.content_type,
        "size": len(content),
        "email": found.email,
        "first_name": found.first_name,
        "last_name": found.last_name,
        "phone": found.phone and found.phone[:LONGEST_PHONE],
    }


def _unpacked(source: _Source, file: Any) -> dict[str, Any] | None:
    """Rows for the files of the archive, in the transaction that ends the archive's own."""
    room = MOST_FILES
    kept: list[Kept] = []
    for entry in entries_of(file):
        taken = entry if room > 0 or entry.reason else Entry(entry.name, reason=BEYOND)
        kept.append(_stored(source.upload_id, taken))
        room -= taken.reason is None
    if not kept:
        raise Rejected("This ZIP has no files in it.")
    if not claims.renew(CvFile, source.file_id, source.token, lease=LEASE):
        db.session.rollback()  # another worker has taken over
        return None
    actions.add_files(db.session.get_one(CvUpload, source.upload_id), kept)
    return {"state": State.UNPACKED, "reason": None}


def _stored(upload_id: str, entry: Entry) -> Kept:
    if entry.reason:
        return Kept(entry.name, reason=entry.reason)
    key = actions.key_of(upload_id)
    gateways.current().storage.put(key, entry.content)
    return Kept(entry.name, len(entry.content), key)


@for_one(CvFile)
def invite_cv(file_id: str) -> None:
    """Create the interview of a confirmed file, with the file as its document. May run twice, invites once."""
    claims.run(_INVITING, file_id, read=_source, do=_invited)
    _delete_what_is_not_needed(file_id)
    queue.enqueue_overdue(INVITE_CV)


def _invited(source: _Source) -> dict[str, Any] | None:
    """Two steps: the interview is committed first, because its id is part of the document's storage key."""
    interview_id = source.interview_id
    if interview_id is None:
        try:
            interview_id = _booked(source)
        except DomainError as refusal:
            db.session.rollback()
            return _INVITING.given_up(refusal.message)
        db.session.commit()
    if interview_id is None:
        return None
    storage, key = gateways.current().storage, f"documents/{interview_id}/{source.file_id}"
    try:
        storage.put(key, read(storage, source.key))
    except NotFound:
        return _INVITING.given_up("The file is missing. The interview was created without it.")
    if not claims.renew(CvFile, source.file_id, source.token, lease=LEASE):
        db.session.rollback()
        return None
    accepted = Accepted(source.name, source.content_type, source.size)
    attach_cv(db.session.get_one(Interview, interview_id), accepted, storage_key=key)
    nothing = dict.fromkeys(("email", "first_name", "last_name", "phone", "reason"))
    return {"state": State.DONE, "recoveries": 0, **nothing}


def _booked(source: _Source) -> str | None:
    """The id of the new interview; None if another worker has taken over."""
    if not claims.renew(CvFile, source.file_id, source.token, lease=LEASE):
        db.session.rollback()
        return None
    row = db.session.get_one(CvFile, source.file_id)
    upload = row.upload
    interview = interviews.book(
        upload.flow.organization,
        upload.flow_id,
        email=row.email,
        first_name=row.first_name,
        last_name=row.last_name,
        recruiter_id=upload.recruiter_id,
    )
    if interview.candidate is not None and row.phone:
        interview.candidate.phone = interview.candidate.phone or row.phone
    if upload.by_mail:
        outreach.write(interview, Step.INVITATION, _post(), by=upload.by, sent=())
    row.interview_id = interview.id
    return interview.id


def _post() -> Post:
    settings: Settings = current_app.extensions["parley.settings"]
    return Post(settings.app_url, settings.link_expiry_days, gateways.current().mail.is_configured)


def _delete_what_is_not_needed(file_id: str) -> None:
    """The file of a row that needs it no more."""
    row = db.session.get(CvFile, file_id, populate_existing=True)
    key = row.storage_key if row and row.state in {State.REFUSED, State.UNPACKED, State.DONE} else None
    db.session.rollback()
    if key is None:
        return
    gateways.current().storage.delete(key)
    row = db.session.get(CvFile, file_id)
    if row is not None:
        row.storage_key = None
    db.session.commit()


def sweep() -> int:
    """Enqueue what is due, and delete uploads after a week with all their files. Returns how many were deleted."""
    queue.enqueue_overdue(READ_CV, INVITE_CV)
    expired = queries.expired()
    db.session.rollback()
    for upload_id in expired:
        try:
            gateways.current().storage.delete_prefix(f"cv-uploads/{upload_id}")
        except GatewayError as error:
            log.warning("upload %s is over, but its files are not deleted yet: %s", upload_id, error.message)
            continue
        actions.forget(upload_id)
        db.session.commit()
    return len(expired)
