"""Reads of candidates' documents, their texts, and unfinished uploads."""

import enum
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

import sqlalchemy as sa

from app.core import clock
from app.core.claims import moment
from app.core.db import db, is_id
from app.core.errors import NotFound, sentence
from app.interviews.documents.models import Document, DocumentPart, DocumentUpload, TextState
from app.interviews.models import Interview

READING_PATIENCE = timedelta(minutes=1)
"""How long a candidate waits until their CV has been read."""


class CvState(enum.StrEnum):
    """Whether there is a CV."""

    THERE = "there"
    READING = "reading"
    UNREADABLE = "unreadable"
    MISSING = "missing"


class StoredPart(NamedTuple):
    """A stored part of an upload."""

    number: int
    sha256: str
    key: str


def documents_of(interview_id: str) -> Sequence[Document]:
    """The interview's documents, oldest first."""
    rows = sa.select(Document).where(Document.interview_id == interview_id).order_by(Document.created_at)
    return db.session.scalars(rows).all()


def upload_for(interview: Interview, upload_id: str) -> DocumentUpload:
    """An upload of this interview, or NotFound."""
    upload = db.session.get(DocumentUpload, upload_id) if is_id(upload_id) else None
    if upload is None or upload.interview_id != interview.id:
        raise NotFound(sentence("There is no such document."))
    return upload


def unfinished_uploads(interview_id: str) -> Sequence[DocumentUpload]:
    """Unfinished uploads of the interview, least recently used first."""
    rows = sa.select(DocumentUpload).where(
        DocumentUpload.interview_id == interview_id, DocumentUpload.document_id.is_(None)
    )
    return db.session.scalars(rows.order_by(DocumentUpload.touched_at)).all()


def parts_of(upload_id: str) -> list[StoredPart]:
    """The parts that have arrived, in order."""
    rows = sa.select(DocumentPart.number, DocumentPart.sha256, DocumentPart.storage_key).where(
        DocumentPart.upload_id == upload_id
    )
    return [StoredPart(*row) for row in db.session.execute(rows.order_by(DocumentPart.number)).all()]


def unread_documents(*, limit: int = 200) -> list[str]:
    """Ids of documents whose text waits to be read, or whose reader died."""
    waits = Document.text_state.in_((TextState.PENDING, TextState.READING))
    query = sa.select(Document.id).where(waits, _free()).order_by(Document.created_at)
    return list(db.session.scalars(query.limit(limit)))


def unread_of(interview_id: str) -> list[tuple[str, bool]]:
    """The same of one interview, with those that are being read, and whether each can be claimed.

    A document that rests after a failure is not among them.
    """
    rows = sa.select(Document.id, _free()).where(
        Document.interview_id == interview_id,
        sa.or_(Document.text_state == TextState.READING, sa.and_(Document.text_state == TextState.PENDING, _free())),
    )
    return [(row[0], bool(row[1])) for row in db.session.execute(rows.order_by(Document.created_at))]


def _free() -> sa.ColumnElement[bool]:
    return sa.or_(Document.lease_until.is_(None), Document.lease_until < moment())


def cv_state(interview_id: str) -> CvState:
    """Whether the candidate has added something that can be read. A reader that is late keeps no one waiting."""
    rows = db.session.execute(
        sa.select(Document.text_state, Document.created_at).where(Document.interview_id == interview_id)
    ).all()
    late = clock.now() - READING_PATIENCE
    if any(row.text_state == TextState.EXTRACTED for row in rows):
        return CvState.THERE
    unread = [row for row in rows if row.text_state in (TextState.PENDING, TextState.READING)]
    if unread:
        return CvState.THERE if any(row.created_at < late for row in unread) else CvState.READING
    return CvState.UNREADABLE if rows else CvState.MISSING


def document_texts(interview_id: str, *, most: int) -> tuple[str, ...]:
    """The texts of the interview's documents, at most ``most`` characters in all, each cut to an equal share.

    Untrusted: a model must treat them as data, never as instructions.
    """
    rows = sa.select(Document.name, sa.func.substr(Document.text, 1, most)).where(
        Document.interview_id == interview_id, Document.text_state == TextState.EXTRACTED
    )
    documents = [(str(name), str(text)) for name, text in db.session.execute(rows.order_by(Document.created_at)).all()]
    share = most // max(1, len(documents))
    return tuple(f"{name}\n{text}"[:share] for name, text in documents)


def document_for(interview: Interview, document_id: str) -> Document:
    """A document of this interview, or NotFound."""
    document = db.session.get(Document, document_id) if is_id(document_id) else None
    if document is None or document.interview_id != interview.id:
        raise NotFound(sentence("There is no such document."))
    return document
