"""Notes on the page of an interview, and a member's list of mentions."""

from typing import Any

from flask import Blueprint, current_app, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import gateways
from app.accounts.access import current_member, require_member, require_recruiter
from app.accounts.models import TeamMember
from app.candidates.forms import list_query
from app.core.db import db
from app.core.errors import Conflict, Forbidden, Rejected
from app.gateways.mail import Mail
from app.interviews.models import Interview
from app.interviews.queries import interview_seen_by, interview_to_change
from app.review.notes import actions, queries
from app.review.notes.forms import NoteForm
from app.review.notes.models import Note
from app.review.notes.words import handles, pieces
from app.settings import Settings
from app.web.templating import offset_of_request

PER_PAGE = 25
MOST_OFFERED = 300
"""Names that the picker offers; anyone else can still be mentioned by typing."""

pages = Blueprint("notes", __name__)
pages.before_request(require_member)


@pages.app_context_processor
def _card() -> dict[str, Any]:
    """Functions for the page of an interview and the navigation; they query only when called."""
    return {
        "notes_of": queries.notes_of,
        "note_form": NoteForm,
        "nameable_in": _offered,
        "note_pieces": _pieces,
        "may_delete_note": lambda note: actions.may_delete(note, current_member()),
        "unread_mentions": lambda: queries.how_many_mentions(current_member(), unread=True),
    }


def _offered(interview: Interview) -> list[str]:
    """The handles of the members who can be mentioned."""
    return list(handles(queries.nameable(interview, but=current_member())).values())[:MOST_OFFERED]


def _pieces(note: Note) -> list[tuple[str, bool]]:
    return pieces(note.text, [one.said for one in note.mentions])


@pages.post("/interviews/<interview_id>/notes")
def write(interview_id: str) -> AnyResponse | tuple[str, int]:
    """Add a note, or show the form again with its errors."""
    require_recruiter()
    member, form = current_member(), NoteForm()
    interview = interview_to_change(member, interview_id)
    if not form.validate():
        return _page(interview, form), 422
    try:
        note = actions.write(interview, form.text.data or "", by=member, mail_for=_mail_for())
    except (Rejected, Conflict) as refusal:
        return _refused(refusal, interview_id, form)
    note_id = note.id
    db.session.commit()
    return _back(interview_id, note_id)


@pages.get("/interviews/<interview_id>/notes/<note_id>")
def edit(interview_id: str, note_id: str) -> str:
    """The form to change one's own note."""
    require_recruiter()
    interview, note = _own(interview_id, note_id)
    return _page(interview, NoteForm(data={"text": note.text}), note=note)


@pages.post("/interviews/<interview_id>/notes/<note_id>")
def save(interview_id: str, note_id: str) -> AnyResponse | tuple[str, int]:
    """Save the changed note, or show the form again with its errors."""
    require_recruiter()
    form = NoteForm()
    interview, note = _own(interview_id, note_id)
    if not form.validate():
        return _page(interview, form, note=note), 422
    try:
        actions.change(note, form.text.data or "", by=current_member(), mail_for=_mail_for())
    except (Rejected, Conflict) as refusal:
        return _refused(refusal, interview_id, form, note_id=note_id)
    db.session.commit()
    return _back(interview_id, note_id)


@pages.post("/interviews/<interview_id>/notes/<note_id>/delete")
def delete(interview_id: str, note_id: str) -> AnyResponse:
    """Delete a note, for its author and administrators."""
    require_recruiter()
    member = current_member()
    answer = redirect(url_for("interviews.show", interview_id=interview_id, _anchor="notes", **list_query()), 303)
    try:
        actions.delete(queries.note_of(interview_to_change(member, interview_id), note_id), by=member)
    except Conflict as conflict:
        db.session.rollback()
        flash(conflict.message, "bad")
        return answer
    db.session.commit()
    flash("Note deleted.", "good")
    return answer


@pages.get("/mentions")
def mentions() -> str:
    """The member's mentions, unread ones first."""
    member, offset = current_member(), offset_of_request()
    return render_template(
        "review/notes/mentions.html",
        mentions=queries.mentions_of(member, limit=PER_PAGE, offset=offset),
        offset=offset,
        limit=PER_PAGE,
        total=queries.how_many_mentions(member, unread=False),
    )


@pages.post("/mentions/<mention_id>")
def follow(mention_id: str) -> AnyResponse:
    """Mark a mention as read and redirect to its note."""
    mention = queries.mention_of(current_member(), mention_id)
    interview_id, note_id = mention.note.interview_id, mention.note_id
    actions.read(mention)
    db.session.commit()
    return _back(interview_id, note_id)


@pages.post("/mentions")
def read_all() -> AnyResponse:
    """Mark all mentions as read."""
    actions.read_all(current_member())
    db.session.commit()
    return redirect(url_for("notes.mentions"), 303)


def _own(interview_id: str, note_id: str) -> tuple[Interview, Note]:
    member = current_member()
    interview = interview_to_change(member, interview_id)
    note = queries.note_of(interview, note_id)
    if note.member_id != member.id:
        raise Forbidden("Only the author can change a note.")
    return interview, note


def _mail_for() -> actions.MailFor:
    """Makes the mail: a link, and nothing about the note or the candidate, because mail is not confidential."""
    if not gateways.current().mail.is_configured:
        return None
    settings: Settings = current_app.extensions["parley.settings"]

    def mail(note: Note, member: TeamMember) -> Mail:
        author, title = note.member.full_name or note.member.email, note.interview.flow.title
        page = url_for("interviews.show", interview_id=note.interview_id, _anchor=f"note-{note.id}")
        link = f"{settings.app_url}{page}"
        return Mail(
            member.email,
            " ".join(f"{author} mentioned you in a note".split()),
            f"{author} mentioned you in a note about an interview for “{title}”.\n\nRead it here:\n{link}\n",
            link=link,
            button="Read the note",
            sender=member.organization.name,
            reply_to=note.member.email,
        )

    return mail


def _refused(
    refusal: Rejected | Conflict, interview_id: str, form: NoteForm, *, note_id: str | None = None
) -> AnyResponse | tuple[str, int]:
    db.session.rollback()
    if isinstance(refusal, Conflict):
        flash(refusal.message, "bad")
        return redirect(url_for("interviews.show", interview_id=interview_id, _anchor="notes", **list_query()), 303)
    form.text.errors = [refusal.message]
    interview = interview_seen_by(current_member(), interview_id)
    return _page(interview, form, note=queries.note_of(interview, note_id) if note_id else None), 422


def _page(interview: Interview, form: NoteForm, *, note: Note | None = None) -> str:
    return render_template(
        "review/notes/edit.html",
        interview=interview,
        form=form,
        note=note,
        people=_offered(interview),
        listed=list_query(),
    )


def _back(interview_id: str, note_id: str) -> AnyResponse:
    return redirect(
        url_for("interviews.show", interview_id=interview_id, _anchor=f"note-{note_id}", **list_query()), 303
    )
