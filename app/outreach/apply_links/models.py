"""Rows of apply links and of recent visits."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.db import Base, CreatedAt, Id, Ref
from app.flows.models import InterviewFlow


class FlowLink(Base):
    """The apply link of one flow. ``token`` is not a secret, because it is meant to be passed on.

    ``used`` counts interviews created with this token, at most ``most``; ``came`` counts those of all tokens the link
    ever had. Off since ``off_at``.
    """

    __tablename__ = "flow_link"
    __table_args__ = (sa.UniqueConstraint("flow_id"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    token: Mapped[str] = mapped_column(sa.String(43), unique=True)
    created_at: Mapped[CreatedAt]
    renewed_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime | None]
    most: Mapped[int | None]
    used: Mapped[int] = mapped_column(default=0)
    came: Mapped[int] = mapped_column(default=0)
    off_at: Mapped[datetime | None]
    visited_at: Mapped[datetime | None]

    flow: Mapped[InterviewFlow] = relationship()


class FlowVisit(Base):
    """One try to get an interview: counts for the limits, and leads a form sent twice to the same interview.

    ``network`` and ``browser`` are keyed hashes. Deleted after a day.
    """

    __tablename__ = "flow_visit"
    __table_args__ = (sa.Index(None, "link_id", "at"), sa.Index(None, "network", "at"))

    id: Mapped[Id]
    link_id: Mapped[Ref] = mapped_column(sa.ForeignKey("flow_link.id"))
    network: Mapped[str] = mapped_column(sa.String(64))
    browser: Mapped[str] = mapped_column(sa.String(64))
    interview_id: Mapped[str | None] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    at: Mapped[CreatedAt]
