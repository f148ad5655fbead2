"""What is to become of a test interview, where its key asked for something."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("interview", sa.Column("scenario", sa.String(length=20), nullable=True))


def downgrade() -> None:
    op.drop_column("interview", "scenario")
