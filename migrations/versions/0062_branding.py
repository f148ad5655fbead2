"""Flows have an accent color; organizations have one and a logo, for flows without their own."""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("interview_flow", sa.Column("accent", sa.String(7), nullable=True))
    op.add_column("organization", sa.Column("accent", sa.String(7), nullable=True))
    op.add_column("organization", sa.Column("logo_key", sa.String(200), nullable=True))


def downgrade() -> None:
    op.drop_column("organization", "logo_key")
    op.drop_column("organization", "accent")
    op.drop_column("interview_flow", "accent")
