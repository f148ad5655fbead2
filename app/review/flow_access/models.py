"""Table of requests for access to a flow."""

import enum
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.flows.models import InterviewFlow

LONGEST_NOTE = 1_000
_OPEN = sa.text("state = 'open'")


class RequestState(enum.StrEnum):
    """``view`` and ``edit`` are the granted rights."""

    OPEN = "open"
    VIEW = "view"
    EDIT = "edit"
    REFUSED = "refused"


class AccessRequest(Base):
    """A member's request for access to a flow. A member has at most one open request per flow."""

    __tablename__ = "access_request"
    __table_args__ = (
        sa.Index(
            "ix_access_request_open", "flow_id", "member_id", unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN
        ),
        sa.Index(None, "organization_id", "state", "created_at"),
        sa.Index(None, "member_id", "decided_at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    state: Mapped[RequestState] = mapped_column(one_of(RequestState), default=RequestState.OPEN)
    created_at: Mapped[CreatedAt]
    decided_at: Mapped[datetime | None]
    decided_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    note: Mapped[str | None] = mapped_column(sa.Text)

    flow: Mapped[InterviewFlow] = relationship()
    member: Mapped[TeamMember] = relationship(foreign_keys=[member_id])
    decided_by: Mapped[TeamMember | None] = relationship(foreign_keys=[decided_by_id])
