"""Tables of the room interviews."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "interview_bucket",
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "incomplete", "completed", name="interviewstatus", native_enum=False, create_constraint=True, length=32
            ),
            nullable=False,
        ),
        sa.Column("bucket", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("interviews", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "status", "bucket", name=op.f("pk_interview_bucket")),
    )
    op.create_table(
        "interview",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("candidate_id", sa.String(length=36), nullable=True),
        sa.Column("assigned_recruiter_id", sa.String(length=36), nullable=True),
        sa.Column("org_seq", sa.BigInteger(), nullable=False),
        sa.Column("team_seq", sa.BigInteger(), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "incomplete", "completed", name="interviewstatus", native_enum=False, create_constraint=True, length=32
            ),
            nullable=False,
        ),
        sa.Column(
            "stage",
            sa.Enum(
                "created",
                "running",
                "abandoned",
                "submitted",
                "processing",
                "waits_for_recognition",
                "processing_failed",
                "completed",
                name="stage",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "video_stage",
            sa.Enum(
                "none",
                "waiting",
                "processing",
                "ready",
                "failed",
                "revoked",
                name="videostage",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("interviewee_email_address", sa.String(length=320), nullable=True),
        sa.Column("interviewee_first_name", sa.String(length=300), nullable=True),
        sa.Column("interviewee_last_name", sa.String(length=300), nullable=True),
        sa.Column("script", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failure", sa.String(length=500), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assigned_recruiter_id"], ["team_member.id"], name=op.f("fk_interview_assigned_recruiter_id")
        ),
        sa.ForeignKeyConstraint(["candidate_id"], ["candidate.id"], name=op.f("fk_interview_candidate_id")),
        sa.ForeignKeyConstraint(["flow_id"], ["interview_flow.id"], name=op.f("fk_interview_flow_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_interview_organization_id")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_interview_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_interview")),
        sa.UniqueConstraint("organization_id", "org_seq", name=op.f("uq_interview_organization_id_org_seq")),
        sa.UniqueConstraint("team_id", "team_seq", name=op.f("uq_interview_team_id_team_seq")),
    )
    op.create_index(op.f("ix_interview_candidate_id"), "interview", ["candidate_id"], unique=False)
    op.create_index(op.f("ix_interview_flow_id_org_seq"), "interview", ["flow_id", "org_seq"], unique=False)
    op.create_index(
        op.f("ix_interview_organization_id_status_org_seq"),
        "interview",
        ["organization_id", "status", "org_seq"],
        unique=False,
    )
    op.create_index(
        "ix_interview_platform",
        "interview",
        ["organization_id", "org_seq"],
        unique=False,
        sqlite_where=sa.text("candidate_id IS NOT NULL"),
        postgresql_where=sa.text("candidate_id IS NOT NULL"),
    )
    op.create_index(op.f("ix_interview_stage_due_at"), "interview", ["stage", "due_at"], unique=False)
    op.create_index(
        op.f("ix_interview_team_id_status_team_seq"), "interview", ["team_id", "status", "team_seq"], unique=False
    )
    op.create_index(op.f("ix_interview_video_stage_due_at"), "interview", ["video_stage", "due_at"], unique=False)
    op.create_table(
        "document",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("content_type", sa.String(length=100), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("storage_key", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_document_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
    )
    op.create_index(op.f("ix_document_interview_id"), "document", ["interview_id"], unique=False)
    op.create_table(
        "utterance",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "role",
            sa.Enum("agent", "user", name="role", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("question_index", sa.Integer(), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("words", sa.JSON(), nullable=True),
        sa.Column("segment", sa.Integer(), nullable=True),
        sa.Column("start", sa.Double(), nullable=True),
        sa.Column("end", sa.Double(), nullable=True),
        sa.Column("played", sa.Double(), nullable=True),
        sa.Column("typed", sa.Boolean(), nullable=False),
        sa.Column("engine", sa.String(length=100), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_utterance_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_utterance")),
        sa.UniqueConstraint("interview_id", "number", name=op.f("uq_utterance_interview_id_number")),
    )
    op.create_table(
        "interview_data",
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("text_length", sa.Integer(), nullable=False),
        sa.Column("text_crc32", sa.BigInteger(), nullable=False),
        sa.Column("details", sa.LargeBinary(), nullable=False),
        sa.Column("details_length", sa.Integer(), nullable=False),
        sa.Column("details_crc32", sa.BigInteger(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("scores", sa.JSON(), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_interview_data_interview_id")),
        sa.PrimaryKeyConstraint("interview_id", name=op.f("pk_interview_data")),
    )
    if op.get_context().dialect.name == "postgresql":
        # The fragments are compressed already; EXTERNAL spares the server from trying again.
        op.execute("ALTER TABLE interview_data ALTER COLUMN text SET STORAGE EXTERNAL")
        op.execute("ALTER TABLE interview_data ALTER COLUMN details SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("interview_data")
    op.drop_table("utterance")
    op.drop_index(op.f("ix_document_interview_id"), table_name="document")
    op.drop_table("document")
    op.drop_index(op.f("ix_interview_video_stage_due_at"), table_name="interview")
    op.drop_index(op.f("ix_interview_team_id_status_team_seq"), table_name="interview")
    op.drop_index(op.f("ix_interview_stage_due_at"), table_name="interview")
    op.drop_index("ix_interview_platform", table_name="interview")
    op.drop_index(op.f("ix_interview_organization_id_status_org_seq"), table_name="interview")
    op.drop_index(op.f("ix_interview_flow_id_org_seq"), table_name="interview")
    op.drop_index(op.f("ix_interview_candidate_id"), table_name="interview")
    op.drop_table("interview")
    op.drop_table("interview_bucket")
