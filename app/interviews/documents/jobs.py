"""Reads the text of documents in the background: claim, commit, read in a separate process, write under the token."""

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app import gateways
from app.core import claims, queue
from app.core.db import db, for_one
from app.core.errors import NotFound
from app.flows.flow_script import FlowScript
from app.gateways.storage import read
from app.interviews.documents import READ_DOCUMENT, queries
from app.interviews.documents.extraction import extract
from app.interviews.documents.models import Document, TextState
from app.interviews.models import Interview

LEASE = timedelta(minutes=3)
"""Longer than reading may take."""
LOOKS_AGAIN = 0.25
"""Seconds until the processing looks again whether another worker has read a document."""
BROKEN_OFF = "reading the document stopped unexpectedly three times"


_READING = claims.Work(
    Document.text_state,
    waits=TextState.PENDING,
    works=TextState.READING,
    failed=TextState.FAILED,
    lease=LEASE,
    reason=Document.text_failure,
    broken_off=BROKEN_OFF,
)


@dataclass(frozen=True, slots=True)
class _Source:
    """A claimed document as plain values."""

    key: str
    content_type: str
    language: str


@for_one(Document)
def read_document(document_id: str) -> None:
    """Read the document's text. May run twice; a missing document is ignored."""
    claims.run(_READING, document_id, read=_source, do=_read)


def read_documents(interview_id: str) -> None:
    """Read the interview's unread documents before its result is made, and wait for those that other workers read."""
    tried = set[str]()
    while unread := [one for one in _unread(interview_id) if one[0] not in tried]:
        for document_id in (one for one, is_free in unread if is_free):
            tried.add(document_id)
            read_document(document_id)
        if not any(is_free for _, is_free in unread):
            time.sleep(LOOKS_AGAIN)


def _unread(interview_id: str) -> list[tuple[str, bool]]:
    unread = queries.unread_of(interview_id)
    db.session.rollback()
    return unread


def sweep() -> None:
    """Enqueue every document that waits to be read; called by the worker's tick."""
    queue.enqueue_overdue(READ_DOCUMENT)


def _source(document: Document, _token: int) -> _Source:
    script = db.session.get_one(Interview, document.interview_id).script or FlowScript()
    return _Source(document.storage_key, document.content_type, script.language)


def _read(source: _Source) -> dict[str, Any] | None:
    try:
        content = read(gateways.current().storage, source.key)
    except NotFound:
        return None  # deleted meanwhile: no row is left to write to
    extracted = extract(content, source.content_type, language=source.language)
    if extracted is None or not extracted.text:
        return {"text_state": TextState.NONE, "text": None, "text_failure": None}
    return {
        "text_state": TextState.EXTRACTED,
        "text": extracted.text,
        "text_whole": extracted.whole,
        "text_failure": None,
    }
