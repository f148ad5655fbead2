"""Reads of notes, of members who can be mentioned, and of a member's mentions."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import joinedload, selectinload

from app.accounts.models import TeamMember
from app.core.db import db, is_id
from app.core.errors import NotFound
from app.flows.queries import reach, who_may
from app.interviews.models import Interview
from app.review.notes.models import Mention, Note
from app.review.notes.words import Nameable

MISSING = "There is no such note."


def notes_of(interview: Interview) -> Sequence[Note]:
    """All notes of an interview, the oldest first, with their authors and mentions."""
    query = sa.select(Note).where(Note.interview_id == interview.id).order_by(Note.created_at, Note.id)
    return db.session.scalars(query.options(joinedload(Note.member), selectinload(Note.mentions))).all()


def how_many_notes(interview: Interview) -> int:
    counted = sa.select(sa.func.count()).select_from(Note).where(Note.interview_id == interview.id)
    return db.session.scalar(counted) or 0


def note_of(interview: Interview, note_id: str) -> Note:
    """A note of this interview, or NotFound."""
    note = db.session.get(Note, note_id) if is_id(note_id) else None
    if note is None or note.interview_id != interview.id:
        raise NotFound(MISSING)
    return note


def nameable(interview: Interview, *, but: TeamMember) -> list[Nameable]:
    """Members who can be mentioned in a note: those who may see the interview, except the note's author."""
    query = sa.select(TeamMember.id, TeamMember.full_name, TeamMember.email).where(
        *who_may(interview), TeamMember.id != but.id
    )
    rows = db.session.execute(query.order_by(TeamMember.full_name, TeamMember.email))
    return [Nameable(*row) for row in rows]


def seen_by(member: TeamMember) -> list[sa.ColumnElement[bool]]:
    """Conditions for the member's mentions in notes that they may still read."""
    there = [
        Note.id == Mention.note_id,
        Interview.id == Note.interview_id,
        Interview.withdrawn_at.is_(None),
        Interview.quarantined_at.is_(None),
        *reach(member, Interview),
    ]
    return [Mention.member_id == member.id, sa.exists().where(*there)]


def mentions_of(member: TeamMember, *, limit: int, offset: int) -> Sequence[Mention]:
    """The member's mentions in notes that they may still read, unread ones first, then the newest."""
    query = sa.select(Mention).where(*seen_by(member))
    ordered = query.order_by(Mention.read_at.is_not(None), Mention.created_at.desc(), Mention.id)
    together = joinedload(Mention.note).options(
        joinedload(Note.member), joinedload(Note.interview).joinedload(Interview.flow), selectinload(Note.mentions)
    )
    return db.session.scalars(ordered.options(together).limit(limit).offset(offset)).all()


def how_many_mentions(member: TeamMember, *, unread: bool) -> int:
    """Number of mentions in ``mentions_of``, all or unread."""
    counted = sa.select(sa.func.count(Mention.id)).where(*seen_by(member))
    return db.session.scalar(counted.where(Mention.read_at.is_(None)) if unread else counted) or 0


def mention_of(member: TeamMember, mention_id: str) -> Mention:
    """A mention of this member that they may see, or NotFound."""
    wanted = sa.select(Mention).where(Mention.id == mention_id, *seen_by(member))
    mention = db.session.scalar(wanted) if is_id(mention_id) else None
    if mention is None:
        raise NotFound("There is no such mention.")
    return mention
