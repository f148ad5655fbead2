"""Tables of the room webhooks. The turnstile's one row is born here."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhook_turnstile",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turns", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_webhook_turnstile_only_one")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_turnstile")),
    )
    op.create_table(
        "webhook_endpoint",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("url_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paced_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("timeouts", sa.Integer(), nullable=False),
        sa.Column("last_success_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("exhausted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("noticed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("warned_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "disabled_by",
            sa.Enum(
                "gone", "failing", "member", name="disabledby", native_enum=False, create_constraint=True, length=32
            ),
            nullable=True,
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_webhook_endpoint_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoint")),
        sa.UniqueConstraint("organization_id", "url_hash", name=op.f("uq_webhook_endpoint_organization_id_url_hash")),
    )
    op.create_index(op.f("ix_webhook_endpoint_failing_since"), "webhook_endpoint", ["failing_since"], unique=False)
    op.create_index(op.f("ix_webhook_endpoint_lease_until"), "webhook_endpoint", ["lease_until"], unique=False)
    op.create_table(
        "webhook_delivery",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("event_id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("endpoint_id", sa.String(length=36), nullable=False),
        sa.Column(
            "event_type",
            sa.Enum(
                "interview_processed",
                "video_processed",
                "candidate_status_updated",
                name="eventtype",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("subject", sa.String(length=36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column(
            "state",
            sa.Enum(
                "pending",
                "sending",
                "delivered",
                "held",
                "exhausted",
                "cancelled",
                name="deliverystate",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "hold",
            sa.Enum("order", "disabled", "no_url", name="hold", native_enum=False, create_constraint=True, length=32),
            nullable=True,
        ),
        sa.Column(
            "ending",
            sa.Enum(
                "attempts_used",
                "held_too_long",
                "recording_revoked",
                "dismissed",
                "payload_deleted",
                name="ending",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=True,
        ),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["endpoint_id"], ["webhook_endpoint.id"], name=op.f("fk_webhook_delivery_endpoint_id")),
        sa.ForeignKeyConstraint(["flow_id"], ["interview_flow.id"], name=op.f("fk_webhook_delivery_flow_id")),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_webhook_delivery_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_delivery")),
        sa.UniqueConstraint("event_id", name=op.f("uq_webhook_delivery_event_id")),
        sa.UniqueConstraint("subject", "sequence", name=op.f("uq_webhook_delivery_subject_sequence")),
    )
    op.create_index(
        op.f("ix_webhook_delivery_endpoint_id_state_due_at"),
        "webhook_delivery",
        ["endpoint_id", "state", "due_at"],
        unique=False,
    )
    op.create_index(op.f("ix_webhook_delivery_finished_at"), "webhook_delivery", ["finished_at"], unique=False)
    op.create_index(
        op.f("ix_webhook_delivery_flow_id_created_at"), "webhook_delivery", ["flow_id", "created_at"], unique=False
    )
    op.create_index(
        op.f("ix_webhook_delivery_state_lease_until"), "webhook_delivery", ["state", "lease_until"], unique=False
    )
    op.create_index(
        "uq_webhook_delivery_interview_event",
        "webhook_delivery",
        ["event_type", "subject"],
        unique=True,
        sqlite_where=sa.text("event_type <> 'candidate_status_updated'"),
        postgresql_where=sa.text("event_type <> 'candidate_status_updated'"),
    )
    op.create_table(
        "webhook_route",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("endpoint_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["endpoint_id"], ["webhook_endpoint.id"], name=op.f("fk_webhook_route_endpoint_id")),
        sa.ForeignKeyConstraint(["flow_id"], ["interview_flow.id"], name=op.f("fk_webhook_route_flow_id")),
        sa.PrimaryKeyConstraint("flow_id", name=op.f("pk_webhook_route")),
    )
    op.create_index(op.f("ix_webhook_route_endpoint_id"), "webhook_route", ["endpoint_id"], unique=False)
    op.create_table(
        "webhook_attempt",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("delivery_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column(
            "error",
            sa.Enum(
                "dns",
                "connect",
                "tls",
                "timeout",
                "http",
                "forbidden_address",
                "too_large",
                name="errorclass",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=True,
        ),
        sa.Column("note", sa.String(length=300), nullable=True),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["delivery_id"], ["webhook_delivery.id"], name=op.f("fk_webhook_attempt_delivery_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_attempt")),
    )
    op.create_index(op.f("ix_webhook_attempt_at"), "webhook_attempt", ["at"], unique=False)
    op.create_index(op.f("ix_webhook_attempt_delivery_id_at"), "webhook_attempt", ["delivery_id", "at"], unique=False)
    op.execute("INSERT INTO webhook_turnstile (id, turns) VALUES (1, 0)")


def downgrade() -> None:
    op.drop_index(op.f("ix_webhook_attempt_delivery_id_at"), table_name="webhook_attempt")
    op.drop_index(op.f("ix_webhook_attempt_at"), table_name="webhook_attempt")
    op.drop_table("webhook_attempt")
    op.drop_index(op.f("ix_webhook_route_endpoint_id"), table_name="webhook_route")
    op.drop_table("webhook_route")
    op.drop_index(
        "uq_webhook_delivery_interview_event",
        table_name="webhook_delivery",
        sqlite_where=sa.text("event_type <> 'candidate_status_updated'"),
        postgresql_where=sa.text("event_type <> 'candidate_status_updated'"),
    )
    op.drop_index(op.f("ix_webhook_delivery_state_lease_until"), table_name="webhook_delivery")
    op.drop_index(op.f("ix_webhook_delivery_flow_id_created_at"), table_name="webhook_delivery")
    op.drop_index(op.f("ix_webhook_delivery_finished_at"), table_name="webhook_delivery")
    op.drop_index(op.f("ix_webhook_delivery_endpoint_id_state_due_at"), table_name="webhook_delivery")
    op.drop_table("webhook_delivery")
    op.drop_index(op.f("ix_webhook_endpoint_lease_until"), table_name="webhook_endpoint")
    op.drop_index(op.f("ix_webhook_endpoint_failing_since"), table_name="webhook_endpoint")
    op.drop_table("webhook_endpoint")
    op.drop_table("webhook_turnstile")
