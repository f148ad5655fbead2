"""Recruiters' pages of candidates' documents: the extracted text, and the file as a download."""

from flask import Response, flash, redirect, render_template, stream_with_context, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, note_access, require_recruiter
from app.core.db import db
from app.flows.models import Right
from app.flows.queries import may
from app.interviews import actions, queries
from app.interviews.documents.models import Document
from app.interviews.documents.queries import document_for
from app.interviews.models import Interview
from app.interviews.pages.interviews import pages
from app.web.attachments import attachment


@pages.get("/interviews/<interview_id>/documents/<document_id>")
def document(interview_id: str, document_id: str) -> Response:
    """A candidate's document, as a download that a browser never runs."""
    _interview, row = _looked_at(interview_id, document_id)
    key, name, size, kind = row.storage_key, row.name, row.size, row.content_type
    db.session.rollback()
    pieces = stream_with_context(gateways.current().storage.open(key))
    return attachment(pieces, name=name, content_type=kind, size=size)


@pages.get("/interviews/<interview_id>/documents/<document_id>/text")
def document_text(interview_id: str, document_id: str) -> str:
    """The extracted plain text, which is safe to read whatever the file contains."""
    interview, row = _looked_at(interview_id, document_id)
    may_change = may(current_member(), interview, Right.EDIT)
    return render_template("interviews/document.html", interview=interview, document=row, may_change=may_change)


def _looked_at(interview_id: str, document_id: str) -> tuple[Interview, Document]:
    """The document, if the member may see it; records the access in the audit log."""
    member = current_member()
    row = document_for(queries.interview_seen_by(member, interview_id), document_id)
    note_access(member.organization, "document.seen", row.id, by=member, interview=row.interview_id)
    interview = queries.interview_seen_by(member, interview_id)
    return interview, document_for(interview, document_id)


@pages.post("/interviews/<interview_id>/documents/<document_id>/read")
def read_document(interview_id: str, document_id: str) -> AnyResponse:
    """Retry reading the text of a document."""
    require_recruiter()
    interview = queries.interview_to_change(current_member(), interview_id)
    began = actions.read_again(document_for(interview, document_id))
    db.session.commit()
    if began:
        flash("The document is being read again. Reload this page in a moment.", "good")
    else:
        flash("There is nothing to retry: the document is already being read, or has been read.", "info")
    return redirect(url_for("interviews.document_text", interview_id=interview_id, document_id=document_id), 303)
