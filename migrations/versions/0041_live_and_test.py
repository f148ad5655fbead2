"""Test interviews and all others have dense numbers of their own: lists of either page as fast as the whole list."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

OWNERS = ("organization", "team")
INDEXES = {
    "ix_interview_org_mode": ["organization_id", "is_test", "org_mode_seq"],
    "ix_interview_team_mode": ["team_id", "is_test", "team_mode_seq"],
    "ix_interview_org_mode_status": ["organization_id", "is_test", "status", "org_seq"],
    "ix_interview_team_mode_status": ["team_id", "is_test", "status", "team_seq"],
}
COUNTED = """
UPDATE {owner} SET interview_test_seq =
  (SELECT count(*) FROM interview WHERE interview.{owner}_id = {owner}.id AND interview.is_test)
"""
NUMBERED = """
UPDATE interview SET {short}_mode_seq = numbered.seq FROM (
  SELECT id, row_number() OVER (PARTITION BY is_test ORDER BY {short}_seq) AS seq
  FROM interview WHERE {owner}_id = :owner
) AS numbered WHERE numbered.id = interview.id AND interview.{short}_mode_seq IS NULL
"""
BUCKETS = """
INSERT INTO interview_test_bucket (owner_id, status, bucket, interviews)
SELECT {owner}_id, status, {short}_seq / 1000, count(*) FROM interview WHERE is_test
GROUP BY {owner}_id, status, {short}_seq / 1000
"""


def upgrade() -> None:
    for owner in OWNERS:
        op.add_column(owner, sa.Column("interview_test_seq", sa.Integer(), nullable=False, server_default="0"))
        op.add_column("interview", sa.Column(f"{_short(owner)}_mode_seq", sa.BigInteger(), nullable=True))
    status = sa.Enum(
        "incomplete", "completed", name="interviewstatus", native_enum=False, create_constraint=True, length=32
    )
    op.create_table(
        "interview_test_bucket",
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("status", status, nullable=False),
        sa.Column("bucket", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("interviews", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "status", "bucket", name=op.f("pk_interview_test_bucket")),
    )
    if op.get_bind().dialect.name == "sqlite":
        _number()
        for name, columns in INDEXES.items():
            op.create_index(name, "interview", columns)
        return
    with op.get_context().autocommit_block():
        # One statement for each owner, and indexes that keep nobody waiting: the release before goes on writing.
        op.execute("SET lock_timeout = 0")
        op.execute("SET parley.organization = 'everyone'")  # without a transaction nobody has said whose rows these are
        _number()
        for name, columns in INDEXES.items():
            op.drop_index(name, table_name="interview", if_exists=True, postgresql_concurrently=True)
            op.create_index(name, "interview", columns, postgresql_concurrently=True)
        op.execute("RESET parley.organization")
        op.execute("RESET lock_timeout")


def _number() -> None:
    connection = op.get_bind()
    for owner in OWNERS:
        words = {"owner": owner, "short": _short(owner)}
        connection.execute(sa.text(COUNTED.format(**words)))
        for (owner_id,) in connection.execute(sa.text(f"SELECT id FROM {owner}")).all():  # noqa: S608 - names from above
            connection.execute(sa.text(NUMBERED.format(**words)), {"owner": owner_id})
        connection.execute(sa.text(BUCKETS.format(**words)))


def _short(owner: str) -> str:
    return "org" if owner == "organization" else owner


def downgrade() -> None:
    for name in INDEXES:
        op.drop_index(name, table_name="interview")
    op.drop_table("interview_test_bucket")
    for owner in OWNERS:
        op.drop_column("interview", f"{_short(owner)}_mode_seq")
        op.drop_column(owner, "interview_test_seq")
