"""Tables of re-scoring: a run that a member asked for, and the interviews in it."""

import enum
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref
from app.flows.models import InterviewFlow
from app.interviews.models import Interview


class State(enum.StrEnum):
    """Progress of one interview of a run."""

    WAITING = "waiting"
    SCORING = "scoring"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN = (State.WAITING, State.SCORING)
_OPEN = sa.text("state IN ('waiting', 'scoring')")


class Rescoring(Base):
    """One run. ``flow_id``: all results of this flow were asked for; null for single interviews and selections."""

    __tablename__ = "rescoring"
    __table_args__ = (sa.Index(None, "organization_id", "created_at"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[str | None] = mapped_column(sa.ForeignKey("interview_flow.id"))
    requested_by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    created_at: Mapped[CreatedAt]
    cancelled_at: Mapped[datetime | None]

    flow: Mapped[InterviewFlow | None] = relationship()
    requested_by: Mapped[TeamMember] = relationship()


class Rescored(Claimable, Base):
    """One interview of a run, claimed by ``state``; no interview is open in two runs.

    ``place`` is its place in the run: runs take turns, place by place. ``version`` is the number of the new version;
    ``reason`` is why there is none.
    """

    __tablename__ = "rescored"
    __table_args__ = (
        sa.Index("ix_rescored_open", "interview_id", unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN),
        sa.Index("ix_rescored_due", "state", "place", sqlite_where=_OPEN, postgresql_where=_OPEN),
        sa.Index(None, "rescoring_id", "place"),
    )

    id: Mapped[Id]
    rescoring_id: Mapped[Ref] = mapped_column(sa.ForeignKey("rescoring.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    place: Mapped[int]
    state: Mapped[str] = mapped_column(sa.String(20), default=State.WAITING)
    version: Mapped[int | None]
    reason: Mapped[str | None] = mapped_column(sa.String(300))

    rescoring: Mapped[Rescoring] = relationship()
    interview: Mapped[Interview] = relationship()
