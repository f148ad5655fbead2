"""Pauses and more time in a talk; what candidates think of it."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("sitting") as sitting:
        sitting.add_column(sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True))
        sitting.add_column(sa.Column("extensions", sa.Integer(), nullable=False, server_default="0"))
        sitting.add_column(sa.Column("extra_seconds", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "feedback",
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_feedback_interview_id")),
        sa.PrimaryKeyConstraint("interview_id", name=op.f("pk_feedback")),
    )


def downgrade() -> None:
    op.drop_table("feedback")
    with op.batch_alter_table("sitting") as sitting:
        sitting.drop_column("extra_seconds")
        sitting.drop_column("extensions")
        sitting.drop_column("paused_at")
