"""Rows of message templates, and of the messages that members have sent."""

import enum
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref
from app.interviews.models import Interview
from app.mail_outbox.models import QueuedMail


class Purpose(enum.StrEnum):
    """What a template is for. Only rejected candidates get a ``rejection``, and it waits before it is sent."""

    GENERAL = "general"
    REJECTION = "rejection"


class MessageTemplate(Base):
    """A text of the organization with placeholders. An organization without rows has the starters of ``words``."""

    __tablename__ = "message_template"
    __table_args__ = (sa.UniqueConstraint("organization_id", "name"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    name: Mapped[str] = mapped_column(sa.String(100))
    purpose: Mapped[str] = mapped_column(sa.String(20))
    language: Mapped[str] = mapped_column(sa.String(10))
    subject: Mapped[str] = mapped_column(sa.String(200))
    text: Mapped[str] = mapped_column(sa.Text)
    changed_at: Mapped[CreatedAt]


class PersonalMessage(Base):
    """One email from a member to one candidate, as it was sent. Messages sent together have the same ``batch``.

    It belongs to the candidate's newest interview at that time and is erased with it. ``template`` is the name of the
    template at that time. The outcome is the state of ``letter``.
    """

    __tablename__ = "personal_message"
    __table_args__ = (
        sa.UniqueConstraint("batch", "interview_id"),
        sa.Index(None, "organization_id", "created_at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    batch: Mapped[str] = mapped_column(sa.String(36))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    letter_id: Mapped[Ref] = mapped_column(sa.ForeignKey("letter.id"), index=True)
    by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    template: Mapped[str | None] = mapped_column(sa.String(100))
    is_rejection: Mapped[bool] = mapped_column(default=False)
    subject: Mapped[str] = mapped_column(sa.Text)
    text: Mapped[str] = mapped_column(sa.Text)
    language: Mapped[str] = mapped_column(sa.String(10))
    created_at: Mapped[CreatedAt]

    interview: Mapped[Interview] = relationship()
    letter: Mapped[QueuedMail] = relationship()
    by: Mapped[TeamMember] = relationship()

    @property
    def at(self) -> datetime:
        """When it was written, for lists in which it stands among moves."""
        return self.created_at
