"""Rows of mail on its way. The text is encrypted, and deleted as soon as the mail is sent or given up."""

import enum
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, one_of


class QueuedMailState(enum.StrEnum):
    """``lost``: the worker died while sending, or the mail server never answered. The mail may have arrived, so it is
    not sent again."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"
    EXPIRED = "expired"
    LOST = "lost"


class QueuedMail(Claimable, Base):
    """One mail to one address: to candidates about one interview, to members about none. ``sealed`` holds address,
    subject and text until it is settled. ``lapses``: no longer needed once the interview has started."""

    __tablename__ = "letter"
    __table_args__ = (sa.Index(None, "state", "due_at"),)

    id: Mapped[Id]
    interview_id: Mapped[str | None] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    sealed: Mapped[str | None] = mapped_column(sa.Text)
    state: Mapped[QueuedMailState] = mapped_column(
        one_of(QueuedMailState, name="letterstate"), default=QueuedMailState.WAITING
    )
    attempts: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    failure: Mapped[str | None] = mapped_column(sa.String(200))
    lapses: Mapped[bool] = mapped_column(default=True, server_default=sa.true())
    created_at: Mapped[CreatedAt]
    settled_at: Mapped[datetime | None]
