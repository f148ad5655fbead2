"""Candidates may say an answer again where the flow allows it; both are kept, and the later one counts."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("interview_flow", sa.Column("may_say_again", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("utterance", sa.Column("turn", sa.Integer(), nullable=True))
    op.add_column("utterance", sa.Column("retake", sa.String(20), nullable=True))


def downgrade() -> None:
    op.drop_column("utterance", "retake")
    op.drop_column("utterance", "turn")
    op.drop_column("interview_flow", "may_say_again")
