"""Documents uploaded in parts. The hash identifies the file, so an interrupted upload can continue."""

from collections.abc import Sequence

import sqlalchemy as sa

from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, NotFound, Rejected, sentence
from app.interviews.actions.documents import add_document, room_for_document
from app.interviews.documents.file_types import LARGEST, MOST_DOCUMENTS, Accepted, label_of
from app.interviews.documents.models import Document, DocumentPart, DocumentUpload
from app.interviews.documents.queries import StoredPart, parts_of
from app.interviews.models import Interview

PART_BYTES = 256 * 1024
"""Size of every part but the last."""


def begin_upload(interview: Interview, name: str, *, size: int, sha256: str) -> DocumentUpload:
    """The upload of this file, new or continued. Rejected beyond the limits, Conflict outside the interview."""
    if size > LARGEST:
        raise Rejected(sentence("The file is larger than 10 MiB."), field="file")
    room_for_document(interview, count=0)
    open_ones = sa.select(DocumentUpload).where(DocumentUpload.interview_id == interview.id)
    uploads = {row.sha256: row for row in db.session.scalars(open_ones)}
    upload = uploads.get(sha256)
    if upload is not None and upload.document_id in {row.id for row in interview.documents}:
        return upload
    waiting = [row for row in uploads.values() if row.document_id is None and row.sha256 != sha256]
    room_for_document(interview, count=len(interview.documents))
    if len(waiting) >= MOST_DOCUMENTS:
        raise Rejected(sentence("Too many uploads are unfinished. Remove one first."), field="file")
    if upload is None:
        upload = DocumentUpload(interview_id=interview.id, sha256=sha256, size=size, name=label_of(name))
        db.session.add(upload)
    elif upload.size != size:
        raise Rejected("A file with this hash has a different size.", field="size")
    upload.document_id, upload.touched_at = None, clock.now()
    db.session.flush()
    return upload


def part_size(upload: DocumentUpload, number: int) -> int:
    """Bytes that part ``number`` must have; Rejected when the file has no such part or is finished."""
    if upload.document_id is not None:
        raise Conflict("This file is already complete.", details={"reason": "finished"})
    if number * PART_BYTES >= upload.size:
        raise Rejected(f"The file has {count_of(upload)} parts, numbered from 0.", field="number")
    return min(PART_BYTES, upload.size - number * PART_BYTES)


def count_of(upload: DocumentUpload) -> int:
    """Number of the file's parts."""
    return -(-upload.size // PART_BYTES)


def has_part(upload: DocumentUpload, number: int, *, sha256: str) -> bool:
    """Whether this part has arrived; Conflict when it arrived with other bytes."""
    part = db.session.get(DocumentPart, (upload.id, number))
    if part is not None and part.sha256 != sha256:
        raise Conflict(f"Part {number} has already arrived with different bytes.", details={"reason": "other hash"})
    return part is not None


def keep_part(upload: DocumentUpload, number: int, *, sha256: str, storage_key: str) -> bool:
    """Add a part whose bytes are stored; False when it had already arrived."""
    part_size(upload, number)
    if has_part(upload, number, sha256=sha256):
        return False
    db.session.add(DocumentPart(upload_id=upload.id, number=number, sha256=sha256, storage_key=storage_key))
    upload.touched_at = clock.now()
    db.session.flush()
    return True


def whole(upload: DocumentUpload, parts: Sequence[StoredPart]) -> Sequence[StoredPart]:
    """All parts in order, or a Conflict that names the missing ones."""
    missing = sorted(set(range(count_of(upload))) - {part.number for part in parts})
    if missing:
        details: dict[str, object] = {"reason": "missing", "missing": missing}
        raise Conflict("Parts of the file have not arrived yet.", details=details)
    return parts


def finish_upload(interview: Interview, upload: DocumentUpload, accepted: Accepted, *, storage_key: str) -> Document:
    """The document of the upload: a new one, or that of a concurrent request, whose storage key differs."""
    claim = sa.update(DocumentUpload).where(DocumentUpload.id == upload.id, DocumentUpload.document_id.is_(None))
    document = add_document(interview, accepted, storage_key=storage_key)
    if not db.changed(claim.values(document_id=document.id)):
        interview.documents.remove(document)
        db.session.delete(document)
        db.session.refresh(upload)
        first = db.session.get(Document, upload.document_id)
        if first is None:
            raise NotFound(sentence("There is no such document."))
        return first
    db.session.execute(sa.delete(DocumentPart).where(DocumentPart.upload_id == upload.id))
    db.session.flush()
    return document


def drop_upload(upload: DocumentUpload) -> list[str]:
    """Remove an upload; returns the storage keys, which the caller deletes after its commit. Its document stays."""
    keys = [part.key for part in parts_of(upload.id)]
    db.session.execute(sa.delete(DocumentPart).where(DocumentPart.upload_id == upload.id))
    db.session.delete(upload)
    db.session.flush()
    return keys
