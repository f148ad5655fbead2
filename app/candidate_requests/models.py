"""Rows of requests of candidates: kind, text, due date and answer."""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.interviews.models import Interview

LONGEST_TEXT = 2_000
LONGEST_CONTACT = 320
LONGEST_ANSWER = 2_000
LONGEST_DAYS = 365
MOST_OPEN = 20
"""Open requests per interview, so that no one can flood a recruiter's list."""


class RequestKind(enum.StrEnum):
    ACCOMMODATION = "accommodation"
    DELETION = "deletion"
    REVIEW = "review"
    WITHDRAWAL = "withdrawal"
    CORRECTION = "correction"


class RequestState(enum.StrEnum):
    """``open`` waits for a person. ``granted`` is promised, ``done`` has happened."""

    OPEN = "open"
    GRANTED = "granted"
    DECLINED = "declined"
    DONE = "done"


class Different(enum.StrEnum):
    """What a candidate who asks for an accommodation wants instead."""

    MORE_TIME = "more_time"
    TEXT = "writing"
    PERSON = "person"
    OTHER = "other"


DAYS = {
    RequestKind.ACCOMMODATION: 3,
    RequestKind.CORRECTION: 14,
    RequestKind.REVIEW: 14,
    RequestKind.WITHDRAWAL: 7,
    RequestKind.DELETION: 30,
}
"""Default days for answering a request of each kind."""


class CandidateRequest(Base):
    """One request of a candidate. ``details`` says more, per kind: an accommodation has ``choice`` (a ``Different``)
    and ``asked`` (``before`` or ``during`` the talk).

    ``decided_by`` is None if Parley granted it immediately; ``decided_at`` is when the newest reply was given.
    """

    __tablename__ = "wish"
    __table_args__ = (
        sa.Index(None, "organization_id", "state", "due_at"),
        sa.Index(None, "team_id", "state", "due_at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    kind: Mapped[RequestKind] = mapped_column(one_of(RequestKind, name="wishkind"))
    state: Mapped[RequestState] = mapped_column(one_of(RequestState, name="wishstate"), default=RequestState.OPEN)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    text: Mapped[str | None] = mapped_column(sa.Text)
    contact: Mapped[str | None] = mapped_column(sa.String(320))
    created_at: Mapped[CreatedAt]
    due_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
    decided_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    answer: Mapped[str | None] = mapped_column(sa.Text)

    interview: Mapped[Interview] = relationship()
    decided_by: Mapped[TeamMember | None] = relationship()

    @property
    def reply_version(self) -> str:
        """Another one after each reply; empty before the first."""
        return self.decided_at.isoformat() if self.decided_at else ""

    @property
    def flow_id(self) -> str:
        """The flow of its interview."""
        return self.interview.flow_id
