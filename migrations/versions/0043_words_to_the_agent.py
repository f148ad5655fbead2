"""Words to the agent are marked, and what was murmured over a reply without stopping it is counted."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("utterance", sa.Column("obeyed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("turn", sa.Column("murmurs", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("turn", "murmurs")
    op.drop_column("utterance", "obeyed")
