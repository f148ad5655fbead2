"""Keep a replaced recording file until the downloads that read it have ended."""

import sqlalchemy as sa
from alembic import op

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("recording", sa.Column("replaced_key", sa.String(200), nullable=True))
    op.add_column("recording", sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=True))
    # A download that was under way while a file was replaced marked the new file as damaged, wrongly. A file that is
    # really damaged is marked again when it is next opened.
    op.execute("UPDATE recording SET damaged_at = NULL")
    op.create_index("ix_recording_replaced_at", "recording", ["replaced_at"])


def downgrade() -> None:
    op.drop_index("ix_recording_replaced_at", "recording")
    op.drop_column("recording", "replaced_at")
    op.drop_column("recording", "replaced_key")
