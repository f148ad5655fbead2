"""Rows of notices: what happened, who gets it, and where to. None of them has a name, a score or a text of a candidate.

A message is written from the rows of the interview just before it is sent.
"""

import enum
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.candidate_requests.models import CandidateRequest
from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.flows.models import InterviewFlow
from app.interviews.models import Interview
from app.webhooks.models import Endpoint

FIRST_HOUR = 8
"""The local hour of a daily email until the member chooses another."""


class NoticeKind(enum.StrEnum):
    """What a notice is about. Rooms below announce these words (``app.core.rooms.Notices``)."""

    RESULT_READY = "result_ready"
    REQUEST_WAITING = "request_waiting"
    WEBHOOK_FAILING = "webhook_failing"


class Pace(enum.StrEnum):
    """How a member gets notices of one kind by mail."""

    AT_ONCE = "at_once"
    DAILY = "daily"
    OFF = "off"


class Service(enum.StrEnum):
    SLACK = "slack"
    TEAMS = "teams"


class SwitchedOff(enum.StrEnum):
    """Why a channel gets nothing: a member switched it off, or the service said that the URL no longer exists."""

    MEMBER = "member"
    GONE = "gone"


class NoticeState(enum.StrEnum):
    """Of one notice to one destination. ``waiting`` to a member means: for the daily email.

    ``lost``: the worker died while sending, so it may have arrived and is not sent again. ``dropped``: there was
    nothing to say any more, for example because the interview was erased.
    """

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    LOST = "lost"
    DROPPED = "dropped"


class Notice(Base):
    """Something that happened, written in the transaction in which it happened. ``key`` makes sure it is there once.

    ``step`` says how bad a failing endpoint is. ``spread_at`` is when its destinations were worked out.
    """

    __tablename__ = "notice"
    __table_args__ = (
        sa.UniqueConstraint("organization_id", "key"),
        sa.Index(None, "spread_at", "created_at"),
        sa.Index(None, "created_at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    kind: Mapped[NoticeKind] = mapped_column(one_of(NoticeKind))
    key: Mapped[str] = mapped_column(sa.String(150))
    interview_id: Mapped[str | None] = mapped_column(sa.ForeignKey("interview.id"), index=True)
    request_id: Mapped[str | None] = mapped_column(sa.ForeignKey("wish.id"))
    endpoint_id: Mapped[str | None] = mapped_column(sa.ForeignKey("webhook_endpoint.id"))
    step: Mapped[str | None] = mapped_column(sa.String(20))
    created_at: Mapped[CreatedAt]
    spread_at: Mapped[datetime | None]

    interview: Mapped[Interview | None] = relationship()
    request: Mapped[CandidateRequest | None] = relationship()
    endpoint: Mapped[Endpoint | None] = relationship()


class NoticePreference(Base):
    """What a member wants by mail. Without a row the defaults of ``queries.Wanted`` count."""

    __tablename__ = "notice_preference"

    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), primary_key=True)
    result_ready: Mapped[Pace] = mapped_column(one_of(Pace, name="resultpace"))
    request_waiting: Mapped[Pace] = mapped_column(one_of(Pace, name="requestpace"))
    webhook_failing: Mapped[Pace] = mapped_column(one_of(Pace, name="webhookpace"))
    is_own_only: Mapped[bool]
    with_names: Mapped[bool]
    with_scores: Mapped[bool]
    hour: Mapped[int]
    time_zone: Mapped[str] = mapped_column(sa.String(64))
    changed_at: Mapped[CreatedAt]


class NoticeChannel(Base):
    """A channel in Slack or Teams, of a flow or (without ``flow_id``) of the whole organization.

    ``address_sealed`` is the URL, which is a secret; ``address_hint`` is its host and last characters, and
    ``address_hash`` recognizes the same URL twice. Nothing is sent before ``not_before``, after a failure.
    """

    __tablename__ = "notice_channel"
    __table_args__ = (sa.Index(None, "organization_id", "flow_id"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[str | None] = mapped_column(sa.ForeignKey("interview_flow.id"), index=True)
    created_by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    created_at: Mapped[CreatedAt]
    name: Mapped[str] = mapped_column(sa.String(100))
    service: Mapped[Service] = mapped_column(one_of(Service))
    address_sealed: Mapped[str] = mapped_column(sa.Text)
    address_hint: Mapped[str] = mapped_column(sa.String(300))
    address_hash: Mapped[str] = mapped_column(sa.String(64))
    kinds: Mapped[list[str]]
    with_names: Mapped[bool]
    with_scores: Mapped[bool]
    switched_off_at: Mapped[datetime | None]
    switched_off_by: Mapped[SwitchedOff | None] = mapped_column(one_of(SwitchedOff))
    not_before: Mapped[datetime | None]
    failing_since: Mapped[datetime | None]
    failure: Mapped[str | None] = mapped_column(sa.String(300))
    sent_at: Mapped[datetime | None]

    flow: Mapped[InterviewFlow | None] = relationship()
    created_by: Mapped[TeamMember] = relationship()

    @property
    def is_on(self) -> bool:
        return self.switched_off_at is None


class NoticeDelivery(Claimable, Base):
    """One notice on its way to one destination: a channel, or a member. ``letter_id`` is the mail that carries it."""

    __tablename__ = "notice_delivery"
    __table_args__ = (
        sa.UniqueConstraint("notice_id", "channel_id"),
        sa.UniqueConstraint("notice_id", "member_id"),
        sa.Index(None, "channel_id", "created_at"),
        sa.Index(None, "member_id", "state", "due_at"),
        sa.Index(None, "state", "due_at"),
        sa.Index(None, "letter_id"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    notice_id: Mapped[Ref] = mapped_column(sa.ForeignKey("notice.id"))
    channel_id: Mapped[str | None] = mapped_column(sa.ForeignKey("notice_channel.id"))
    member_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    letter_id: Mapped[str | None] = mapped_column(sa.ForeignKey("letter.id"))
    state: Mapped[NoticeState] = mapped_column(one_of(NoticeState), default=NoticeState.WAITING)
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[CreatedAt]
    due_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    failure: Mapped[str | None] = mapped_column(sa.String(300))

    notice: Mapped[Notice] = relationship()
    channel: Mapped[NoticeChannel | None] = relationship()
