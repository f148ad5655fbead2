"""Rows of candidates, the statuses of an organization's pipeline, and every change of status."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, CreatedAt, Id, Moment, Ref
from app.flows.models import InterviewFlow

INVITED = "invited"
INTERVIEWED = "interviewed"
SHORTLISTED = "shortlisted"
ACCEPTED = "accepted"
REJECTED = "rejected"
WITHDRAWN = "withdrawn"

DEFAULT_STATUSES = (INVITED, INTERVIEWED, SHORTLISTED, ACCEPTED, REJECTED, WITHDRAWN)
"""The statuses every organization starts with, in order."""


class PipelineStatus(Base):
    """A column of the pipeline. An organization without rows has the six defaults.

    ``purpose`` marks the two that Parley itself uses, under any name: where candidates start (``invited``), and where
    a completed interview moves them (``interviewed``).
    """

    __tablename__ = "pipeline_status"
    __table_args__ = (sa.UniqueConstraint("organization_id", "name"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    name: Mapped[str] = mapped_column(sa.String(100))
    position: Mapped[int]
    purpose: Mapped[str | None] = mapped_column(sa.String(20))


class Quarantined:
    """Since ``quarantined_at`` no list shows a candidate and all their interviews, or an interview without a candidate
    (retention); ``kept_at`` is when a member restored them."""

    quarantined_at: Mapped[datetime | None] = mapped_column(Moment(), default=None)
    kept_at: Mapped[datetime | None] = mapped_column(Moment(), default=None)


class Candidate(Quarantined, Base):
    """One person in the pipeline of one recruitment flow; several interviews of the same address are one candidate,
    but candidates of test interviews (``is_test``) are separate.

    ``email`` is stored as it was entered; ``address`` is the same in lower case, for lookups.
    ``interviewed_at`` and ``score`` (overall, 0 to 5) are those of the newest result;
    ``reviewed_at`` is when a member last reviewed it, and is empty again after a new result.
    """

    __tablename__ = "candidate"
    __table_args__ = (
        sa.UniqueConstraint("flow_id", "address", "is_test"),
        sa.Index(None, "organization_id", "created_at", "id"),
        sa.Index(None, "flow_id", "status", "created_at"),
        sa.Index(None, "organization_id", "status", "created_at"),
        sa.Index(None, "organization_id", "score", "id"),
        sa.Index("ix_candidate_counted", "organization_id", "is_test", "quarantined_at", "status", "flow_id"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    email: Mapped[str] = mapped_column(sa.String(320))
    address: Mapped[str] = mapped_column(sa.String(320))
    first_name: Mapped[str | None] = mapped_column(sa.String(300))
    last_name: Mapped[str | None] = mapped_column(sa.String(300))
    status: Mapped[str] = mapped_column(sa.String(100), default=INVITED)
    status_changes: Mapped[int] = mapped_column(default=0)
    assigned_recruiter_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    is_test: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    created_at: Mapped[CreatedAt]
    interviewed_at: Mapped[datetime | None]
    score: Mapped[float | None]
    reviewed_at: Mapped[datetime | None]

    flow: Mapped[InterviewFlow] = relationship()
    tags: Mapped[list["CandidateTag"]] = relationship(order_by="CandidateTag.name", cascade="all, delete-orphan")
    assigned_recruiter: Mapped[TeamMember | None] = relationship()
    # For templates only: interviews is a room above this one.
    interviews: Mapped[list[Any]] = relationship("Interview", viewonly=True, order_by="Interview.org_seq.desc()")

    @property
    def full_name(self) -> str:
        """First and last name, as far as they are known; empty if neither is."""
        return " ".join(part for part in (self.first_name, self.last_name) if part)


BY_NAME: tuple[sa.ColumnElement[Any], ...] = (
    sa.func.lower(sa.func.coalesce(Candidate.last_name, Candidate.first_name, Candidate.address)),
    sa.func.lower(sa.func.coalesce(Candidate.first_name, Candidate.address)),
)
BY_SCORE: tuple[sa.ColumnElement[Any], ...] = (Candidate.score.desc().nulls_last(), Candidate.id.desc())
"""How lists are sorted. PostgreSQL has an index for each. SQLite reads that of organization, score and id backward for
BY_SCORE, because its null is less than any number. For BY_NAME it sorts: it drops an index over expressions whenever a
migration rebuilds the table."""
for _name, _order in (("ix_candidate_by_name", (*BY_NAME, Candidate.id.desc())), ("ix_candidate_by_score", BY_SCORE)):
    sa.Index(_name, Candidate.organization_id, *_order, info={"dialect": "postgresql"}).ddl_if(dialect="postgresql")


class CandidateTag(Base):
    """A tag that recruiters add to a candidate."""

    __tablename__ = "candidate_tag"
    __table_args__ = (sa.UniqueConstraint("candidate_id", "name"), sa.Index(None, "organization_id", "name"))

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    candidate_id: Mapped[Ref] = mapped_column(sa.ForeignKey("candidate.id"))
    name: Mapped[str] = mapped_column(sa.String(50))


class SavedView(Base):
    """A member's name for a filter, order and columns of the list; ``query`` is the query string of the URL."""

    __tablename__ = "saved_view"
    __table_args__ = (sa.UniqueConstraint("member_id", "name"),)

    id: Mapped[Id]
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    name: Mapped[str] = mapped_column(sa.String(100))
    query: Mapped[str] = mapped_column(sa.String(2_000))


class StatusChange(Base):
    """One move, numbered per candidate; ``by_id`` is null if Parley itself moved the candidate."""

    __tablename__ = "status_change"
    __table_args__ = (sa.UniqueConstraint("candidate_id", "number"),)

    id: Mapped[Id]
    candidate_id: Mapped[Ref] = mapped_column(sa.ForeignKey("candidate.id"))
    number: Mapped[int]
    previous: Mapped[str] = mapped_column(sa.String(100))
    new: Mapped[str] = mapped_column(sa.String(100))
    by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    at: Mapped[CreatedAt]
    note: Mapped[str | None] = mapped_column(sa.Text)

    by: Mapped[TeamMember | None] = relationship()
