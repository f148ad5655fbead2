"""Tables of notes about interviews, and of their mentions."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref
from app.interviews.models import Interview

LONGEST_NOTE = 4_000


class Note(Base):
    """One note. ``edited_at`` is set when its text was changed."""

    __tablename__ = "note"
    __table_args__ = (sa.Index(None, "interview_id", "created_at"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), index=True)
    text: Mapped[str] = mapped_column(sa.Text)
    created_at: Mapped[CreatedAt]
    edited_at: Mapped[datetime | None]

    interview: Mapped[Interview] = relationship()
    member: Mapped[TeamMember] = relationship()
    mentions: Mapped[list["Mention"]] = relationship(back_populates="note", order_by="Mention.said")


class Mention(Base):
    """A member mentioned in a note. ``said`` is the handle without the @; ``read_at`` when they opened it."""

    __tablename__ = "mention"
    __table_args__ = (sa.UniqueConstraint("note_id", "member_id"), sa.Index(None, "member_id", "read_at"))

    id: Mapped[Id]
    note_id: Mapped[Ref] = mapped_column(sa.ForeignKey("note.id"))
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    said: Mapped[str] = mapped_column(sa.String(320))
    created_at: Mapped[CreatedAt]
    read_at: Mapped[datetime | None]

    note: Mapped[Note] = relationship(back_populates="mentions")
    member: Mapped[TeamMember] = relationship()
