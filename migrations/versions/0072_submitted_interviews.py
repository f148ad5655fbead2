"""What was submitted in a span of days is counted from an index of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None

NAME, COLUMNS = "ix_interview_submitted", ["organization_id", "submitted_at", "is_test", "flow_id", "id"]
SUBMITTED = sa.text("submitted_at IS NOT NULL")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(NAME, "interview", COLUMNS, sqlite_where=SUBMITTED)
        return
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps no one waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        # What broke off in the middle left an index that is never used, under the same name.
        op.drop_index(NAME, table_name="interview", if_exists=True, postgresql_concurrently=True)
        op.create_index(NAME, "interview", COLUMNS, postgresql_where=SUBMITTED, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    op.drop_index(NAME, table_name="interview")
