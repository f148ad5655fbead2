"""Booked interviews by their age: the dashboard counts those whose link ends soon."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

BOOKED = sa.text("stage = 'created'")


def upgrade() -> None:
    op.create_index(
        "ix_interview_booked",
        "interview",
        ["organization_id", "created_at"],
        sqlite_where=BOOKED,
        postgresql_where=BOOKED,
    )


def downgrade() -> None:
    op.drop_index("ix_interview_booked", "interview")
