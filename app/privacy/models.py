"""Rows of erased interviews: the proof that nothing is left, free of personal data."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, Ref


class Erasure(Base):
    """One interview that is being erased, or was.

    ``erased_at``: all rows are empty, and nobody gets at a file any more. ``gone_at``: the storage was listed and holds
    nothing of it. ``settled_at``: a second look, after all late work had ended, found nothing either. ``removed`` are
    counts by kind, and ``receipt`` is a hash over all of it, once ``gone_at`` is known.
    """

    __tablename__ = "erasure"
    __table_args__ = (sa.Index(None, "settled_at", "gone_at"),)

    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), primary_key=True)
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), index=True)
    erased_at: Mapped[datetime]
    by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    removed: Mapped[dict[str, Any]]
    gone_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]
    receipt: Mapped[str | None] = mapped_column(sa.String(64))

    by: Mapped[TeamMember | None] = relationship()


class RetentionRule(Base):
    """How long an organization keeps what nobody touches any more; without a row, or with None, for ever.

    ``since`` and ``media_since`` are when the rule was set or last made shorter: nothing happens for a while after.
    ``checked_at`` is when a round last found nothing left to do.
    """

    __tablename__ = "retention_rule"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    months: Mapped[int | None]
    media_days: Mapped[int | None]
    since: Mapped[datetime | None]
    media_since: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
