"""With which voice a flow's script was spoken, so that it is spoken again when a better one has come."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("interview_flow", sa.Column("spoken_with", sa.String(length=200), nullable=True))


def downgrade() -> None:
    op.drop_column("interview_flow", "spoken_with")
