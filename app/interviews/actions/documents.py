"""Documents that a candidate adds during the interview."""

from app.core.db import db
from app.core.errors import Conflict, Rejected, sentence
from app.core.queue import after_commit
from app.flows.flow_script import FlowScript
from app.interviews.documents import READ_DOCUMENT
from app.interviews.documents.file_types import MOST_DOCUMENTS, Accepted, accept
from app.interviews.models import Document, Interview, Stage, TextState


def accept_document(name: str, content: bytes) -> Accepted:
    """Check a file by its content; raises Rejected. Slow for large files, so call it outside transactions."""
    return accept(name, content)


def add_document(interview: Interview, accepted: Accepted, *, storage_key: str) -> Document:
    """Add a document whose bytes are already stored. Conflict outside the interview, Rejected beyond the limits."""
    room_for_document(interview, count=len(interview.documents))
    document = Document(
        interview_id=interview.id,
        name=accepted.name,
        content_type=accepted.content_type,
        size=accepted.size,
        storage_key=storage_key,
    )
    interview.documents.append(document)
    db.session.flush()
    after_commit(READ_DOCUMENT, document.id)
    return document


def read_again(document: Document) -> bool:
    """Retry reading a document whose text could not be read; False when there is nothing to retry."""
    if document.text_state is not TextState.FAILED:
        return False
    document.text_state, document.text_failure, document.recoveries = TextState.PENDING, None, 0
    document.fence, document.lease_until = document.fence + 1, None
    db.session.flush()
    after_commit(READ_DOCUMENT, document.id)
    return True


def room_for_document(interview: Interview, *, count: int) -> None:
    """Raise Rejected or Conflict unless one more document may be added. Called before and after storing the bytes."""
    if not (interview.script or FlowScript()).is_doc_upload_enabled:
        raise Rejected(sentence("This interview does not accept documents."), field="file")
    if interview.stage is not Stage.RUNNING:
        raise _over()
    if count >= MOST_DOCUMENTS:
        raise Rejected(
            sentence("You can add at most %(most)s documents. Remove one first."),
            field="file",
            most=MOST_DOCUMENTS,
        )


def remove_document(interview: Interview, document: Document) -> str:
    """Remove a document during the interview; returns the storage key, which the caller deletes after its commit."""
    if interview.stage is not Stage.RUNNING:
        raise _over()
    interview.documents.remove(document)
    db.session.delete(document)
    db.session.flush()
    return document.storage_key


def _over() -> Conflict:
    return Conflict(
        sentence("The interview is over; documents can no longer be changed."), details={"reason": "finished"}
    )
