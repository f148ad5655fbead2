"""Since when the days of an invite link count, if a member has extended it."""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

NAME = "ix_interview_extended"
EXTENDED = sa.text("link_since IS NOT NULL")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.add_column("interview", sa.Column("link_since", sa.DateTime(timezone=True), nullable=True))
        op.create_index(NAME, "interview", ["link_since"], sqlite_where=EXTENDED)
        return
    op.execute("ALTER TABLE interview ADD COLUMN IF NOT EXISTS link_since TIMESTAMP WITH TIME ZONE")
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps no one waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        # What broke off in the middle left an index that is never used, under the same name.
        op.drop_index(NAME, table_name="interview", if_exists=True, postgresql_concurrently=True)
        op.create_index(NAME, "interview", ["link_since"], postgresql_where=EXTENDED, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    op.drop_index(NAME, table_name="interview", if_exists=True)
    op.drop_column("interview", "link_since")
