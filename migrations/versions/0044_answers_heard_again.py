"""An answer is heard again with more care: how far that is, who does it, and where its sound lies.

The new columns keep their defaults in the database: the release before writes rows without them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

_OPEN = sa.text("hearing IN ('waiting', 'hearing')")


def upgrade() -> None:
    op.add_column("utterance", sa.Column("hearing", sa.String(length=20), nullable=False, server_default="none"))
    op.add_column("utterance", sa.Column("first_chunk", sa.Integer(), nullable=True))
    op.add_column("utterance", sa.Column("last_chunk", sa.Integer(), nullable=True))
    op.add_column("utterance", sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True))
    op.add_column("utterance", sa.Column("fence", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("utterance", sa.Column("recoveries", sa.Integer(), nullable=False, server_default="0"))
    op.create_index(
        "ix_utterance_hearing", "utterance", ["hearing", "lease_until"], sqlite_where=_OPEN, postgresql_where=_OPEN
    )


def downgrade() -> None:
    op.drop_index("ix_utterance_hearing", table_name="utterance")
    for name in ("recoveries", "fence", "lease_until", "last_chunk", "first_chunk", "hearing"):
        op.drop_column("utterance", name)
