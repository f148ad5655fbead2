"""Tables of interviews and of their published results."""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.candidates.models import Candidate, Quarantined
from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.flows.flow_script import FlowScript, FlowScriptColumn
from app.flows.models import InterviewFlow, Judged


class InterviewStatus(enum.StrEnum):
    """The status that ``/v1`` shows."""

    INCOMPLETE = "incomplete"
    COMPLETED = "completed"


class Stage(enum.StrEnum):
    """The internal stage; ``/v1`` shows all but ``completed`` as ``incomplete``."""

    CREATED = "created"
    RUNNING = "running"
    ABANDONED = "abandoned"
    SUBMITTED = "submitted"
    PROCESSING = "processing"
    WAITS_FOR_RECOGNITION = "waits_for_recognition"
    PROCESSING_FAILED = "processing_failed"
    COMPLETED = "completed"


class VideoStage(enum.StrEnum):
    """The video is processed after the result, in a separate job."""

    NONE = "none"
    WAITING = "waiting"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"
    REVOKED = "revoked"


class Scenario(enum.StrEnum):
    """The outcomes that a test key can request for a test interview."""

    SCORES = "scores"
    ABANDONED = "abandoned"
    FAILED = "failed"
    LATE_VIDEO = "late-video"


class Role(enum.StrEnum):
    """The speakers, as the transcript calls them."""

    AGENT = "agent"
    USER = "user"


def interview_link(app_url: str, flow_id: str, interview_id: str, *, recruiter_id: str | None) -> str:
    """As ``Interview.link``, where its row is not loaded."""
    recruiter = f"?assignedRecruiterId={recruiter_id}" if recruiter_id else ""
    return f"{app_url}/interview/api/{flow_id}/{interview_id}{recruiter}"


_SHOWN, _DONE = sa.text("candidate_id IS NOT NULL"), sa.text("completed_at IS NOT NULL")
_SUBMITTED = sa.text("submitted_at IS NOT NULL")
_EXTENDED = sa.text("link_since IS NOT NULL")
IN_WORK = sa.text(
    "(stage NOT IN ('created', 'running', 'abandoned', 'completed')"
    " OR video_stage IN ('waiting', 'processing', 'failed'))"
)
"""Of the few interviews that jobs still have to do with. SQLite uses their index where a query has just these words."""
_NEW, _TEST, _TEST_1 = sa.text("stage = 'created'"), sa.text("is_test"), sa.text("is_test = 1")


class Interview(Claimable, Quarantined, Base):
    """One interview. ``org_seq`` and ``team_seq`` have no gaps, so a page of a list is a range of numbers.

    ``org_mode_seq`` and ``team_mode_seq`` have no gaps among the owner's tests, and among its other interviews.
    ``script`` is a snapshot of the flow at the start; later edits of the flow do not change it.
    ``declined_at`` is when the candidate last declined. They may still start afterwards.
    ``closed_at``: cancelled, or recordings revoked, before or between sessions. The link starts or resumes nothing.
    ``no_cv_at`` is when the candidate said that they have no CV.
    ``without_recording``: processed without its sound, which could not be read, because a member chose so.
    ``is_test``: created with a test key. Parley plays it and no figure counts it. ``scenario`` is its outcome.
    ``model_calls`` and ``model_tokens`` are what its conversation cost at the language model.
    After ``withdrawn_at`` nothing is processed, reviewed or played; after ``erased_at`` no personal data is left.
    """

    __tablename__ = "interview"
    __table_args__ = (
        sa.UniqueConstraint("organization_id", "org_seq"),
        sa.UniqueConstraint("team_id", "team_seq"),
        sa.Index(None, "organization_id", "status", "org_seq"),
        sa.Index(None, "team_id", "status", "team_seq"),
        sa.Index(None, "flow_id", "org_seq"),
        sa.Index(None, "candidate_id", "org_seq"),
        sa.Index("ix_interview_platform", "organization_id", "org_seq", sqlite_where=_SHOWN, postgresql_where=_SHOWN),
        sa.Index(
            "ix_interview_by_flow",
            *("flow_id", "stage", "is_test", "quarantined_at"),
            sqlite_where=_SHOWN,
            postgresql_where=_SHOWN,
        ),
        sa.Index("ix_interview_booked", "organization_id", "created_at", sqlite_where=_NEW, postgresql_where=_NEW),
        sa.Index("ix_interview_in_work", "organization_id", "org_seq", sqlite_where=IN_WORK, postgresql_where=IN_WORK),
        sa.Index("ix_interview_extended", "link_since", sqlite_where=_EXTENDED, postgresql_where=_EXTENDED),
        sa.Index("ix_interview_done", "organization_id", "completed_at", sqlite_where=_DONE, postgresql_where=_DONE),
        sa.Index(
            "ix_interview_submitted",
            *("organization_id", "submitted_at", "is_test", "flow_id", "id"),
            sqlite_where=_SUBMITTED,
            postgresql_where=_SUBMITTED,
        ),
        sa.Index("ix_interview_org_mode", "organization_id", "is_test", "org_mode_seq"),
        sa.Index("ix_interview_team_mode", "team_id", "is_test", "team_mode_seq"),
        sa.Index("ix_interview_org_mode_status", "organization_id", "is_test", "status", "org_seq"),
        sa.Index("ix_interview_team_mode_status", "team_id", "is_test", "status", "team_seq"),
        sa.Index("ix_interview_test", "organization_id", "status", sqlite_where=_TEST_1, postgresql_where=_TEST),
        *(sa.Index(None, stage, "due_at") for stage in ("stage", "video_stage")),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    candidate_id: Mapped[str | None] = mapped_column(sa.ForeignKey("candidate.id"))
    assigned_recruiter_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    org_seq: Mapped[int] = mapped_column(sa.BigInteger)
    team_seq: Mapped[int] = mapped_column(sa.BigInteger)
    org_mode_seq: Mapped[int | None] = mapped_column(sa.BigInteger)
    team_mode_seq: Mapped[int | None] = mapped_column(sa.BigInteger)
    status: Mapped[InterviewStatus] = mapped_column(one_of(InterviewStatus), default=InterviewStatus.INCOMPLETE)
    stage: Mapped[Stage] = mapped_column(one_of(Stage), default=Stage.CREATED)
    video_stage: Mapped[VideoStage] = mapped_column(one_of(VideoStage), default=VideoStage.NONE)
    interviewee_email_address: Mapped[str | None] = mapped_column(sa.String(320))
    interviewee_first_name: Mapped[str | None] = mapped_column(sa.String(300))
    interviewee_last_name: Mapped[str | None] = mapped_column(sa.String(300))
    script: Mapped[FlowScript | None] = mapped_column(FlowScriptColumn)
    created_at: Mapped[CreatedAt]
    link_since: Mapped[datetime | None]
    declined_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    submitted_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    no_cv_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]
    erased_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    failure: Mapped[str | None] = mapped_column(sa.String(500))
    without_recording: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    is_test: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    scenario: Mapped[str | None] = mapped_column(sa.String(20))
    model_calls: Mapped[int] = mapped_column(default=0, server_default="0")
    model_tokens: Mapped[int] = mapped_column(default=0, server_default="0")

    flow: Mapped[InterviewFlow] = relationship()
    candidate: Mapped[Candidate | None] = relationship()
    assigned_recruiter: Mapped[TeamMember | None] = relationship()
    data: Mapped["InterviewData | None"] = relationship(back_populates="interview")
    feedback: Mapped["Feedback | None"] = relationship(viewonly=True)
    # Related by name: their models belong to packages above, which this one cannot import.
    documents: Mapped[list[Any]] = relationship("Document", order_by="Document.created_at")
    sitting: Mapped[Any] = relationship("Sitting", uselist=False, viewonly=True)
    turns: Mapped[list[Any]] = relationship("Turn", secondary="sitting", viewonly=True, order_by="Turn.number")
    agreements: Mapped[list[Any]] = relationship("Agreement", viewonly=True, order_by="Agreement.agreed_at")
    candidate_requests: Mapped[list[Any]] = relationship(
        "CandidateRequest", viewonly=True, order_by="CandidateRequest.created_at"
    )

    def link(self, app_url: str) -> str:
        """The candidate's link: single use, and never sent in a webhook."""
        return interview_link(app_url, self.flow_id, self.id, recruiter_id=self.assigned_recruiter_id)

    def page_link(self, app_url: str) -> str:
        """The page for recruiters, who have to sign in."""
        return f"{app_url}/interviews/{self.id}"

    @property
    def has_declined(self) -> bool:
        """Whether the candidate declined and has not started since."""
        return self.declined_at is not None and self.stage is Stage.CREATED

    @property
    def is_closed(self) -> bool:
        """Whether the link was closed before the interview was submitted."""
        return self.closed_at is not None and self.stage in {Stage.CREATED, Stage.ABANDONED}

    @property
    def interviewee_name(self) -> str | None:
        """First and last name, as far as available."""
        return " ".join(part for part in (self.interviewee_first_name, self.interviewee_last_name) if part) or None


class InterviewBucket(Base):
    """Counts interviews by status per thousand numbers, so that deep pages of filtered lists stay fast."""

    __tablename__ = "interview_bucket"

    owner_id: Mapped[Ref] = mapped_column(primary_key=True)
    status: Mapped[InterviewStatus] = mapped_column(one_of(InterviewStatus), primary_key=True)
    bucket: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    interviews: Mapped[int] = mapped_column(default=0)


class InterviewTestBucket(Base):
    """The same for test interviews alone; subtract to get the others."""

    __tablename__ = "interview_test_bucket"

    owner_id: Mapped[Ref] = mapped_column(primary_key=True)
    status: Mapped[InterviewStatus] = mapped_column(one_of(InterviewStatus), primary_key=True)
    bucket: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    interviews: Mapped[int] = mapped_column(default=0)


class InterviewData(Judged, Base):
    """The frozen result: deflated JSON fragments, ready to be spliced, and small parts. ``version`` is in force."""

    __tablename__ = "interview_data"

    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), primary_key=True)
    format: Mapped[int] = mapped_column(default=1)
    text: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    text_length: Mapped[int]
    text_crc32: Mapped[int] = mapped_column(sa.BigInteger)
    details: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    details_length: Mapped[int]
    details_crc32: Mapped[int] = mapped_column(sa.BigInteger)
    summary: Mapped[str | None] = mapped_column(sa.Text)
    scores: Mapped[dict[str, Any] | None]
    evidence: Mapped[dict[str, Any] | None]
    version: Mapped[int] = mapped_column(default=1, server_default="1")
    created_at: Mapped[CreatedAt]

    interview: Mapped[Interview] = relationship(back_populates="data")


class ScoreVersion(Judged, Base):
    """One version of a result's scores, made of ``basis``. No rows where version 1, the result's, is the only one."""

    __tablename__ = "score_version"

    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    source: Mapped[str | None] = mapped_column(sa.String(300))
    criteria: Mapped[int | None]
    basis: Mapped[str] = mapped_column(sa.String(20))
    scores: Mapped[dict[str, Any] | None]
    evidence: Mapped[dict[str, Any] | None]
    requested_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    created_at: Mapped[CreatedAt]
    requested_by: Mapped[TeamMember | None] = relationship()


class Hearing(enum.StrEnum):
    """Whether an answer is heard once more. ``none``: not, or not now. ``failed``: the words of the talk stay."""

    NONE = "none"
    WAITING = "waiting"
    HEARING = "hearing"
    HEARD = "heard"
    FAILED = "failed"


_UNHEARD = sa.text("hearing IN ('waiting', 'hearing')")


class Retake(enum.StrEnum):
    """Which of two an answer is that was said again."""

    FORMER = "former"
    LATER = "later"


class Utterance(Claimable, Base):
    """What one side said: written when the turn is recorded, and read by the processing.

    An answer is then heard again with more care (claimed by ``hearing``), which replaces its words. ``first_chunk`` and
    ``last_chunk`` are the voice chunks of its sound; null for the agent, for typed answers, and in older rows.

    ``words`` are ``[word, start, end]`` in seconds on the clock of run ``segment``, null where they were not measured;
    ``start`` and ``end`` use the same clock. ``played`` is how many seconds of the agent's speech were heard (null:
    unknown, treated as all). ``content`` null: recorded, but not recognised yet. ``confidence`` (0..1) is the average
    that the recogniser reports, if it does; ``weak`` are ``[start, end, words]`` of what it was least sure of.
    ``obeyed``: it counts nowhere, since these are words to the agent ("can you repeat that?") that it followed or
    answered, or an answer that was said again. ``retake`` marks the latter, and what was said in its place. ``turn`` is
    the number of the turn in which the candidate said it; null for the agent and in older rows.
    """

    __tablename__ = "utterance"
    __table_args__ = (
        sa.UniqueConstraint("interview_id", "number"),
        sa.Index("ix_utterance_hearing", "hearing", "lease_until", sqlite_where=_UNHEARD, postgresql_where=_UNHEARD),
    )

    id: Mapped[Id]
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    number: Mapped[int]
    role: Mapped[Role] = mapped_column(one_of(Role))
    question_index: Mapped[int | None]
    content: Mapped[str | None] = mapped_column(sa.Text)
    words: Mapped[list[list[Any]] | None] = mapped_column(sa.JSON(none_as_null=True))
    segment: Mapped[int | None]
    start: Mapped[float | None]
    end: Mapped[float | None]
    played: Mapped[float | None]
    typed: Mapped[bool] = mapped_column(default=False)
    engine: Mapped[str | None] = mapped_column(sa.String(100))
    confidence: Mapped[float | None]
    weak: Mapped[list[list[Any]] | None] = mapped_column(sa.JSON(none_as_null=True))
    obeyed: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    turn: Mapped[int | None]
    retake: Mapped[str | None] = mapped_column(sa.String(20))
    first_chunk: Mapped[int | None]
    last_chunk: Mapped[int | None]
    hearing: Mapped[str] = mapped_column(sa.String(20), default=Hearing.NONE, server_default=Hearing.NONE)
    created_at: Mapped[CreatedAt]


class Feedback(Base):
    """The candidate's feedback: a rating from 1 to 5, a comment, or both. Never part of the result.

    ``revision`` counts how often it was sent; candidates can change it once.
    """

    __tablename__ = "feedback"

    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), primary_key=True)
    rating: Mapped[int | None]
    comment: Mapped[str | None] = mapped_column(sa.Text)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[CreatedAt]


class InterviewMetadata(Base):
    """What the customer's program keeps about an interview: texts by key. No row: nothing.

    ``external_id`` is the value of that key, for lookups and for the header of webhooks.
    """

    __tablename__ = "interview_metadata"
    __table_args__ = (sa.Index(None, "organization_id", "external_id"),)

    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), primary_key=True)
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    values: Mapped[dict[str, str]] = mapped_column("pairs", sa.JSON)
    external_id: Mapped[str | None] = mapped_column(sa.String(128))
    changed_at: Mapped[CreatedAt]


class QualityReport(Base):
    """Recording and recognition quality (``quality.report_of``) at the time the interview was submitted.

    For recruiters who review the recording. Never part of scores or of ``/v1``.
    """

    __tablename__ = "quality_report"

    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"), primary_key=True)
    report: Mapped[dict[str, Any]]
    created_at: Mapped[CreatedAt]
