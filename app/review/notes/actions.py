"""Members write, change and delete notes: audited without their words; whoever is named is told by mail, if any."""

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
"""Of one interview."""
MOST_NAMED = 20
"""In one note."""
MAIL_LASTS = timedelta(days=1)

MailFor = Callable[[Note, TeamMember], Mail] | None
"""Makes the mail about a note to somebody who is named in it; None where no mail server is configured."""


def write(interview: Interview, text: str, *, by: TeamMember, mail_for: MailFor) -> Note:
    """A new note. Raises Rejected with the field ``text``, Conflict where no further note is taken."""
    _refuse_closed(interview)
    if how_many_notes(interview) >= MOST_NOTES:
        raise Conflict(f"There are {MOST_NOTES} notes already; delete one first.")
    note = Note(
        organization_id=interview.organization_id, interview_id=interview.id, member_id=by.id, text=_checked(text)
    )
    db.session.add(note)
    db.session.flush()
    _name(note, interview, by=by, mail_for=mail_for)
    write_audit(by.organization, action="interview.noted", subject=interview.id, by=by, details={"note": note.id})
    return note


def change(note: Note, text: str, *, by: TeamMember, mail_for: MailFor) -> bool:
    """Other words, by its author alone; whether anything changed. Raises Rejected, Forbidden, Conflict."""
    if note.member_id != by.id:
        raise Forbidden("Only its author may change a note.")
    _refuse_closed(note.interview)
    words = _checked(text)
    if words == note.text:
        return False
    legal_holds.refuse_held(note.interview_id, note.interview.candidate_id)  # the words of before would be gone
    note.text, note.edited_at = words, clock.now()
    _name(note, note.interview, by=by, mail_for=mail_for)
    details = {"note": note.id}
    write_audit(by.organization, action="interview.note_changed", subject=note.interview_id, by=by, details=details)
    return True


def may_delete(note: Note, member: TeamMember) -> bool:
    """Authors delete their own notes, administrators every one."""
    return member.role is Role.ADMIN or (note.member_id == member.id and member.role is not Role.VIEWER)


def delete(note: Note, *, by: TeamMember) -> None:
    """The note is gone, and with it that anybody was named. Raises Forbidden, Conflict under a legal hold."""
    if not may_delete(note, by):
        raise Forbidden("Only its author and administrators may delete a note.")
    legal_holds.refuse_held(note.interview_id, note.interview.candidate_id)
    details, interview_id = {"note": note.id, "author": note.member_id}, note.interview_id
    _forget(sa.select(Note.id).where(Note.id == note.id))
    write_audit(by.organization, action="interview.note_deleted", subject=interview_id, by=by, details=details)


def read(mention: Mention) -> None:
    """The member has seen it."""
    mention.read_at = mention.read_at or clock.now()
    db.session.flush()


def read_all(member: TeamMember) -> int:
    """The member has seen everything that they may see; returns how many were unread."""
    unread = sa.update(Mention).where(*seen_by(member), Mention.read_at.is_(None)).values(read_at=clock.now())
    return db.changed(unread)


def erase(interview_id: str) -> int:
    """Forget all notes about the interview; returns how many there were. May be repeated."""
    return _forget(sa.select(Note.id).where(Note.interview_id == interview_id))


def _forget(which: sa.Select[str]) -> int:
    ids = list(db.session.scalars(which))
    for statement in (sa.delete(Mention).where(Mention.note_id.in_(ids)), sa.delete(Note).where(Note.id.in_(ids))):
        db.changed(statement)
    db.session.expire_all()
    return len(ids)


def _refuse_closed(interview: Interview) -> None:
    if interview.erased_at is not None:
        raise Conflict("Everything about this interview was erased.")
    if interview.withdrawn_at is not None:
        raise Conflict("The candidate withdrew their consent. No notes are kept any more.")


def _checked(text: str) -> str:
    words = text.replace("\r\n", "\n").strip()
    if not words:
        raise Rejected("Write something first.", field="text")
    if len(words) > LONGEST_NOTE:
        raise Rejected(f"These are {len(words)} characters; at most {LONGEST_NOTE} are kept.", field="text")
    return words


def _name(note: Note, interview: Interview, *, by: TeamMember, mail_for: MailFor) -> None:
    """Keep who is named: those who are new get a mail, those who no longer are have nothing to read any more."""
    handles_by_id = named(note.text, nameable(interview, but=by))
    if len(handles_by_id) > MOST_NAMED:
        raise Rejected(f"At most {MOST_NAMED} people can be named in one note.", field="text")
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
