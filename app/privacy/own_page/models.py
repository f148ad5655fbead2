"""Rows that let other browsers than the interview's open a candidate's own page."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, CreatedAt, Id, Ref


class OwnCode(Base):
    """A requested one-time code. ``asker`` is a hash of the network address.

    ``code_hash`` is null if the email address was wrong and nothing was sent. The row is written anyway, so that every
    request is counted and answered alike.
    """

    __tablename__ = "own_code"
    __table_args__ = (sa.Index(None, "interview_id", "created_at"), sa.Index(None, "asker", "created_at"))

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    asker: Mapped[str] = mapped_column(sa.String(64))
    code_hash: Mapped[str | None] = mapped_column(sa.String(64))
    tries: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class OwnPass(Base):
    """A browser that entered a right code. The cookie holds 256 random bits, this row their SHA-256."""

    __tablename__ = "own_pass"

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime]
