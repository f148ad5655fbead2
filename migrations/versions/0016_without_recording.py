"""Interviews that are processed without their recording, because it cannot be read."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("interview", sa.Column("without_recording", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("interview") as interview:
        interview.drop_column("without_recording")
