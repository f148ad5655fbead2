"""Flows have their own criteria, in numbered versions, and results name the version that they were scored with."""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

OWN_ROWS = """
    CREATE POLICY own_rows ON "flow_criteria" USING (
        CASE (SELECT current_setting('parley.organization', true)) WHEN 'everyone' THEN true
        ELSE EXISTS (SELECT 1 FROM interview_flow WHERE interview_flow.id = flow_criteria.flow_id) END
    ) WITH CHECK (
        CASE (SELECT current_setting('parley.organization', true)) WHEN 'everyone' THEN true
        ELSE EXISTS (SELECT 1 FROM interview_flow WHERE interview_flow.id = flow_criteria.flow_id) END
    )
"""


def upgrade() -> None:
    op.create_table(
        "flow_criteria",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("flow_id", sa.String(36), sa.ForeignKey("interview_flow.id"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("items", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("flow_id", "number"),
    )
    op.add_column("interview_flow", sa.Column("criteria_number", sa.Integer(), nullable=True))
    # Without foreign keys: adding one would check every result while the table is locked.
    op.add_column("interview_data", sa.Column("criteria_id", sa.String(36), nullable=True))
    op.add_column("score_version", sa.Column("criteria_id", sa.String(36), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        op.execute('ALTER TABLE "flow_criteria" ENABLE ROW LEVEL SECURITY')
        op.execute('ALTER TABLE "flow_criteria" FORCE ROW LEVEL SECURITY')
        op.execute(OWN_ROWS)


def downgrade() -> None:
    for table in ("score_version", "interview_data"):
        op.drop_column(table, "criteria_id")
    op.drop_column("interview_flow", "criteria_number")
    op.drop_table("flow_criteria")
