"""Reads the text of documents in the background: claim, commit, read in a process of its own, write under the token."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app import gateways
from app.core import claims, queue
from app.core.db import db, for_one
from app.core.errors import GatewayError, NotFound
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE
from app.gateways.storage import read
from app.interviews.documents import READ_DOCUMENT, queries
from app.interviews.documents.extraction import Extracted, extract
from app.interviews.models import Document, Interview, TextState

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=3)
"""Longer than reading may take."""
BROKEN_OFF = "reading it was broken off three times"


@dataclass(frozen=True, slots=True)
class _Source:
    """A claimed document as plain values."""

    token: int
    recoveries: int
    key: str
    content_type: str
    language: str


@for_one(Document)
def read_document(document_id: str) -> None:
    """Claim the document, read its text, write down what came of it. May run twice; an absent document is fine."""
    source = _claimed(document_id)
    db.session.commit()
    if source is None:
        return
    try:
        outcome = _outcome(_extracted(source))
    except NotFound:
        return  # taken back in the meantime: no row is left to write to
    except GatewayError as error:
        log.warning("document %s not read: %s", document_id, type(error).__name__)
        outcome = claims.after_failure(
            Document.text_state,
            source.recoveries,
            retryable=error.retryable,
            waits=TextState.PENDING,
            parked=TextState.FAILED,
        )
        outcome["text_failure"] = error.message[:300]
    claims.finish(Document, document_id, source.token, **outcome)
    db.session.commit()


def read_documents(interview_id: str) -> None:
    """Read what is still unread of an interview, before its result is made."""
    waiting = queries.unread_documents(interview_id)
    db.session.rollback()
    for document_id in waiting:
        read_document(document_id)


def sweep() -> None:
    """Ring again for every document that waits to be read; called by the worker's tick."""
    queue.enqueue_overdue(READ_DOCUMENT)


def _claimed(document_id: str) -> _Source | None:
    taken = claims.take_row(
        Document.text_state,
        document_id,
        expects=TextState.PENDING,
        becomes=TextState.READING,
        lease=LEASE,
        parked={"text_state": TextState.FAILED, "text_failure": BROKEN_OFF},
    )
    if taken is None:
        return None
    token, document = taken
    script = db.session.get_one(Interview, document.interview_id).script or {}
    return _Source(
        token,
        document.recoveries,
        document.storage_key,
        document.content_type,
        script.get("language") or DEFAULT_LANGUAGE,
    )


def _extracted(source: _Source) -> Extracted | None:
    content = read(gateways.current().storage, source.key)
    return extract(content, source.content_type, language=source.language)


def _outcome(found: Extracted | None) -> dict[str, Any]:
    if found is None or not found.text:
        return {"text_state": TextState.NONE, "text": None, "text_failure": None}
    return {
        "text_state": TextState.EXTRACTED,
        "text": found.text,
        "text_whole": found.whole,
        "text_failure": None,
    }
