"""Documents over HTTP: a file in numbered parts that a broken connection costs nothing, or whole in one form.

``uploads`` is named by what is in the file, so the same file goes on where it stopped, also after a reload. Every call
may be repeated; a part is durable before it is acknowledged.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence

from flask import Response, jsonify, request
from flask_smorest import abort
from sqlalchemy.exc import IntegrityError

from app import gateways
from app.conversation import actions
from app.conversation.access import holder, linked_interview, protocol
from app.conversation.protocol import schemas
from app.core.db import db, reading
from app.core.errors import Conflict, DomainError, Rejected, sentence
from app.gateways.storage import read_verified
from app.interviews import actions as interviews
from app.interviews.documents.queries import StoredPart, document_for, documents_of, parts_of, upload_for

LARGEST_DOCUMENT_FORM = 11 * 1024 * 1024
_HASH = re.compile(r"[0-9a-f]{64}")


@protocol.post("/documents")
def add_document() -> tuple[Response, int]:
    """Keep a file that the candidate adds in one piece."""
    request.max_content_length = LARGEST_DOCUMENT_FORM
    sent = request.files.get("file")
    if sent is None:
        raise Rejected("Send the document as the form's part named file.", field="file")
    with reading():
        interview = linked_interview()
        interviews.room_for_document(interview, count=len(interview.documents))
        db.session.rollback()
    content = sent.stream.read()
    accepted = interviews.accept_document(sent.filename or "", content)
    key = f"documents/{holder().interview_id}/{secrets.token_hex(16)}"
    storage = gateways.current().storage
    storage.put(key, content)
    try:
        actions.hold(holder())
        row = interviews.add_document(linked_interview(), accepted, storage_key=key)
        db.session.commit()
    except DomainError:
        db.session.rollback()
        storage.delete(key)
        raise
    return jsonify(schemas.document(row)), 201


@protocol.delete("/documents/<document_id>")
def remove_document(document_id: str) -> tuple[str, int]:
    """Take a file back."""
    actions.hold(holder())
    interview = linked_interview()
    key = interviews.remove_document(interview, document_for(interview, document_id))
    db.session.commit()
    gateways.current().storage.delete(key)
    return "", 204


# --- in parts ------------------------------------------------------------------------------------------------------


@protocol.post("/uploads")
def begin_upload() -> tuple[Response, int]:
    """Announce a file, or find it again: the answer says which parts are there already."""
    body = schemas.body(schemas.UploadSchema())
    actions.hold(holder())
    interview = linked_interview()
    try:
        upload = interviews.begin_upload(interview, body["name"], size=body["size"], sha256=body["sha256"])
        answer = schemas.upload(upload, documents=documents_of(interview.id), parts=parts_of(upload.id))
        db.session.commit()
    except IntegrityError:  # the same file was announced twice at once
        raise Conflict("This file has just been announced; ask again.", details={"reason": "again"}) from None
    return jsonify(answer), 201


@protocol.get("/uploads/<upload_id>")
def upload_state(upload_id: str) -> Response:
    """Which parts of a file are there."""
    with reading():
        upload = upload_for(linked_interview(), upload_id)
        documents = documents_of(upload.interview_id)
        return jsonify(schemas.upload(upload, documents=documents, parts=parts_of(upload.id)))


@protocol.put("/uploads/<upload_id>/parts/<int:number>")
def put_part(upload_id: str, number: int) -> Response:
    """Keep a part: durable first, then noted, then acknowledged."""
    request.max_content_length = interviews.PART_BYTES
    sha256 = request.headers.get("X-Content-SHA256", "").lower()
    if not _HASH.fullmatch(sha256):
        raise Rejected("X-Content-SHA256 must be the SHA-256 of the bytes, 64 hex digits.", field="X-Content-SHA256")
    if request.content_length is None:
        abort(411, message="A part needs a Content-Length.")
    if (request.content_length or 0) > interviews.PART_BYTES:
        abort(413, message=f"A part has at most {interviews.PART_BYTES} bytes.")
    with reading():
        upload = upload_for(linked_interview(), upload_id)
        size = interviews.part_size(upload, number)
        interview_id = upload.interview_id
        is_stored = interviews.has_part(upload, number, sha256=sha256)
        db.session.rollback()
    if is_stored:
        return jsonify({"number": number, "duplicate": True})
    content = request.stream.read()
    if (len(content), hashlib.sha256(content).hexdigest()) != (size, sha256):
        raise Rejected(f"Part {number} has {size} bytes with the hash that is named; send it again.", field="body")
    key = f"documents/{interview_id}/parts/{upload_id}/{number}-{secrets.token_hex(4)}"
    storage = gateways.current().storage
    storage.put(key, content)
    try:
        actions.hold(holder())
        upload = upload_for(linked_interview(), upload_id)
        is_new = interviews.keep_part(upload, number, sha256=sha256, storage_key=key)
        db.session.commit()
    except (DomainError, IntegrityError):
        db.session.rollback()
        storage.delete(key)
        raise
    if not is_new:
        storage.delete(key)
    return jsonify({"number": number, "duplicate": not is_new})


@protocol.post("/uploads/<upload_id>/finish")
def finish_upload(upload_id: str) -> tuple[Response, int]:
    """All parts are there: join, check and keep the document. Names the parts that are missing.

    A file that is refused is forgotten, parts and all, so that the page has nothing to take back.
    """
    try:
        return _finished(upload_id)
    except Rejected:
        _forget(upload_id)
        raise


def _finished(upload_id: str) -> tuple[Response, int]:
    with reading():
        interview = linked_interview()
        upload = upload_for(interview, upload_id)
        done = next((row for row in documents_of(interview.id) if row.id == upload.document_id), None)
        if done is not None:
            return jsonify(schemas.document(done)), 201
        interviews.room_for_document(interview, count=len(interview.documents))
        parts = interviews.whole(upload, parts_of(upload.id))
        name, sha256 = upload.name, upload.sha256
        db.session.rollback()
    content = _joined(parts, sha256=sha256)
    accepted = interviews.accept_document(name, content)
    key = f"documents/{holder().interview_id}/{secrets.token_hex(16)}"
    storage = gateways.current().storage
    storage.put(key, content)
    try:
        actions.hold(holder())
        interview = linked_interview()
        row = interviews.finish_upload(interview, upload_for(interview, upload_id), accepted, storage_key=key)
        answer, is_ours = schemas.document(row), row.storage_key == key
        db.session.commit()
    except DomainError:
        db.session.rollback()
        storage.delete(key)
        raise
    for unused in [part.key for part in parts] if is_ours else [key]:
        storage.delete(unused)
    return jsonify(answer), 201


def _joined(parts: Sequence[StoredPart], *, sha256: str) -> bytes:
    """The file. Raises Rejected when it is not the one that was announced."""
    storage = gateways.current().storage
    content = b"".join(read_verified(storage, part.key, sha256=part.sha256) for part in parts)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Rejected(sentence("The file changed while it was being uploaded. Choose it again."), field="file")
    return content


@protocol.delete("/uploads/<upload_id>")
def drop_upload(upload_id: str) -> tuple[str, int]:
    """Give an unfinished file up."""
    _forget(upload_id)
    return "", 204


def _forget(upload_id: str) -> None:
    actions.hold(holder())
    keys = interviews.drop_upload(upload_for(linked_interview(), upload_id))
    db.session.commit()
    for key in keys:
        gateways.current().storage.delete(key)
