"""Rows of who may open a candidate's own page without the browser that took the interview."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, CreatedAt, Id, Ref


class OwnCode(Base):
    """A one-time code that was asked for. ``code_hash`` is null where the address did not fit: nothing was sent then,
    and the row is there so that asking is counted, and answered, alike. ``asker`` is a hash of the network address.
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
    """A browser that gave a right code. The cookie holds 256 random bits; here lies their SHA-256."""

    __tablename__ = "own_pass"

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime]
