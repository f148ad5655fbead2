"""Tables of the room flows."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "interview_flow",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("org_name", sa.String(length=300), nullable=False),
        sa.Column("title", sa.String(length=300), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "open", "closed", "archived", name="flowstatus", native_enum=False, create_constraint=True, length=32
            ),
            nullable=False,
        ),
        sa.Column("questions", sa.JSON(), nullable=False),
        sa.Column("voice_id", sa.String(length=32), nullable=True),
        sa.Column("language", sa.String(length=8), nullable=True),
        sa.Column("company_logo_url", sa.Text(), nullable=True),
        sa.Column("logo_key", sa.String(length=200), nullable=True),
        sa.Column("additional_info", sa.Text(), nullable=True),
        sa.Column("additional_instructions", sa.Text(), nullable=True),
        sa.Column(
            "interview_type",
            sa.Enum(
                "recruitment", "general", name="interviewtype", native_enum=False, create_constraint=True, length=32
            ),
            nullable=True,
        ),
        sa.Column("is_video_enabled", sa.Boolean(), nullable=True),
        sa.Column("is_doc_upload_enabled", sa.Boolean(), nullable=True),
        sa.Column("redirect_url", sa.Text(), nullable=True),
        sa.Column("webhook_url", sa.Text(), nullable=True),
        sa.Column("webhook_secret_sealed", sa.Text(), nullable=True),
        sa.Column("intro", sa.Text(), nullable=True),
        sa.Column("outro", sa.Text(), nullable=True),
        sa.Column("preamble_video_url", sa.Text(), nullable=True),
        sa.Column("preamble_video_key", sa.String(length=200), nullable=True),
        sa.Column("preamble_video_type", sa.String(length=50), nullable=True),
        sa.Column("assess_language", sa.Boolean(), nullable=True),
        sa.Column("follow_up_limit", sa.Integer(), nullable=False),
        sa.Column("time_limit_minutes", sa.Integer(), nullable=True),
        sa.Column(
            "speech_state",
            sa.Enum(
                "pending",
                "preparing",
                "ready",
                "failed",
                name="speechstate",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_interview_flow_organization_id")
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_interview_flow_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_interview_flow")),
    )
    op.create_index(
        op.f("ix_interview_flow_organization_id_created_at_id"),
        "interview_flow",
        ["organization_id", "created_at", "id"],
        unique=False,
    )
    op.create_index("ix_interview_flow_speech", "interview_flow", ["speech_state", "lease_until"], unique=False)
    op.create_index(
        op.f("ix_interview_flow_team_id_created_at_id"), "interview_flow", ["team_id", "created_at", "id"], unique=False
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_interview_flow_team_id_created_at_id"), table_name="interview_flow")
    op.drop_index("ix_interview_flow_speech", table_name="interview_flow")
    op.drop_index(op.f("ix_interview_flow_organization_id_created_at_id"), table_name="interview_flow")
    op.drop_table("interview_flow")
