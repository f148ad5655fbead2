"""Documents that a candidate adds during the interview."""

import sqlalchemy as sa

from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected, sentence
from app.core.queue import after_commit
from app.flows.flow_script import FlowScript
from app.flows.models import Cv
from app.interviews.documents import READ_DOCUMENT
from app.interviews.documents.file_types import MOST_DOCUMENTS, Accepted, accept
from app.interviews.documents.models import Document, TextState
from app.interviews.documents.queries import CvState, cv_state
from app.interviews.models import Interview, Stage


def accept_document(name: str, content: bytes) -> Accepted:
    """Check a file by its content; raises Rejected. Slow for large files, so call it outside transactions."""
    return accept(name, content)


def add_document(interview: Interview, accepted: Accepted, *, storage_key: str) -> Document:
    """Add a document whose bytes are already stored. Conflict outside the interview, Rejected beyond the limits."""
    room_for_document(interview, count=len(interview.documents))
    document = _document(interview, accepted, storage_key)
    interview.documents.append(document)
    db.session.flush()
    after_commit(READ_DOCUMENT, document.id)
    return document


def attach_cv(interview: Interview, accepted: Accepted, *, storage_key: str) -> Document:
    """Add the CV with which a recruiter created the interview. Repeating it adds nothing."""
    row = db.session.scalar(sa.select(Document).where(Document.storage_key == storage_key))
    if row is None:
        row = _document(interview, accepted, storage_key)
        db.session.add(row)
        db.session.flush()
        after_commit(READ_DOCUMENT, row.id)
    return row


def _document(interview: Interview, accepted: Accepted, storage_key: str) -> Document:
    return Document(
        interview_id=interview.id,
        name=accepted.name,
        content_type=accepted.content_type,
        size=accepted.size,
        storage_key=storage_key,
    )


def see_cv(interview: Interview, *, has_none: bool) -> None:
    """Raise Conflict where the flow requires a CV and there is none to read yet.

    ``has_none``: the candidate says that they have none, which recruiters see.
    """
    if (interview.script or FlowScript()).cv != Cv.REQUIRED or interview.no_cv_at is not None:
        return
    state = cv_state(interview.id)
    if state is CvState.THERE:
        return
    if not has_none:
        words = sentence("Please add your CV first, or press “I have none”.")
        raise Conflict(words, details={"reason": "cv", "cv": state.value})
    interview.no_cv_at = clock.now()
    db.session.flush()


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
