"""Flows keep the reasons for which questions about forbidden topics are asked all the same."""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("interview_flow", sa.Column("overrules", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("interview_flow", "overrules")
