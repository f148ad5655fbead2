"""Tables of the room recordings."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chunk",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column(
            "track",
            sa.Enum("mix", "voice", name="track", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("storage_key", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_chunk_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunk")),
        sa.UniqueConstraint(
            "interview_id", "segment", "track", "number", name=op.f("uq_chunk_interview_id_segment_track_number")
        ),
    )
    op.create_table(
        "recorder_run",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("mime_type", sa.String(length=100), nullable=False),
        sa.Column("last_mix_chunk", sa.Integer(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_recorder_run_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recorder_run")),
        sa.UniqueConstraint("interview_id", "number", name=op.f("uq_recorder_run_interview_id_number")),
    )
    op.create_table(
        "recording",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column(
            "media",
            sa.Enum("audio", "video", name="media", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("content_type", sa.String(length=100), nullable=False),
        sa.Column("storage_key", sa.String(length=200), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("blocks", sa.LargeBinary(), nullable=False),
        sa.Column("duration", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("damaged_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_recording_interview_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_recording_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recording")),
        sa.UniqueConstraint("interview_id", "media", name=op.f("uq_recording_interview_id_media")),
    )
    op.create_table(
        "revocation",
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_revocation_interview_id")),
        sa.PrimaryKeyConstraint("interview_id", name=op.f("pk_revocation")),
    )


def downgrade() -> None:
    op.drop_table("revocation")
    op.drop_table("recording")
    op.drop_table("recorder_run")
    op.drop_table("chunk")
