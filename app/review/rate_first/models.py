"""Table of members who have shown scores without rating."""

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref


class ScoreReveal(Base):
    """A member has shown the scores of an interview without rating it, where results are rated first."""

    __tablename__ = "score_reveal"
    __table_args__ = (sa.UniqueConstraint("interview_id", "member_id"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), index=True)
    at: Mapped[CreatedAt]

    member: Mapped[TeamMember] = relationship()
