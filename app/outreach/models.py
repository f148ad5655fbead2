"""Rows of emails to candidates, of the organizations' own texts, and of their plans."""

import enum
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.interviews.models import Interview
from app.mail_outbox.models import QueuedMail


class Step(enum.StrEnum):
    """Purpose of an email."""

    INVITATION = "invitation"
    REMINDER = "reminder"
    EXPIRY = "expiry"


class LinkState(enum.StrEnum):
    """What the candidate's link leads to."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    SUBMITTED = "submitted"
    EXPIRED = "expired"
    CLOSED = "closed"


class Message(Base):
    """One email about one interview. ``number`` counts the emails of a step; the unique key prevents duplicates.

    ``by_id`` is null if the plan sent it. The outcome is the state of ``letter``; the text is not stored.
    """

    __tablename__ = "message"
    __table_args__ = (
        sa.UniqueConstraint("interview_id", "step", "number"),
        sa.Index(None, "organization_id", "step", "created_at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    letter_id: Mapped[Ref] = mapped_column(sa.ForeignKey("letter.id"), index=True)
    by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    step: Mapped[Step] = mapped_column(one_of(Step))
    number: Mapped[int]
    language: Mapped[str] = mapped_column(sa.String(10))
    created_at: Mapped[CreatedAt]

    interview: Mapped[Interview] = relationship()
    letter: Mapped[QueuedMail] = relationship()
    by: Mapped[TeamMember | None] = relationship()


class MailWords(Base):
    """An organization's own text for a step in a language. Without a row the default text is used."""

    __tablename__ = "mail_words"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    step: Mapped[Step] = mapped_column(one_of(Step), primary_key=True)
    language: Mapped[str] = mapped_column(sa.String(10), primary_key=True)
    subject: Mapped[str] = mapped_column(sa.String(200))
    text: Mapped[str] = mapped_column(sa.Text)
    changed_at: Mapped[CreatedAt]


class OutreachPlan(Base):
    """When invited candidates are emailed automatically. None means never.

    ``remind_after`` counts days since the invitation, ``notice_before`` days until the link expires.
    """

    __tablename__ = "outreach_plan"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    remind_after: Mapped[int | None]
    notice_before: Mapped[int | None]


class Invited(Base):
    """A line of an invitation list and its interview, so that sending the list again creates no second one."""

    __tablename__ = "invited"
    __table_args__ = (sa.UniqueConstraint("batch", "number"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    batch: Mapped[str] = mapped_column(sa.String(36))
    number: Mapped[int]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(index=True)
