"""Rows of usage: one per interview with a result, the organization's quota, and the notices sent about it."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, CreatedAt, Ref


class UsageRecord(Base):
    """One counted interview: organization, flow, month (``2026-01``, UTC), and recorded seconds.

    ``model_calls`` and ``model_tokens`` are what it cost at the language model.
    ``subject`` is the interview, an opaque id here. It holds no personal data, so it outlives an erasure.
    """

    __tablename__ = "usage_record"
    __table_args__ = (sa.Index(None, "organization_id", "month"),)

    subject: Mapped[Ref] = mapped_column(primary_key=True)
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[Ref]
    at: Mapped[datetime]
    month: Mapped[str] = mapped_column(sa.String(7))
    seconds: Mapped[float] = mapped_column(sa.Double())
    model_calls: Mapped[int] = mapped_column(default=0, server_default="0")
    model_tokens: Mapped[int] = mapped_column(default=0, server_default="0")


class UsageQuota(Base):
    """Limits per calendar month; None: no limit. ``stops``: at the limit no interviews can be created."""

    __tablename__ = "usage_quota"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    interviews: Mapped[int | None]
    minutes: Mapped[int | None]
    stops: Mapped[bool] = mapped_column(default=False)
    changed_at: Mapped[CreatedAt]


class UsageNotice(Base):
    """A notice that ``level`` percent of a quota were used in a month: once, even if the quota changes later."""

    __tablename__ = "usage_notice"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    month: Mapped[str] = mapped_column(sa.String(7), primary_key=True)
    level: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created_at: Mapped[CreatedAt]
