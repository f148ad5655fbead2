"""SQLite sorts candidates by name, and filters by words and scores, in an index; tags lead to their candidates."""

import sqlalchemy as sa
from alembic import op

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None

TAGGED, BEFORE = "ix_candidate_tag_organization_id_name_candidate_id", "ix_candidate_tag_organization_id_name"
TAG = ["organization_id", "name", "candidate_id"]
BY_NAME = [
    "organization_id",
    sa.text("lower(coalesce(last_name, first_name, address))"),
    sa.text("lower(coalesce(first_name, address))"),
    sa.text("id DESC"),
]
BY_SCORE = "ix_candidate_organization_id_score_id"
SCORED = ["organization_id", "score", "id", "is_test", "quarantined_at", "status", "created_at"]
SEARCHED = ["organization_id", "is_test", "quarantined_at", "created_at", "id", "email", "first_name", "last_name"]


def upgrade() -> None:
    _replace(BEFORE, TAGGED, TAG)
    if op.get_bind().dialect.name == "sqlite":
        op.create_index("ix_candidate_by_name", "candidate", BY_NAME)
        op.create_index("ix_candidate_searched", "candidate", SEARCHED)
        op.create_index("ix_candidate_scored", "candidate", SCORED)
        op.drop_index(BY_SCORE, table_name="candidate")


def downgrade() -> None:
    _replace(TAGGED, BEFORE, TAG[:2])
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(BY_SCORE, "candidate", SCORED[:3])
        op.drop_index("ix_candidate_scored", table_name="candidate")
        op.drop_index("ix_candidate_searched", table_name="candidate")
        op.drop_index("ix_candidate_by_name", table_name="candidate")


def _replace(old: str, new: str, columns: list[str]) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.create_index(new, "candidate_tag", columns)
        op.drop_index(old, table_name="candidate_tag")
        return
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps no one waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        # What broke off in the middle left an index that is never used, under the same name.
        op.drop_index(new, table_name="candidate_tag", if_exists=True, postgresql_concurrently=True)
        op.create_index(new, "candidate_tag", columns, postgresql_concurrently=True)
        op.drop_index(old, table_name="candidate_tag", if_exists=True, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")
