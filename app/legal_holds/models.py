"""Rows of legal holds."""

import enum
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref, one_of

LONGEST_REASON = 500


class Held(enum.StrEnum):
    """What a hold covers. A candidate's hold covers all their interviews, including later ones."""

    CANDIDATE = "candidate"
    INTERVIEW = "interview"


class LegalHold(Base):
    """One hold, in force until a member releases it, or until ``ends_at``.

    ``subject_id`` belongs to a room above this one, and may be deleted once the hold is over, together with the reason.
    """

    __tablename__ = "legal_hold"
    __table_args__ = (sa.Index(None, "subject_id"), sa.Index(None, "organization_id", "released_at"))

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    kind: Mapped[Held] = mapped_column(one_of(Held))
    subject_id: Mapped[Ref]
    reason: Mapped[str | None] = mapped_column(sa.Text)
    created_at: Mapped[CreatedAt]
    by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    ends_at: Mapped[datetime | None]
    released_at: Mapped[datetime | None]
    released_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))

    by: Mapped[TeamMember | None] = relationship(foreign_keys=[by_id])

    @property
    def last_day(self) -> datetime | None:
        """A moment of the last day on which the hold is in force, if it ends."""
        return self.ends_at - timedelta(seconds=1) if self.ends_at else None
