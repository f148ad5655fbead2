"""Recruiters export an interview. Exports contain what its page shows; each one is in the audit log."""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.access import current_member, note_access, require_member, require_recruiter
from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core.db import db, reading
from app.core.errors import GatewayError
from app.interviews.download import Access, access_to, file_name, files_of, seat, streamed
from app.interviews.queries import interview_to_change
from app.review.exports.download import as_json, as_pdf, as_vtt, has_captions, parts_of
from app.review.exports.queries import UNTIMED, export_of, lacking
from app.review.exports.sheet import as_csv
from app.web.streaming_slots import Place

pages = Blueprint("exports", __name__)
pages.before_request(require_member)

Writer = Callable[[Mapping[str, Any]], bytes | str]
FORMATS: dict[str, tuple[str, Writer]] = {
    "json": ("application/json", as_json),
    "csv": ("text/csv", lambda export: "".join(as_csv(export))),
    "vtt": ("text/vtt", as_vtt),
    "pdf": ("application/pdf", as_pdf),
}


@pages.get("/interviews/<interview_id>/report")
def report(interview_id: str) -> str | AnyResponse:
    """The report: a page to read or print. ``export`` makes the same as a PDF file."""
    require_recruiter()
    member = current_member()
    interview = interview_to_change(member, interview_id)
    lack = lacking(interview)
    if lack is not None:
        return _refused(interview_id, lack)
    note_access(member.organization, "interview.reported", interview.id, by=member)
    interview = interview_to_change(member, interview_id)
    return render_template("review/exports/report.html", interview=interview, report=export_of(interview, by=member))


@pages.post("/interviews/<interview_id>/export")
def export(interview_id: str) -> AnyResponse:
    """One file in the requested ``format``. A POST, because each export is recorded in the audit log."""
    require_recruiter()
    kind = request.form.get("format", "")
    with reading():
        interview = interview_to_change(current_member(), interview_id)
        lack = lacking(interview)
        if kind not in FORMATS and kind != "zip":
            lack = "Choose a format."
        data = {} if lack else export_of(interview, by=current_member())
        files = [] if lack else files_of(interview, with_recordings=not data["is_withheld"])
        access, row_id = access_to(interview, heeds_withdrawal=True), interview.id
        db.session.rollback()
    if lack is None and kind == "vtt" and not has_captions(data):
        lack = UNTIMED
    if lack is not None:
        return _refused(interview_id, lack)
    if kind not in {"zip", "pdf"}:
        _write_down(row_id, kind)
        return _file(row_id, kind, data)
    try:
        place = seat()
        if kind == "pdf":
            return _pdf(row_id, data, access=access, place=place)
    except GatewayError as refusal:
        return _refused(interview_id, str(refusal))
    parts = parts_of(data, files)
    _write_down(row_id, kind)
    return streamed(row_id, parts, place, access=access, heeds_withdrawal=True)


def _pdf(row_id: str, data: Mapping[str, Any], *, access: Access, place: Place) -> AnyResponse:
    """The report as a PDF, unless access to the interview has changed while it was made. Raises GatewayError."""
    try:
        response = _file(row_id, "pdf", data)
    finally:
        place.leave()
    interview = interview_to_change(current_member(), row_id)
    if lacking(interview) or access_to(interview, heeds_withdrawal=True) != access:
        return _refused(row_id, "The interview changed while the PDF was being created. Try again.")
    _write_down(row_id, "pdf")
    return response


def _write_down(interview_id: str, kind: str) -> None:
    member: TeamMember = current_member()
    write_audit(
        member.organization, action="interview.exported", subject=interview_id, by=member, details={"format": kind}
    )
    db.session.commit()


def _file(interview_id: str, kind: str, export_data: Mapping[str, Any]) -> Response:
    mimetype, written = FORMATS[kind]
    disposition = f'attachment; filename="{file_name(interview_id, kind)}"'
    return Response(written(export_data), mimetype=mimetype, headers={"Content-Disposition": disposition})


def _refused(interview_id: str, why: str) -> AnyResponse:
    flash(why, "warn")
    return redirect(url_for("interviews.show", interview_id=interview_id), 303)
