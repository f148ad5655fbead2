"""Flows say whether their background is for the agent alone.

What was written before that could be said is: nobody who wrote it knew that it might be read out.
"""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "interview_flow", sa.Column("is_background_private", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    flow = sa.table("interview_flow", sa.column("additional_info"), sa.column("is_background_private"))
    op.execute(flow.update().where(flow.c.additional_info.is_not(None)).values(is_background_private=sa.true()))


def downgrade() -> None:
    op.drop_column("interview_flow", "is_background_private")
