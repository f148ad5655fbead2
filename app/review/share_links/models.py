"""Tables of links that show parts of an interview to people without an account, and of their openings."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Ref
from app.interviews.models import Interview

LONGEST_LABEL = 100
DEFAULT_DAYS, MOST_DAYS = 7, 90
PARTS = {
    "person": "Candidate's name",
    "recording": "Recording (audio, and video if there is one)",
    "transcript": "Transcript by question",
    "summary": "Summary",
    "scores": "Scores with quotes",
    "scorecard": "Team scorecard, with names and comments",
    "documents": "Candidate's documents",
}
"""What a link can show. The flow's title and the organization's name are always shown."""


class Share(Base):
    """One link. ``token_hash`` is the SHA-256 of the 256 random bits in its address. ``openings`` is the total."""

    __tablename__ = "share"

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    label: Mapped[str | None] = mapped_column(sa.String(LONGEST_LABEL))
    parts: Mapped[list[str]]
    made_by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), index=True)
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    revoked_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    openings: Mapped[int] = mapped_column(default=0)

    interview: Mapped[Interview] = relationship()
    made_by: Mapped[TeamMember] = relationship(foreign_keys=[made_by_id])
    revoked_by: Mapped[TeamMember | None] = relationship(foreign_keys=[revoked_by_id])


class Opening(Base):
    """An opening of a link: when, with which kind of browser, and from which network (``actions.network_of``)."""

    __tablename__ = "share_opening"
    __table_args__ = (sa.Index(None, "share_id", "at"),)

    id: Mapped[Id]
    share_id: Mapped[Ref] = mapped_column(sa.ForeignKey("share.id"))
    at: Mapped[datetime]
    browser: Mapped[str] = mapped_column(sa.String(40))
    network: Mapped[str] = mapped_column(sa.String(64))
