"""Requests of members for access to a flow."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

OPEN = sa.text("state = 'open'")


def upgrade() -> None:
    op.create_table(
        "access_request",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "open",
                "view",
                "edit",
                "refused",
                name="requeststate",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by_id", sa.String(length=36), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["decided_by_id"], ["team_member.id"], name=op.f("fk_access_request_decided_by_id")),
        sa.ForeignKeyConstraint(["flow_id"], ["interview_flow.id"], name=op.f("fk_access_request_flow_id")),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_access_request_member_id")),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_access_request_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_request")),
    )
    op.create_index(
        "ix_access_request_open",
        "access_request",
        ["flow_id", "member_id"],
        unique=True,
        sqlite_where=OPEN,
        postgresql_where=OPEN,
    )
    op.create_index(
        op.f("ix_access_request_organization_id_state_created_at"),
        "access_request",
        ["organization_id", "state", "created_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_access_request_member_id_decided_at"), "access_request", ["member_id", "decided_at"], unique=False
    )


def downgrade() -> None:
    op.drop_table("access_request")
