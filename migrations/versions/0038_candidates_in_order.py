"""Candidates are counted and sorted by an index. On PostgreSQL it is built while the release before goes on writing."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

COUNTED = ("ix_candidate_counted", ["organization_id", "is_test", "quarantined_at", "status", "flow_id"])
SORTED = (
    (
        "ix_candidate_by_score",
        ["organization_id", sa.text("(score IS NULL)"), sa.text("score DESC"), sa.text("id DESC")],
    ),
    (
        "ix_candidate_by_name",
        [
            "organization_id",
            sa.text("lower(coalesce(last_name, first_name, address))"),
            sa.text("lower(coalesce(first_name, address))"),
            sa.text("id DESC"),
        ],
    ),
)
"""For PostgreSQL alone: a migration on SQLite that makes the table anew forgets indexes over expressions."""


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(COUNTED[0], "candidate", COUNTED[1])
        return
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps nobody waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        for name, columns in (COUNTED, *SORTED):
            # What broke off in the middle left an index that is never used, under the same name.
            op.drop_index(name, table_name="candidate", if_exists=True, postgresql_concurrently=True)
            op.create_index(name, "candidate", columns, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    sorted_by = SORTED if op.get_bind().dialect.name == "postgresql" else ()
    for name, _columns in (COUNTED, *sorted_by):
        op.drop_index(name, table_name="candidate")
