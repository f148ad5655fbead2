"""SQLite sorts candidates by score with an index. On PostgreSQL it is built while the old release writes."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

NARROW, WIDE = "ix_candidate_organization_id_score", "ix_candidate_organization_id_score_id"
SORTED = "ix_candidate_by_score"
BY_SCORE = ["organization_id", sa.text("score DESC NULLS LAST"), sa.text("id DESC")]
BEFORE = ["organization_id", sa.text("(score IS NULL)"), sa.text("score DESC"), sa.text("id DESC")]


def upgrade() -> None:
    _replace(NARROW, WIDE, ["organization_id", "score", "id"], BY_SCORE)


def downgrade() -> None:
    _replace(WIDE, NARROW, ["organization_id", "score"], BEFORE)


def _replace(old: str, new: str, columns: list[str], by_score: list[object]) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(new, "candidate", columns)
        op.drop_index(old, table_name="candidate")
        return
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps no one waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        for name, of in ((new, columns), (SORTED, by_score)):
            # What broke off in the middle left an index that is never used, under the same name.
            op.drop_index(name, table_name="candidate", if_exists=True, postgresql_concurrently=True)
            op.create_index(name, "candidate", of, postgresql_concurrently=True)
        op.drop_index(old, table_name="candidate", if_exists=True, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")
