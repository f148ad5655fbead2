"""Rows of organizations, teams, members, sessions and keys. Secrets are stored as hashes only."""

import enum
from datetime import datetime
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.mail_outbox.models import QueuedMail


class Role(enum.StrEnum):
    """Administrators also revoke recordings, resend webhooks, and manage members and keys; viewers change nothing."""

    ADMIN = "admin"
    RECRUITER = "recruiter"
    VIEWER = "viewer"


class Owner(Protocol):
    """Whose rows are read or changed: an ``Organization``, or what the guard of ``/v1`` read with the key."""

    @property
    def id(self) -> str: ...


class Organization(Base):
    """A customer. ``interview_seq`` counts the gapless numbers by which lists of interviews are paged,
    ``interview_test_seq`` those of tests among them, ``audit_seq`` those of the audit log."""

    __tablename__ = "organization"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(sa.String(300))
    created_at: Mapped[CreatedAt]
    interview_seq: Mapped[int] = mapped_column(default=0)
    interview_test_seq: Mapped[int] = mapped_column(default=0, server_default="0")
    audit_seq: Mapped[int] = mapped_column(default=0)
    assess_language: Mapped[bool] = mapped_column(default=True)
    shows_status: Mapped[bool] = mapped_column(default=False)
    rates_first: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    """Whether members see scores only after they have rated, in flows that do not say it themselves."""
    answer_days: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    accent: Mapped[str | None] = mapped_column(sa.String(7))
    """``#rrggbb``, and a logo: for candidates' pages of flows without their own."""
    logo_key: Mapped[str | None] = mapped_column(sa.String(200))
    disabled_at: Mapped[datetime | None]
    previewed_at: Mapped[datetime | None]
    """When a member first began a preview of a flow; for the first steps on the dashboard."""
    first_steps_hidden_at: Mapped[datetime | None]


class Installation(Base):
    """At most one row, written with the first organization, so that only one set-up can win."""

    __tablename__ = "installation"
    __table_args__ = (sa.CheckConstraint("id = 1", name="only_one"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    created_at: Mapped[CreatedAt]


class Team(Base):
    """A part of an organization; flows and interviews belong to one."""

    __tablename__ = "team"
    __table_args__ = (sa.Index(None, "organization_id", "created_at", "id"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    name: Mapped[str] = mapped_column(sa.String(300))
    created_at: Mapped[CreatedAt]
    interview_seq: Mapped[int] = mapped_column(default=0)
    interview_test_seq: Mapped[int] = mapped_column(default=0, server_default="0")

    organization: Mapped[Organization] = relationship()


class TeamMember(Base):
    """A person who works with candidates. ``email`` is the login name: unique, in lower case.

    ``totp_secret`` is encrypted and in force since ``totp_since``; ``totp_step`` is the half minute of the last code.
    """

    __tablename__ = "team_member"

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), index=True)
    email: Mapped[str] = mapped_column(sa.String(320), unique=True)
    full_name: Mapped[str | None] = mapped_column(sa.String(300))
    role: Mapped[Role] = mapped_column(one_of(Role), default=Role.RECRUITER)
    password_hash: Mapped[str | None] = mapped_column(sa.String(200))
    created_at: Mapped[CreatedAt]
    disabled_at: Mapped[datetime | None]
    totp_secret: Mapped[str | None] = mapped_column(sa.String(200))
    totp_since: Mapped[datetime | None]
    totp_step: Mapped[int | None]

    organization: Mapped[Organization] = relationship()
    teams: Mapped[list[Team]] = relationship(secondary="team_membership", order_by="Team.created_at")


class TeamMembership(Base):
    __tablename__ = "team_membership"

    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"), primary_key=True)
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), primary_key=True, index=True)


class Login(Base):
    """One signed-in browser. The cookie holds 256 random bits; ``token_hash`` is their SHA-256.

    ``scores_shown_at`` is when the member let lists show scores of results that they have not rated (Rate first).
    """

    __tablename__ = "login"

    id: Mapped[Id]
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), index=True)
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[CreatedAt]
    seen_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    address: Mapped[str | None] = mapped_column(sa.String(64))
    browser: Mapped[str | None] = mapped_column(sa.String(200))
    scores_shown_at: Mapped[datetime | None]

    member: Mapped[TeamMember] = relationship()


class LoginFailure(Base):
    """A failed sign-in, in the database so that throttling outlives Redis. ``account`` is a hash of the address."""

    __tablename__ = "login_failure"
    __table_args__ = (sa.Index(None, "account", "at"), sa.Index(None, "address", "at"))

    id: Mapped[Id]
    account: Mapped[str] = mapped_column(sa.String(64))
    address: Mapped[str] = mapped_column(sa.String(64))
    at: Mapped[CreatedAt]


class RecoveryCode(Base):
    """Signs in once without the authenticator app. Stored as HMAC-SHA256 under a key made from SECRET_KEY."""

    __tablename__ = "recovery_code"
    __table_args__ = (sa.UniqueConstraint("member_id", "code_hash"),)

    id: Mapped[Id]
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    code_hash: Mapped[str] = mapped_column(sa.String(64))
    created_at: Mapped[CreatedAt]
    used_at: Mapped[datetime | None]


class EntryKind(enum.StrEnum):
    """``invitation``: the first password of a new member; ``reset``: a new one."""

    INVITATION = "invitation"
    RESET = "reset"


class EntryLink(Base):
    """A link to choose a password, once. It holds 256 random bits; ``token_hash`` is their SHA-256."""

    __tablename__ = "entry_link"

    id: Mapped[Id]
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), index=True)
    kind: Mapped[EntryKind] = mapped_column(one_of(EntryKind))
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[CreatedAt]
    created_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    letter_id: Mapped[str | None] = mapped_column(sa.ForeignKey("letter.id"))

    member: Mapped[TeamMember] = relationship(foreign_keys=[member_id])
    letter: Mapped[QueuedMail | None] = relationship()


class AddressChange(Base):
    """A link to confirm a new ``address``, once. It holds 256 random bits; ``token_hash`` is their SHA-256."""

    __tablename__ = "address_change"

    id: Mapped[Id]
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), index=True)
    address: Mapped[str] = mapped_column(sa.String(320))
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[CreatedAt]
    created_by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    letter_id: Mapped[str | None] = mapped_column(sa.ForeignKey("letter.id"))

    member: Mapped[TeamMember] = relationship(foreign_keys=[member_id])
    letter: Mapped[QueuedMail | None] = relationship()


class ApiKey(Base):
    """A bearer key of ``/v1``: HMAC-SHA256 with a pepper that is not in the database; shown once, when created.

    At ``rotated_at`` another key replaced it, and it works until ``expires_at``; ``warned_at`` is when a warning said
    that it is still used although it ends soon. Interviews created with a test key complete automatically.
    The scope (``key_scope``) is chosen when the key is created and never changes.
    """

    __tablename__ = "api_key"

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), index=True)
    name: Mapped[str] = mapped_column(sa.String(300))
    key_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    last4: Mapped[str] = mapped_column(sa.String(4))
    is_test: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    is_read_only: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    hides_secrets: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    team_ids: Mapped[list[str] | None] = mapped_column(sa.JSON(none_as_null=True))
    flow_ids: Mapped[list[str] | None] = mapped_column(sa.JSON(none_as_null=True))
    created_at: Mapped[CreatedAt]
    created_by_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    rotated_at: Mapped[datetime | None]
    warned_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    last_address: Mapped[str | None] = mapped_column(sa.String(64))

    organization: Mapped[Organization] = relationship()
    created_by: Mapped[TeamMember | None] = relationship()


class IdempotentCall(Base):
    """The first answer to a POST with an ``Idempotency-Key``, replayed for 24 h to repeats of the call.

    Without a ``status`` it is running, or its process died: ``started_at`` is when it started, and ``committed`` says
    whether its work was done, which a repeat must not do again.
    """

    __tablename__ = "idempotent_call"
    __table_args__ = (sa.UniqueConstraint("organization_id", "route", "key"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    route: Mapped[str] = mapped_column(sa.String(200))
    key: Mapped[str] = mapped_column(sa.String(255))
    body_hash: Mapped[str] = mapped_column(sa.String(64))
    status: Mapped[int | None]
    body: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    started_at: Mapped[datetime]
    committed: Mapped[bool] = mapped_column(default=False)


class AuditEntry(Base):
    """Who did what, append-only; each row carries the hash of the previous one in its organization."""

    __tablename__ = "audit_entry"
    __table_args__ = (
        sa.UniqueConstraint("organization_id", "number"),
        sa.Index(None, "organization_id", "subject", "at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    number: Mapped[int]
    at: Mapped[CreatedAt]
    member_id: Mapped[str | None] = mapped_column(sa.ForeignKey("team_member.id"))
    action: Mapped[str] = mapped_column(sa.String(100))
    subject: Mapped[str] = mapped_column(sa.String(100))
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    hash: Mapped[str] = mapped_column(sa.String(64))

    member: Mapped[TeamMember | None] = relationship()


class AuditCheck(Base):
    """Result of the last check of an organization's audit log.

    ``number`` and ``hash`` are those of the last entry that was intact, under ``seal``, a MAC with a key that is not
    in the database. ``flaw`` says what is wrong, if anything.
    """

    __tablename__ = "audit_check"

    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"), primary_key=True)
    checked_at: Mapped[datetime] = mapped_column(index=True)
    number: Mapped[int]
    hash: Mapped[str] = mapped_column(sa.String(64))
    seal: Mapped[str] = mapped_column(sa.String(64))
    flaw: Mapped[str | None] = mapped_column(sa.String(200))
    flaw_number: Mapped[int | None]
