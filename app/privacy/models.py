"""Rows of erasures, which prove that nothing is left without personal data, and of retention rules."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, Ref


class Erasure(Base):
    """The erasure of one interview.

    ``erased_at``: all rows are empty and no file can be opened any more. ``gone_at``: the storage was listed and has
    none of its files. ``settled_at``: a second check, after all late work had ended, found none either. ``removed``
    are counts by kind. ``receipt`` is a hash over all of it, written with ``gone_at``.
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
    """How long an organization keeps inactive data. Without a row, or with None, forever.

    ``since`` and ``media_since`` are when the rule was set or last shortened: the grace period counts from there.
    ``checked_at`` is when a round last found nothing left to do.
    """

    __tablename__ = "retention_rule"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    months: Mapped[int | None]
    media_days: Mapped[int | None]
    since: Mapped[datetime | None]
    media_since: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
