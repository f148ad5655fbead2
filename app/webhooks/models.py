"""Rows of webhooks: the outbox, the health of each receiver, and every attempt."""

import enum
import uuid
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core.claims import Claimable
from app.core.db import Base, CreatedAt, Id, Ref, one_of
from app.flows.models import InterviewFlow
from app.webhooks import TEST_EVENT


class EventType(enum.StrEnum):
    """The contract's three events."""

    INTERVIEW_PROCESSED = "interview_processed"
    VIDEO_PROCESSED = "video_processed"
    CANDIDATE_STATUS_UPDATED = "candidate_status_updated"


class DeliveryState(enum.StrEnum):
    """State of an event. Every committed event ends as ``delivered`` or is visible in another state."""

    PENDING = "pending"
    SENDING = "sending"
    DELIVERED = "delivered"
    HELD = "held"
    EXHAUSTED = "exhausted"
    CANCELLED = "cancelled"


class Hold(enum.StrEnum):
    """Why a delivery is held: an earlier event of its subject, a disabled endpoint, a flow without an address."""

    ORDER = "order"
    DISABLED = "disabled"
    NO_URL = "no_url"


class Ending(enum.StrEnum):
    """Why a delivery ended without a 2xx."""

    ATTEMPTS_USED = "attempts_used"
    HELD_TOO_LONG = "held_too_long"
    RECORDING_REVOKED = "recording_revoked"
    DISMISSED = "dismissed"
    PAYLOAD_DELETED = "payload_deleted"
    ENDPOINT_REMOVED = "endpoint_removed"


class DisabledBy(enum.StrEnum):
    """What disabled an endpoint: an answer 410, days of failure, or an administrator."""

    GONE = "gone"
    FAILING = "failing"
    MEMBER = "member"


class ErrorClass(enum.StrEnum):
    """Why an attempt failed. ``too_large`` is only a mark in the log: a 2xx with a large body is a success."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    HTTP = "http"
    FORBIDDEN_ADDRESS = "forbidden_address"
    TOO_LARGE = "too_large"


def new_event_id(*, is_test: bool = False) -> str:
    """A ``webhook-id``, the same for all attempts and replays of one event. Its prefix marks tests."""
    return f"{TEST_EVENT if is_test else 'evt_'}{uuid.uuid4().hex}"[:36]


class Scope(enum.StrEnum):
    """Whose events an endpoint gets: those of the flows that name its URL, or those of all flows."""

    FLOW = "flow"
    ORGANIZATION = "organization"


class Trouble(enum.StrEnum):
    """What a notice says about a failing endpoint, from mild to severe."""

    FAILING = "failing"
    WARNED = "warned"
    DISABLED = "disabled"


class Endpoint(Base):
    """One organization's webhook address: its health, its lease (one send at a time), and whether it is disabled.

    Flows of the organization with the same address share it. ``failing_since`` is the first failure after the last
    success; ``timeouts`` counts consecutive time-outs; nothing is sent before ``not_before`` (probes, and the pace
    after enabling, which lasts until ``paced_until``). ``told`` is the last ``Trouble`` announced of this incident.

    With ``is_organizations`` it gets the events of every flow, beside each flow's own URL, and has its own secret.
    ``old_secret_sealed`` also signs until ``old_secret_until`` (``app.webhooks.secret_keys``). Its ``url_hash`` differs
    from that of a flow's endpoint with the same URL, and is free again once the endpoint is removed.
    """

    __tablename__ = "webhook_endpoint"
    __table_args__ = (sa.UniqueConstraint("organization_id", "url_hash"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    url: Mapped[str] = mapped_column(sa.Text)
    url_hash: Mapped[str] = mapped_column(sa.String(64))
    created_at: Mapped[CreatedAt]
    lease_until: Mapped[datetime | None] = mapped_column(index=True)
    fence: Mapped[int] = mapped_column(default=0)
    not_before: Mapped[datetime | None]
    paced_until: Mapped[datetime | None]
    timeouts: Mapped[int] = mapped_column(default=0)
    last_success_at: Mapped[datetime | None]
    failing_since: Mapped[datetime | None] = mapped_column(index=True)
    exhausted_at: Mapped[datetime | None]
    noticed_at: Mapped[datetime | None]
    warned_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]
    disabled_by: Mapped[DisabledBy | None] = mapped_column(one_of(DisabledBy))
    told: Mapped[str | None] = mapped_column(sa.String(20))
    is_organizations: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    secret_sealed: Mapped[str | None] = mapped_column(sa.Text)
    old_secret_sealed: Mapped[str | None] = mapped_column(sa.Text)
    old_secret_until: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]

    @property
    def scope(self) -> Scope:
        return Scope.ORGANIZATION if self.is_organizations else Scope.FLOW


class Route(Base):
    """The endpoint to which a flow's waiting events go. Follows the flow's address when it changes."""

    __tablename__ = "webhook_route"

    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"), primary_key=True)
    endpoint_id: Mapped[Ref] = mapped_column(sa.ForeignKey("webhook_endpoint.id"), index=True)


class Delivery(Claimable, Base):
    """One event: the outbox row, written in the transaction of the change that it reports.

    ``subject`` is opaque (an interview or a candidate), ``sequence`` orders the events of one subject. ``lane`` is
    empty for the flow's own URL, otherwise the id of an organization's endpoint: an event has one row in each lane,
    with the same ``event_id``, and order is kept within each lane alone.
    ``delivered_at`` is the first 2xx and never reset, so that a replay blocks no later event. ``attempts`` counts the
    current round. ``request_id`` names the request, job or tick that caused the change (``app.core.request_id``).
    """

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        sa.UniqueConstraint("subject", "sequence", "lane"),
        sa.UniqueConstraint("event_id", "lane"),
        sa.Index(
            "uq_webhook_delivery_interview_event_lane",
            "event_type",
            "subject",
            "lane",
            unique=True,
            sqlite_where=sa.text("event_type <> 'candidate_status_updated'"),
            postgresql_where=sa.text("event_type <> 'candidate_status_updated'"),
        ),
        sa.Index(None, "endpoint_id", "state", "due_at"),
        sa.Index(None, "state", "lease_until"),
        sa.Index(None, "flow_id", "created_at"),
        sa.Index(None, "organization_id", "created_at", "id"),
        sa.Index(None, "finished_at"),
    )

    id: Mapped[Id]
    event_id: Mapped[str] = mapped_column(sa.String(36), default=new_event_id)
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    flow_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview_flow.id"))
    endpoint_id: Mapped[Ref] = mapped_column(sa.ForeignKey("webhook_endpoint.id"))
    event_type: Mapped[EventType] = mapped_column(one_of(EventType))
    subject: Mapped[Ref]
    sequence: Mapped[int]
    lane: Mapped[str] = mapped_column(sa.String(36), default="", server_default="")
    body: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    request_id: Mapped[str | None] = mapped_column(sa.String(64))
    state: Mapped[DeliveryState] = mapped_column(one_of(DeliveryState))
    hold: Mapped[Hold | None] = mapped_column(one_of(Hold))
    ending: Mapped[Ending | None] = mapped_column(one_of(Ending))
    attempts: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime]
    created_at: Mapped[CreatedAt]
    changed_at: Mapped[CreatedAt]
    delivered_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    flow: Mapped[InterviewFlow] = relationship()
    endpoint: Mapped[Endpoint] = relationship()
    attempts_made: Mapped[list["Attempt"]] = relationship(order_by="Attempt.at", viewonly=True)


class Attempt(Base):
    """One request and its response, stored for 30 days. ``answer`` is binary: receivers send NUL bytes and worse.

    ``endpoint_id`` is where it was sent, whatever address the flow has now. Health queries need only the index.
    """

    __tablename__ = "webhook_attempt"
    __table_args__ = (
        sa.Index(None, "delivery_id", "at"),
        sa.Index(None, "endpoint_id", "at", "status", "seconds"),
        sa.Index(None, "at"),
    )

    id: Mapped[Id]
    delivery_id: Mapped[Ref] = mapped_column(sa.ForeignKey("webhook_delivery.id"))
    endpoint_id: Mapped[str | None] = mapped_column(sa.ForeignKey("webhook_endpoint.id"))
    number: Mapped[int]
    at: Mapped[datetime]
    seconds: Mapped[float]
    url: Mapped[str] = mapped_column(sa.Text)
    address: Mapped[str | None] = mapped_column(sa.String(64))
    status: Mapped[int | None]
    error: Mapped[ErrorClass | None] = mapped_column(one_of(ErrorClass))
    note: Mapped[str | None] = mapped_column(sa.String(300))
    answer: Mapped[bytes | None] = mapped_column(sa.LargeBinary)


class Turnstile(Base):
    """A single row that every claim updates first, so that workers choose one at a time and the caps are exact."""

    __tablename__ = "webhook_turnstile"
    __table_args__ = (sa.CheckConstraint("id = 1", name="only_one"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    turns: Mapped[int] = mapped_column(sa.BigInteger)
