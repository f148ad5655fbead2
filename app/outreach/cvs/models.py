"""Rows of uploads of CVs and of their files. All of an upload is deleted after a week."""

import enum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.candidates.models import LONGEST_NAME
from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref
from app.flows.models import InterviewFlow
from app.interviews.models import Interview

LONGEST_PHONE = 50


class State(enum.StrEnum):
    """Progress of one file. ``unpacked`` is an archive whose files have rows of their own."""

    WAITING = "waiting"
    READING = "reading"
    READY = "ready"
    REFUSED = "refused"
    UNPACKED = "unpacked"
    CONFIRMED = "confirmed"
    INVITING = "inviting"
    DONE = "done"
    FAILED = "failed"


UNREAD = (State.WAITING, State.READING)
UNINVITED = (State.CONFIRMED, State.INVITING)
TO_CHECK = (State.READY, State.FAILED)
_OPEN = sa.text("state IN ('waiting', 'reading', 'confirmed', 'inviting')")


class CvUpload(Base):
    """One upload: for which flow, and what its candidates get."""

    __tablename__ = "cv_upload"
    __table_args__ = (sa.Index(None, "organization_id", "created_at"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    recruiter_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    by_mail: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[CreatedAt]

    flow: Mapped[InterviewFlow] = relationship()
    by: Mapped[TeamMember] = relationship(foreign_keys=[by_id])


class CvFile(Claimable, Base):
    """One file, claimed by ``state``, with what the rules found in it and a person confirmed.

    ``reason`` says why it was refused or failed. ``storage_key`` is null once the file is deleted here.
    """

    __tablename__ = "cv_file"
    __table_args__ = (
        sa.Index(None, "upload_id", "number"),
        sa.Index("ix_cv_file_due", "state", "number", sqlite_where=_OPEN, postgresql_where=_OPEN),
    )

    id: Mapped[Id]
    upload_id: Mapped[Ref] = mapped_column(sa.ForeignKey("cv_upload.id"))
    number: Mapped[int]
    name: Mapped[str] = mapped_column(sa.String(255))
    state: Mapped[str] = mapped_column(sa.String(20), default=State.WAITING)
    reason: Mapped[str | None] = mapped_column(sa.String(300))
    storage_key: Mapped[str | None] = mapped_column(sa.String(200))
    content_type: Mapped[str | None] = mapped_column(sa.String(100))
    size: Mapped[int] = mapped_column(default=0)
    email: Mapped[str | None] = mapped_column(sa.String(320))
    first_name: Mapped[str | None] = mapped_column(sa.String(LONGEST_NAME))
    last_name: Mapped[str | None] = mapped_column(sa.String(LONGEST_NAME))
    phone: Mapped[str | None] = mapped_column(sa.String(LONGEST_PHONE))
    interview_id: Mapped[str | None] = mapped_column(sa.ForeignKey("interview.id"), index=True)

    upload: Mapped[CvUpload] = relationship()
    interview: Mapped[Interview | None] = relationship()
