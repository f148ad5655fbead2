"""Rows of use: one per interview that has a result, an organization's quota, and what was told of it."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, CreatedAt, Ref


class UsageRecord(Base):
    """One interview that counts: of which organization and flow, in which month (``2026-01``, UTC), how long recorded.

    ``subject`` is the interview, an opaque id here. Nothing in it tells of a person, so it outlives an erasure.
    """

    __tablename__ = "usage_record"
    __table_args__ = (sa.Index(None, "organization_id", "month"),)

    subject: Mapped[Ref] = mapped_column(primary_key=True)
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[Ref]
    at: Mapped[datetime]
    month: Mapped[str] = mapped_column(sa.String(7))
    seconds: Mapped[float] = mapped_column(sa.Double())


class UsageQuota(Base):
    """What an organization may use in a calendar month; None: no limit. ``stops``: at the limit no more are booked."""

    __tablename__ = "usage_quota"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    interviews: Mapped[int | None]
    minutes: Mapped[int | None]
    stops: Mapped[bool] = mapped_column(default=False)
    changed_at: Mapped[CreatedAt]


class UsageNotice(Base):
    """That a quota was told to be used to ``level`` percent in a month: once, whatever happens to the quota later."""

    __tablename__ = "usage_notice"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    month: Mapped[str] = mapped_column(sa.String(7), primary_key=True)
    level: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created_at: Mapped[CreatedAt]
