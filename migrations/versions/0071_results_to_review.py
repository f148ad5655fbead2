"""Results to review, interviews in work, and a candidate's newest interview are found in indexes of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0071"
down_revision = "0070"
branch_labels = None
depends_on = None

TO_REVIEW = sa.text("interviewed_at IS NOT NULL AND reviewed_at IS NULL")
IN_WORK = sa.text(
    "(stage NOT IN ('created', 'running', 'abandoned', 'completed')"
    " OR video_stage IN ('waiting', 'processing', 'failed'))"
)
COLUMNS = ["organization_id", "interviewed_at", "id", "is_test", "quarantined_at", "flow_id"]
BEFORE, NOW = "ix_interview_candidate_id", "ix_interview_candidate_id_org_seq"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.create_index("ix_candidate_to_review", "candidate", COLUMNS, sqlite_where=TO_REVIEW)
        op.create_index(NOW, "interview", ["candidate_id", "org_seq"])
        op.create_index("ix_interview_in_work", "interview", ["organization_id", "org_seq"], sqlite_where=IN_WORK)
        op.drop_index(BEFORE, table_name="interview")
        return
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps no one waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        # What broke off in the middle left an index that is never used, under the same name.
        op.drop_index("ix_candidate_to_review", table_name="candidate", if_exists=True, postgresql_concurrently=True)
        op.create_index(
            "ix_candidate_to_review", "candidate", COLUMNS, postgresql_where=TO_REVIEW, postgresql_concurrently=True
        )
        op.drop_index("ix_interview_in_work", table_name="interview", if_exists=True, postgresql_concurrently=True)
        op.create_index(
            "ix_interview_in_work",
            "interview",
            ["organization_id", "org_seq"],
            postgresql_where=IN_WORK,
            postgresql_concurrently=True,
        )
        op.drop_index(NOW, table_name="interview", if_exists=True, postgresql_concurrently=True)
        op.create_index(NOW, "interview", ["candidate_id", "org_seq"], postgresql_concurrently=True)
        op.drop_index(BEFORE, table_name="interview", if_exists=True, postgresql_concurrently=True)
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    op.create_index(BEFORE, "interview", ["candidate_id"])
    op.drop_index("ix_interview_in_work", table_name="interview")
    op.drop_index(NOW, table_name="interview")
    op.drop_index("ix_candidate_to_review", table_name="candidate")
