"""The first steps on the dashboard (has a member tried a flow, are the steps hidden), and counts by flow."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

SHOWN = sa.text("candidate_id IS NOT NULL")


def upgrade() -> None:
    op.add_column("organization", sa.Column("previewed_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("organization", sa.Column("first_steps_hidden_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        "ix_interview_by_flow",
        "interview",
        ["flow_id", "stage", "is_test", "quarantined_at"],
        sqlite_where=SHOWN,
        postgresql_where=SHOWN,
    )


def downgrade() -> None:
    op.drop_index("ix_interview_by_flow", "interview")
    op.drop_column("organization", "first_steps_hidden_at")
    op.drop_column("organization", "previewed_at")
