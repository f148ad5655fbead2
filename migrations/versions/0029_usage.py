"""What organizations use, their quotas, and what was told of them. Interviews that have a result already count."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "usage_record",
        sa.Column("subject", sa.String(36), nullable=False),
        sa.Column("organization_id", sa.String(36), nullable=False),
        sa.Column("flow_id", sa.String(36), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("month", sa.String(7), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("subject", name="pk_usage_record"),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name="fk_usage_record_organization_id"),
    )
    op.create_index("ix_usage_record_organization_id_month", "usage_record", ["organization_id", "month"])
    op.create_table(
        "usage_quota",
        sa.Column("organization_id", sa.String(36), nullable=False),
        sa.Column("interviews", sa.Integer(), nullable=True),
        sa.Column("minutes", sa.Integer(), nullable=True),
        sa.Column("stops", sa.Boolean(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", name="pk_usage_quota"),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name="fk_usage_quota_organization_id"),
    )
    op.create_table(
        "usage_notice",
        sa.Column("organization_id", sa.String(36), nullable=False),
        sa.Column("month", sa.String(7), nullable=False),
        sa.Column("level", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "month", "level", name="pk_usage_notice"),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name="fk_usage_notice_organization_id"),
    )
    _count_what_was()


def _count_what_was() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    month = "strftime('%Y-%m', {})" if is_sqlite else "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM')"
    at = "COALESCE(interview.submitted_at, interview.completed_at)"
    op.execute(
        "INSERT INTO usage_record (subject, organization_id, flow_id, at, month, seconds) "  # noqa: S608 - constants
        f"SELECT interview.id, interview.organization_id, interview.flow_id, {at}, {month.format(at)}, "
        "COALESCE(recording.duration, 0) FROM interview LEFT JOIN recording ON recording.interview_id = interview.id "
        f"AND recording.media = 'audio' WHERE interview.status = 'completed' AND {at} IS NOT NULL "
        "AND NOT interview.is_test"
    )


def downgrade() -> None:
    op.drop_table("usage_notice")
    op.drop_table("usage_quota")
    op.drop_table("usage_record")
