"""Pages of uploaded CVs: upload, progress, the check of each candidate, and the outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import accepts_upload, current_member, require_member, require_recruiter
from app.core.db import db
from app.core.errors import GatewayError, Rejected
from app.interviews.documents.file_types import LARGEST, label_of
from app.outreach import invitations
from app.outreach.cvs import actions, queries
from app.outreach.cvs.actions import BEYOND, MOST_FILES, Kept
from app.outreach.cvs.forms import CvsForm, typed_values
from app.outreach.cvs.models import LONGEST_PHONE, TO_CHECK, UNINVITED, UNREAD, CvFile, CvUpload, State
from app.outreach.cvs.unpacking import TOO_LARGE, is_archive
from app.outreach.pages.blueprint import post
from app.outreach.pages.lists import flaw_of_line, offer_choices, where_of
from app.outreach.people_file import Line
from app.web.fields import flaw_of

LARGEST_ZIP = 200_000_000
LARGEST_UPLOAD_FORM = LARGEST_ZIP + 2 * 1024 * 1024
TOO_LARGE_ZIP = "This ZIP is larger than 200 MB. Split it, and upload the parts one after another."
Answer = str | AnyResponse | tuple[str, int]

pages = Blueprint("cvs", __name__, url_prefix="/candidates/cvs")
pages.before_request(require_member)


@dataclass(frozen=True, slots=True)
class Row:
    """A file to check: the values shown, whether it is chosen, and what stands in the way."""

    file: CvFile
    values: dict[str, str | None]
    is_chosen: bool
    note: str = ""
    is_wrong: bool = False


@pages.get("")
def ask() -> str:
    """The form, and uploads of the last days."""
    require_recruiter()
    return _form_page(CvsForm(data={"flow": request.args.get("flow", ""), "by_mail": True}))


@pages.post("")
@accepts_upload(LARGEST_UPLOAD_FORM)
def upload() -> Answer:
    """Store the files, and open the page of their progress. Nothing is created yet."""
    require_recruiter()
    form, member = CvsForm(), current_member()
    sent = [file for file in request.files.getlist("files") if file.filename]
    try:
        flow, recruiter_id = where_of(form)
        _refuse_nothing(sent)
        by_mail = post().can_send and bool(form.by_mail.data)
        begun = actions.begin(flow, recruiter_id=recruiter_id, by_mail=by_mail, by=member)
    except Rejected as refusal:
        db.session.rollback()
        form.blame(refusal.field, refusal.message)
        return _form_page(form), 422
    upload_id = begun.id
    db.session.commit()  # before any file, so that the sweep finds what a broken request leaves
    try:
        kept = _stored(upload_id, sent)
    except GatewayError as error:
        form.blame("files", f"{error.message} Nothing was saved. Try again.")
        return _form_page(form), 503
    actions.add_files(queries.upload_to_change(current_member(), upload_id), kept)
    db.session.commit()
    return redirect(url_for("cvs.show", upload_id=upload_id), 303)


def _refuse_nothing(sent: Sequence[FileStorage]) -> None:
    if not sent:
        raise Rejected("Choose at least one file.", field="files")


def _stored(upload_id: str, sent: Sequence[FileStorage]) -> list[Kept]:
    storage, kept, room = gateways.current().storage, [], MOST_FILES
    for file in sent:
        name = label_of(file.filename or "")
        size = file.stream.seek(0, 2)
        reason = _refusal(file, name, size, room=room)
        key = None if reason else actions.key_of(upload_id)
        if key:
            file.stream.seek(0)
            storage.put(key, file.stream)
            room -= 1
        kept.append(Kept(name, size, key, reason))
    return kept


def _refusal(file: FileStorage, name: str, size: int, *, room: int) -> str | None:
    if room <= 0:
        return BEYOND
    if size <= LARGEST:
        return None
    if not is_archive(file.stream, name):
        return TOO_LARGE
    return TOO_LARGE_ZIP if size > LARGEST_ZIP else None


@pages.get("/<upload_id>")
def show(upload_id: str) -> str:
    """Progress while files are read, then each candidate to check, then the outcomes."""
    require_recruiter()
    found = queries.upload_to_change(current_member(), upload_id)
    files = queries.files_of(found)
    proposed = {row.id: {name: getattr(row, name) for name in _NAMES} for row in files if row.state in TO_CHECK}
    return _upload_page(found, files, _judged(found, files, proposed, chosen=None))


_NAMES = ("email", "first_name", "last_name", "phone")


@pages.post("/<upload_id>")
def confirm(upload_id: str) -> Answer:
    """Create interviews for the chosen candidates, and delete the files of all others."""
    require_recruiter()
    found = queries.upload_to_change(current_member(), upload_id)
    files = queries.files_of(found)
    if any(row.state in UNREAD for row in files):
        flash("Some files are still being read. Check the candidates when all files have been read.", "warn")
        return redirect(url_for("cvs.show", upload_id=upload_id), 303)
    to_check = [row for row in files if row.state in TO_CHECK]
    typed = typed_values(to_check, request.form)
    chosen = {row.id for row in to_check if f"take-{row.id}" in request.form and row.id in typed}
    rows = _judged(found, files, typed, chosen=chosen)
    if any(row.is_wrong for row in rows if row.is_chosen):
        return _upload_page(found, files, rows, is_refused=True), 422
    left_out = [(row.id, row.storage_key) for row in files if row.state in (*TO_CHECK, State.REFUSED)]
    left_out = [(file_id, key) for file_id, key in left_out if file_id not in chosen]
    db.session.rollback()  # ends the read: deleting files is slow
    for _, key in left_out:
        if key:
            gateways.current().storage.delete(key)
    actions.drop([file_id for file_id, _ in left_out])
    found = queries.upload_to_change(current_member(), upload_id)
    actions.confirm(found, {file_id: typed[file_id] for file_id in chosen}, by=current_member())
    db.session.commit()
    return redirect(url_for("cvs.show", upload_id=upload_id), 303)


def _judged(
    found: CvUpload, files: Sequence[CvFile], values: dict[str, dict[str, str | None]], *, chosen: set[str] | None
) -> list[Row]:
    """The files to check. Without ``chosen``, those are chosen that can be invited as they are."""
    to_check = [row for row in files if row.state in TO_CHECK and row.id in values]
    lines = {row.id: _line(row, values[row.id]) for row in to_check}
    taken = [lines[row.id] for row in to_check if chosen is None or row.id in chosen]
    judged = {
        row.line.number: row
        for row in invitations.judge(found.flow, taken, flaw=flaw_of_line, link_days=post().link_days)
    }
    names = {row.number: row.name for row in to_check}
    notes = {number: _note(row, names) for number, row in judged.items() if row.outcome != "new"}
    return [_row(row, values[row.id], notes.get(row.number, ""), chosen=chosen) for row in to_check]


def _row(file: CvFile, values: dict[str, str | None], note: str, *, chosen: set[str] | None) -> Row:
    reason = _flaw(values) or note
    is_chosen = not reason and not file.reason if chosen is None else file.id in chosen
    return Row(file, values, is_chosen, reason, bool(reason))


def _note(judged: invitations.Row, names: dict[int, str]) -> str:
    """What a list of people says of its lines, said of files."""
    if not judged.line.email:
        return "No email address was found. Enter one, or leave this candidate out."
    if judged.same_as is not None:
        return f"Same email address as in “{names[judged.same_as]}”."
    return judged.reason


def _flaw(values: dict[str, str | None]) -> str:
    if any(value and flaw_of(value) for value in values.values()):
        return "A field contains characters that cannot be stored."
    if len(values["phone"] or "") > LONGEST_PHONE:
        return f"Phone: at most {LONGEST_PHONE} characters."
    return ""


def _line(file: CvFile, values: dict[str, str | None]) -> Line:
    return Line(file.number, values["email"] or "", values["first_name"], values["last_name"])


def _upload_page(found: CvUpload, files: Sequence[CvFile], rows: list[Row], *, is_refused: bool = False) -> str:
    unread = sum(row.state in UNREAD for row in files)
    shown: dict[str, Any] = {
        "upload": found,
        "files": files,
        "rows": rows,
        "unread": unread,
        "uninvited": sum(row.state in UNINVITED for row in files),
        "refused": [row for row in files if row.state == State.REFUSED],
        "done": [row for row in files if row.state in (*UNINVITED, State.DONE)],
        "is_refused": is_refused,
        "phone_length": LONGEST_PHONE,
        "kept_days": queries.KEPT.days,
    }
    return render_template("outreach/cvs/upload.html", **shown)


def _form_page(form: CvsForm) -> str:
    return render_template(
        "outreach/cvs/ask.html",
        form=form,
        has_flows=offer_choices(form),
        can_send=post().can_send,
        uploads=queries.uploads_of(current_member()),
        most=MOST_FILES,
        kept_days=queries.KEPT.days,
    )
