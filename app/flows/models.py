"""Rows of interview flows, with the allowed values of the public interface."""

import enum
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, declared_attr, mapped_column, relationship

from app.accounts.models import Organization, Team, TeamMember
from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.flows.criteria import CriteriaColumn, Criterion

MOST_QUESTIONS = 20
LONGEST = {
    "title": 300,
    "org_name": 300,
    "questions": 2_000,
    "intro": 5_000,
    "outro": 5_000,
    "additional_info": 20_000,
    "additional_instructions": 20_000,
    "webhook_secret_key": 1_000,
    "company_logo_url": 2_048,
    "preamble_video_url": 2_048,
    "redirect_url": 2_048,
    "webhook_url": 2_048,
    "alternative_text": 2_000,
    "alternative_contact": 500,
    "accent": 20,
}
"""Most characters of each text. The contract names no maxima, so these are ours."""
MOST_FOLLOW_UPS = 3
MOST_MINUTES = 120


class FlowStatus(enum.StrEnum):
    """``archived`` flows have been deleted; they stay readable."""

    OPEN = "open"
    CLOSED = "closed"
    ARCHIVED = "archived"


class InterviewType(enum.StrEnum):
    """Only candidates of ``recruitment`` interviews with an email address appear on the platform."""

    RECRUITMENT = "recruitment"
    GENERAL = "general"


class Right(enum.StrEnum):
    """What a member may do with a flow and everything that belongs to it. ``edit`` includes ``view``."""

    VIEW = "view"
    EDIT = "edit"


class Cv(enum.StrEnum):
    """Whether candidates are asked for a CV. Without a required one they finish only by saying that they have none."""

    ASKED = "asked"
    REQUIRED = "required"


class SpeechState(enum.StrEnum):
    """Whether the script has been spoken into the cache, so that interviews do not wait for speech."""

    PENDING = "pending"
    PREPARING = "preparing"
    READY = "ready"
    FAILED = "failed"


class InterviewFlow(Claimable, Base):
    """A script of questions and the settings of its interviews. The job that speaks it claims ``speech_state``.

    Every member of its team may see it; with ``is_narrowed`` only members with a grant. Administrators always may.
    """

    __tablename__ = "interview_flow"
    __table_args__ = (
        sa.Index(None, "organization_id", "created_at", "id"),
        sa.Index(None, "team_id", "created_at", "id"),
        sa.Index("ix_interview_flow_speech", "speech_state", "lease_until"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"))
    created_at: Mapped[CreatedAt]
    changed_at: Mapped[CreatedAt]
    org_name: Mapped[str] = mapped_column(sa.String(300))
    title: Mapped[str] = mapped_column(sa.String(300))
    status: Mapped[FlowStatus] = mapped_column(one_of(FlowStatus), default=FlowStatus.OPEN)
    questions: Mapped[list[str]]
    voice_id: Mapped[str | None] = mapped_column(sa.String(32))
    language: Mapped[str | None] = mapped_column(sa.String(8))
    company_logo_url: Mapped[str | None] = mapped_column(sa.Text)
    logo_key: Mapped[str | None] = mapped_column(sa.String(200))
    accent: Mapped[str | None] = mapped_column(sa.String(7))
    """``#rrggbb``; the organization's where it is null."""
    additional_info: Mapped[str | None] = mapped_column(sa.Text)
    additional_instructions: Mapped[str | None] = mapped_column(sa.Text)
    interview_type: Mapped[InterviewType | None] = mapped_column(one_of(InterviewType))
    is_video_enabled: Mapped[bool | None]
    is_doc_upload_enabled: Mapped[bool | None]
    cv: Mapped[str | None] = mapped_column(sa.String(10))
    """A ``Cv``; null where none is asked for."""
    redirect_url: Mapped[str | None] = mapped_column(sa.Text)
    webhook_url: Mapped[str | None] = mapped_column(sa.Text)
    webhook_secret_sealed: Mapped[str | None] = mapped_column(sa.Text)
    webhook_old_secret_sealed: Mapped[str | None] = mapped_column(sa.Text)
    """The secret before the last rotation. It signs until ``webhook_old_secret_until``, beside the present one."""
    webhook_old_secret_until: Mapped[datetime | None]
    intro: Mapped[str | None] = mapped_column(sa.Text)
    outro: Mapped[str | None] = mapped_column(sa.Text)
    preamble_video_url: Mapped[str | None] = mapped_column(sa.Text)
    preamble_video_key: Mapped[str | None] = mapped_column(sa.String(200))
    preamble_video_type: Mapped[str | None] = mapped_column(sa.String(50))
    alternative_text: Mapped[str | None] = mapped_column(sa.Text)
    alternative_contact: Mapped[str | None] = mapped_column(sa.Text)
    assess_language: Mapped[bool | None]
    rates_first: Mapped[bool | None]
    """Whether members see scores only after they have rated. None: as the organization says."""
    may_say_again: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    """Whether candidates may read an answer and say it again, once for each question."""
    is_background_private: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    """Whether the agent never says anything of ``additional_info`` to candidates who ask."""
    overrules: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    """Why questions about forbidden topics are asked all the same: a person's reason by question."""
    criteria_number: Mapped[int | None]
    """The version of its own criteria that new results are scored with; None without criteria."""
    follow_up_limit: Mapped[int] = mapped_column(default=1)
    time_limit_minutes: Mapped[int | None]
    speech_state: Mapped[SpeechState] = mapped_column(one_of(SpeechState), default=SpeechState.PENDING)
    spoken_with: Mapped[str | None] = mapped_column(sa.String(200))
    """The identity of the voice that the script was last spoken with (``Speaker.identity``)."""
    is_narrowed: Mapped[bool] = mapped_column(default=False, server_default=sa.false())

    organization: Mapped[Organization] = relationship()
    team: Mapped[Team] = relationship()
    criteria: Mapped["FlowCriteria | None"] = relationship(
        primaryjoin="and_(FlowCriteria.flow_id == InterviewFlow.id, "
        "FlowCriteria.number == foreign(InterviewFlow.criteria_number))",
        viewonly=True,
    )

    @property
    def logo_path(self) -> str | None:
        """Path of the flow's or the organization's logo; None if there is none, and pages show Parley's."""
        return f"/flows/{self.id}/logo" if self.shown_logo_key else None

    @property
    def shown_logo_key(self) -> str | None:
        """Storage key of the logo that candidates see."""
        return self.logo_key or self.organization.logo_key

    @property
    def shown_accent(self) -> str | None:
        """The accent color that candidates see; None for Parley's."""
        return self.accent or self.organization.accent

    @property
    def accent_path(self) -> str | None:
        """Path of the style sheet with the accent color; None if there is none."""
        return f"/accent/{self.shown_accent[1:]}.css" if self.shown_accent else None


class FlowCriteria(Base):
    """One version of a flow's own criteria, in their order. It never changes: scores name the version they are of."""

    __tablename__ = "flow_criteria"
    __table_args__ = (sa.UniqueConstraint("flow_id", "number"),)

    id: Mapped[Id]
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    number: Mapped[int]
    items: Mapped[tuple[Criterion, ...]] = mapped_column(CriteriaColumn)
    created_at: Mapped[CreatedAt]


class Judged:
    """Mixin of rows with scores: the version of the flow's own criteria that they were made with, if there were any."""

    criteria_id: Mapped[str | None] = mapped_column(sa.String(36))

    @declared_attr
    def criteria_set(self) -> Mapped[FlowCriteria | None]:
        """What the scores with keys of own criteria are about. SQLAlchemy calls this with the class."""
        name = cast("type", self).__name__
        return relationship(primaryjoin=f"foreign({name}.criteria_id) == FlowCriteria.id", viewonly=True)

    @property
    def own_criteria(self) -> tuple[Criterion, ...]:
        """The criteria, in their order."""
        return self.criteria_set.items if self.criteria_set else ()


class FlowGrant(Base):
    """A member's right to one flow, independent of teams. ``edit`` includes ``view``.

    The role is the upper bound: ``edit`` counts as ``view`` for a member who has become a viewer.
    """

    __tablename__ = "flow_grant"

    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"), primary_key=True)
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), primary_key=True, index=True)
    right: Mapped[Right] = mapped_column("level", one_of(Right))  # "right" is a reserved word of SQL
    created_at: Mapped[CreatedAt]
    by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))

    member: Mapped[TeamMember] = relationship(foreign_keys=[member_id])
    by: Mapped[TeamMember] = relationship(foreign_keys=[by_id])
