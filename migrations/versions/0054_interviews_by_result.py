"""The newest results of an organization have an index. On PostgreSQL it is built while the old release writes."""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

NAME = "ix_interview_done"
COLUMNS = ["organization_id", "completed_at"]
DONE = sa.text("completed_at IS NOT NULL")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(NAME, "interview", COLUMNS, sqlite_where=DONE)
        return
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps no one waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        # What broke off in the middle left an index that is never used, under the same name.
        op.drop_index(NAME, table_name="interview", if_exists=True, postgresql_concurrently=True)
        op.create_index(NAME, "interview", COLUMNS, postgresql_where=DONE, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    op.drop_index(NAME, table_name="interview", if_exists=True)
