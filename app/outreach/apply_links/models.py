"""Rows of share links, and of who came by them lately."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.db import Base, CreatedAt, Id, Ref
from app.flows.models import InterviewFlow


class FlowLink(Base):
    """The link of one flow. ``token`` is no secret, as it is meant to be passed on; a new one ends the old.

    ``used`` interviews came by this token, of at most ``most``; ``came`` by all that there ever were. Off since
    ``off_at``.
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
    """One try to get an interview by a link: for limits, and so that a form sent twice leads to the same interview.

    ``network`` and ``browser`` are keyed hashes. Forgotten after a day.
    """

    __tablename__ = "flow_visit"
    __table_args__ = (sa.Index(None, "link_id", "at"), sa.Index(None, "network", "at"))

    id: Mapped[Id]
    link_id: Mapped[Ref] = mapped_column(sa.ForeignKey("flow_link.id"))
    network: Mapped[str] = mapped_column(sa.String(64))
    browser: Mapped[str] = mapped_column(sa.String(64))
    interview_id: Mapped[str | None] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    at: Mapped[CreatedAt]
