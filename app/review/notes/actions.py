"""Members write, change and delete notes. Audited without their text; mentioned members get a mail."""

from collections.abc import Callable
from datetime import timedelta

import sqlalchemy as sa

from app.accounts.actions import write_audit
from app.accounts.models import Role, TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Forbidden, Rejected
from app.gateways.mail import Mail
from app.interviews.models import Interview
from app.legal_holds import actions as legal_holds
from app.mail_outbox import actions as mail_outbox
from app.review.notes.models import LONGEST_NOTE, Mention, Note
from app.review.notes.queries import how_many_notes, nameable, seen_by
from app.review.notes.words import named

MOST_NOTES = 200
"""Per interview."""
MOST_NAMED = 20
"""Per note."""
MAIL_LASTS = timedelta(days=1)

MailFor = Callable[[Note, TeamMember], Mail] | None
"""Makes the mail about a note to a member who is mentioned in it; None without a mail server."""


def write(interview: Interview, text: str, *, by: TeamMember, mail_for: MailFor) -> Note:
    """Add a note. Raises Rejected with the field ``text``, Conflict where no more notes are accepted."""
    _refuse_closed(interview)
    if how_many_notes(interview) >= MOST_NOTES:
        raise Conflict(f"This interview already has {MOST_NOTES} notes. Delete one first.")
    note = Note(
        organization_id=interview.organization_id, interview_id=interview.id, member_id=by.id, text=_checked(text)
    )
    db.session.add(note)
    db.session.flush()
    _name(note, interview, by=by, mail_for=mail_for)
    write_audit(by.organization, action="interview.noted", subject=interview.id, by=by, details={"note": note.id})
    return note


def change(note: Note, text: str, *, by: TeamMember, mail_for: MailFor) -> bool:
    """Change the text of one's own note; returns whether it differs. Raises Rejected, Forbidden, Conflict."""
    if note.member_id != by.id:
        raise Forbidden("Only the author can change a note.")
    _refuse_closed(note.interview)
    words = _checked(text)
    if words == note.text:
        return False
    legal_holds.refuse_held(note.interview_id, note.interview.candidate_id)  # the earlier text would be lost
    note.text, note.edited_at = words, clock.now()
    _name(note, note.interview, by=by, mail_for=mail_for)
    details = {"note": note.id}
    write_audit(by.organization, action="interview.note_changed", subject=note.interview_id, by=by, details=details)
    return True


def may_delete(note: Note, member: TeamMember) -> bool:
    """Authors can delete their own notes, administrators all of them."""
    return member.role is Role.ADMIN or (note.member_id == member.id and member.role is not Role.VIEWER)


def delete(note: Note, *, by: TeamMember) -> None:
    """Delete the note and its mentions. Raises Forbidden, Conflict under a legal hold."""
    if not may_delete(note, by):
        raise Forbidden("Only the author and administrators can delete a note.")
    legal_holds.refuse_held(note.interview_id, note.interview.candidate_id)
    details, interview_id = {"note": note.id, "author": note.member_id}, note.interview_id
    _forget(sa.select(Note.id).where(Note.id == note.id))
    write_audit(by.organization, action="interview.note_deleted", subject=interview_id, by=by, details=details)


def read(mention: Mention) -> None:
    """Mark a mention as read."""
    mention.read_at = mention.read_at or clock.now()
    db.session.flush()


def read_all(member: TeamMember) -> int:
    """Mark all mentions as read that the member may see; returns how many were unread."""
    unread = sa.update(Mention).where(*seen_by(member), Mention.read_at.is_(None)).values(read_at=clock.now())
    return db.changed(unread)


def erase(interview_id: str) -> int:
    """Delete all notes about the interview; returns how many there were. May be repeated."""
    return _forget(sa.select(Note.id).where(Note.interview_id == interview_id))


def _forget(which: sa.Select[str]) -> int:
    ids = list(db.session.scalars(which))
    for statement in (sa.delete(Mention).where(Mention.note_id.in_(ids)), sa.delete(Note).where(Note.id.in_(ids))):
        db.changed(statement)
    db.session.expire_all()
    return len(ids)


def _refuse_closed(interview: Interview) -> None:
    if interview.erased_at is not None:
        raise Conflict("This interview was erased, so you cannot add notes.")
    if interview.withdrawn_at is not None:
        raise Conflict("The candidate withdrew their consent, so you cannot add notes.")


def _checked(text: str) -> str:
    words = text.replace("\r\n", "\n").strip()
    if not words:
        raise Rejected("Enter a note.", field="text")
    if len(words) > LONGEST_NOTE:
        raise Rejected(f"Notes can have up to {LONGEST_NOTE} characters. This one has {len(words)}.", field="text")
    return words


def _name(note: Note, interview: Interview, *, by: TeamMember, mail_for: MailFor) -> None:
    """Store the mentions: mail new ones, and delete those that the text no longer has."""
    handles_by_id = named(note.text, nameable(interview, but=by))
    if len(handles_by_id) > MOST_NAMED:
        raise Rejected(f"You can mention up to {MOST_NAMED} members in one note.", field="text")
    mentions = {one.member_id: one for one in note.mentions}
    for who in mentions.keys() - handles_by_id.keys():
        db.session.delete(mentions[who])
    for who, said in handles_by_id.items():
        if who in mentions:
            mentions[who].said = said
            continue
        db.session.add(Mention(note_id=note.id, member_id=who, said=said))
        if mail_for is not None:
            mail_outbox.post(interview.id, mail_for(note, db.session.get_one(TeamMember, who)), lasts=MAIL_LASTS)
    db.session.flush()
    db.session.expire(note, ["mentions"])
