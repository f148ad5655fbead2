"""Documents that arrive in parts."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "document_upload",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("document_id", sa.String(length=36), nullable=True),
        sa.Column("touched_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_document_upload_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_upload")),
        sa.UniqueConstraint("interview_id", "sha256", name=op.f("uq_document_upload_interview_id_sha256")),
    )
    op.create_index("ix_document_upload_touched", "document_upload", ["touched_at"], unique=False)
    op.create_table(
        "document_part",
        sa.Column("upload_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("storage_key", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["upload_id"], ["document_upload.id"], name=op.f("fk_document_part_upload_id")),
        sa.PrimaryKeyConstraint("upload_id", "number", name=op.f("pk_document_part")),
    )


def downgrade() -> None:
    op.drop_table("document_part")
    op.drop_table("document_upload")
