"""Rows of candidates, the statuses of an organization's pipeline, every change of status, and decision records."""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Moment, Ref
from app.flows.models import InterviewFlow

LONGEST_NAME = 300
"""Characters of a first or last name, of candidates and of interviews."""
INVITED = "invited"
INTERVIEWED = "interviewed"
SHORTLISTED = "shortlisted"
ACCEPTED = "accepted"
REJECTED = "rejected"
WITHDRAWN = "withdrawn"

DEFAULT_STATUSES = (INVITED, INTERVIEWED, SHORTLISTED, ACCEPTED, REJECTED, WITHDRAWN)
"""The statuses every organization starts with, in order."""


class Meaning(enum.StrEnum):
    """What a status says about a candidate, whatever it is called."""

    OPEN = "open"
    ADVANCED = "advanced"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


DECIDING = (Meaning.ADVANCED, Meaning.ACCEPTED, Meaning.REJECTED)
"""A move into a status with one of these meanings is a decision about the candidate, and leaves a record."""
DEFAULT_MEANINGS = {
    INVITED: Meaning.OPEN,
    INTERVIEWED: Meaning.OPEN,
    SHORTLISTED: Meaning.ADVANCED,
    ACCEPTED: Meaning.ACCEPTED,
    REJECTED: Meaning.REJECTED,
    WITHDRAWN: Meaning.WITHDRAWN,
}


class Source(enum.StrEnum):
    """Where a decision was made."""

    PAGE = "page"
    BOARD = "board"
    TRIAGE = "triage"
    COMPARE = "compare"
    BULK = "bulk"
    STATUSES = "statuses"
    """Someone removed a status, and its candidates moved to another one."""
    API_KEY = "api_key"


class PipelineStatus(Base):
    """A column of the pipeline. An organization without rows has the six defaults.

    ``purpose`` marks the two that Parley itself uses, under any name: where candidates start (``invited``), and where
    a completed interview moves them (``interviewed``). ``meaning`` is a ``Meaning``; it is null until an administrator
    has chosen one, and the status counts as open until then.
    """

    __tablename__ = "pipeline_status"
    __table_args__ = (sa.UniqueConstraint("organization_id", "name"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    name: Mapped[str] = mapped_column(sa.String(100))
    position: Mapped[int]
    purpose: Mapped[str | None] = mapped_column(sa.String(20))
    meaning: Mapped[str | None] = mapped_column(sa.String(20))


class Quarantined:
    """Since ``quarantined_at`` no list shows a candidate and all their interviews, or an interview without a candidate
    (retention); ``kept_at`` is when a member restored them."""

    quarantined_at: Mapped[datetime | None] = mapped_column(Moment(), default=None)
    kept_at: Mapped[datetime | None] = mapped_column(Moment(), default=None)


_TO_REVIEW = sa.text("interviewed_at IS NOT NULL AND reviewed_at IS NULL")


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
        sa.Index(
            "ix_candidate_to_review",
            *("organization_id", "interviewed_at", "id", "is_test", "quarantined_at", "flow_id"),
            sqlite_where=_TO_REVIEW,
            postgresql_where=_TO_REVIEW,
        ),
        sa.Index("ix_candidate_counted", "organization_id", "is_test", "quarantined_at", "status", "flow_id"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    email: Mapped[str] = mapped_column(sa.String(320))
    address: Mapped[str] = mapped_column(sa.String(320))
    first_name: Mapped[str | None] = mapped_column(sa.String(LONGEST_NAME))
    last_name: Mapped[str | None] = mapped_column(sa.String(LONGEST_NAME))
    phone: Mapped[str | None] = mapped_column(sa.String(50))
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
"""How lists are sorted, each by an index."""
# A migration that rebuilds the table on SQLite forgets this one, which has expressions, and makes it again.
sa.Index("ix_candidate_by_name", Candidate.organization_id, *BY_NAME, Candidate.id.desc())
_SCORED = (Candidate.organization_id, Candidate.score, Candidate.id)
_SEARCHED = (Candidate.organization_id, Candidate.is_test, Candidate.quarantined_at, Candidate.created_at, Candidate.id)
for _name, _dialect, _columns in (
    ("ix_candidate_by_score", "postgresql", (Candidate.organization_id, *BY_SCORE)),
    ("ix_candidate_organization_id_score_id", "postgresql", _SCORED),
    # SQLite filters in these two alone, in a third of the time that it takes to open all rows. It reads the first one
    # backward for BY_SCORE, because its null is less than any number.
    (
        "ix_candidate_scored",
        "sqlite",
        (*_SCORED, Candidate.is_test, Candidate.quarantined_at, Candidate.status, Candidate.created_at),
    ),
    ("ix_candidate_searched", "sqlite", (*_SEARCHED, Candidate.email, Candidate.first_name, Candidate.last_name)),
):
    sa.Index(_name, *_columns, info={"dialect": _dialect}).ddl_if(dialect=_dialect)


class CandidateTag(Base):
    """A tag that recruiters add to a candidate."""

    __tablename__ = "candidate_tag"
    __table_args__ = (
        sa.UniqueConstraint("candidate_id", "name"),
        sa.Index(None, "organization_id", "name", "candidate_id"),
    )

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
    """One move, numbered per candidate. ``by_id`` is null if Parley itself moved the candidate, or a program did."""

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
    is_by_api_key: Mapped[bool] = mapped_column(default=False, server_default=sa.false())

    by: Mapped[TeamMember | None] = relationship()


class BulkState(enum.StrEnum):
    """Progress of a bulk change that runs as a job."""

    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


_UNDER_WAY = sa.text("state IN ('waiting', 'working')")


class BulkChange(Claimable, Base):
    """One change to many candidates, made by a job piece by piece and claimed by ``state``.

    ``kind``, ``value`` and ``reason`` are those of ``bulk.Change``; ``undoes_id`` is the change that this one undoes.
    ``trouble`` says why it was given up.
    """

    __tablename__ = "bulk_change"
    __table_args__ = (
        sa.Index(None, "by_id", "created_at"),
        sa.Index(None, "created_at"),
        sa.Index("ix_bulk_change_due", "created_at", sqlite_where=_UNDER_WAY, postgresql_where=_UNDER_WAY),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    undoes_id: Mapped[str | None] = mapped_column(sa.ForeignKey("bulk_change.id"), unique=True)
    kind: Mapped[str] = mapped_column(sa.String(20))
    value: Mapped[str] = mapped_column(sa.String(100), default="")
    reason: Mapped[str] = mapped_column(sa.String(36), default="")
    state: Mapped[str] = mapped_column(sa.String(20), default=BulkState.WAITING)
    trouble: Mapped[str | None] = mapped_column(sa.String(300))
    created_at: Mapped[CreatedAt]

    by: Mapped[TeamMember] = relationship()


class BulkRow(Base):
    """One candidate of a bulk change, in the order of ``place``; ``candidate_id`` is null once they were erased.

    ``moves`` is how many moves the candidate had when the change was asked for: one with more was moved meanwhile.
    ``outcome`` is null until it was their turn, and ``reason`` says why they were refused.
    """

    __tablename__ = "bulk_row"
    __table_args__ = (sa.Index(None, "bulk_change_id", "place"),)

    id: Mapped[Id]
    bulk_change_id: Mapped[Ref] = mapped_column(sa.ForeignKey("bulk_change.id"))
    candidate_id: Mapped[str | None] = mapped_column(sa.ForeignKey("candidate.id"), index=True)
    place: Mapped[int]
    moves: Mapped[int]
    outcome: Mapped[str | None] = mapped_column(sa.String(20))
    reason: Mapped[str | None] = mapped_column(sa.String(300))

    candidate: Mapped[Candidate | None] = relationship()


class DecisionReason(Base):
    """A reason that an organization offers for moves into statuses of one ``meaning``, in the order of ``position``.

    An organization without rows has the defaults of ``reasons.DEFAULTS``. ``code`` never changes and is what records
    and exports keep.
    """

    __tablename__ = "decision_reason"
    __table_args__ = (sa.UniqueConstraint("organization_id", "code"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    code: Mapped[str] = mapped_column(sa.String(36))
    meaning: Mapped[str] = mapped_column(sa.String(20))
    label: Mapped[str] = mapped_column(sa.String(100))
    position: Mapped[int]


class DecisionRule(Base):
    """An organization's rules for decisions. Without a row: reasons are optional, and records go with the candidate.

    ``months``: how long after a decision its record is kept, without the person, once the candidate was erased.
    ``since`` is when ``months`` was last shortened: a grace period counts from there. ``checked_at`` is when the rule
    was last applied.
    """

    __tablename__ = "decision_rule"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    requires_reason: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    months: Mapped[int | None]
    since: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]


class DecisionRecord(Base):
    """One move into a status that decides: what, when, by whom, from where, why, and what they had seen.

    It has the ``number`` of its move, whose note belongs to it. After the candidate was erased, ``candidate_id`` is
    null and ``pseudonym`` is the same random text in all records of that candidate. Nothing else in a record changes,
    except that an undo within five minutes marks it as withdrawn.

    ``decided_by`` is who decided according to the program whose API key moved the candidate; ``by_id`` is null then.
    ``own_rating`` (0 to 5) is the deciding member's own overall rating at that time, or the mean of their others;
    ``criteria_version`` and ``score_version`` are those in force then. All are null where there were none.
    """

    __tablename__ = "decision_record"
    __table_args__ = (sa.UniqueConstraint("candidate_id", "number"), sa.Index(None, "organization_id", "at"))

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    candidate_id: Mapped[str | None] = mapped_column(sa.ForeignKey("candidate.id"))
    pseudonym: Mapped[str | None] = mapped_column(sa.String(36))
    number: Mapped[int]
    previous: Mapped[str] = mapped_column(sa.String(100))
    status: Mapped[str] = mapped_column(sa.String(100))
    meaning: Mapped[str] = mapped_column(sa.String(20))
    at: Mapped[datetime]
    by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    decided_by: Mapped[str | None] = mapped_column(sa.String(320))
    source: Mapped[str] = mapped_column(sa.String(20))
    reason_code: Mapped[str | None] = mapped_column(sa.String(36))
    reason: Mapped[str | None] = mapped_column(sa.String(100))
    criteria_version: Mapped[int | None]
    score_version: Mapped[int | None]
    own_rating: Mapped[float | None]
    withdrawn_at: Mapped[datetime | None]
    withdrawn_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))

    flow: Mapped[InterviewFlow] = relationship()
    by: Mapped[TeamMember | None] = relationship(foreign_keys=by_id)
    withdrawn_by: Mapped[TeamMember | None] = relationship(foreign_keys=withdrawn_by_id)
