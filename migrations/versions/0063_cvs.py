"""Flows ask for a CV, recruiters upload CVs, and candidates have a phone number.

An interview knows when its candidate said that they have no CV.
"""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
OPEN = sa.text("state IN ('waiting', 'reading', 'confirmed', 'inviting')")
WHOSE = "(SELECT current_setting('parley.organization', true))"
OWNED = {
    "cv_upload": f"organization_id = {WHOSE}",
    "cv_file": "EXISTS (SELECT 1 FROM cv_upload WHERE cv_upload.id = cv_file.upload_id)",
}


def upgrade() -> None:
    op.add_column("interview_flow", sa.Column("cv", sa.String(10), nullable=True))
    op.add_column("interview", sa.Column("no_cv_at", MOMENT, nullable=True))
    op.add_column("candidate", sa.Column("phone", sa.String(50), nullable=True))
    _make_tables()
    if op.get_bind().dialect.name == "postgresql":
        for table, condition in OWNED.items():
            allowed = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE {condition} END"
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({allowed}) WITH CHECK ({allowed})')


def _make_tables() -> None:
    op.create_table(
        "cv_upload",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("organization_id", sa.String(36), sa.ForeignKey("organization.id"), nullable=False),
        sa.Column("flow_id", sa.String(36), sa.ForeignKey("interview_flow.id"), nullable=False),
        sa.Column("by_id", sa.String(36), sa.ForeignKey("team_member.id"), nullable=False),
        sa.Column("recruiter_id", sa.String(36), sa.ForeignKey("team_member.id"), nullable=True),
        sa.Column("by_mail", sa.Boolean(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_index("ix_cv_upload_organization_id_created_at", "cv_upload", ["organization_id", "created_at"])
    op.create_table(
        "cv_file",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("upload_id", sa.String(36), sa.ForeignKey("cv_upload.id"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("reason", sa.String(300), nullable=True),
        sa.Column("storage_key", sa.String(200), nullable=True),
        sa.Column("content_type", sa.String(100), nullable=True),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(320), nullable=True),
        sa.Column("first_name", sa.String(300), nullable=True),
        sa.Column("last_name", sa.String(300), nullable=True),
        sa.Column("phone", sa.String(50), nullable=True),
        sa.Column("interview_id", sa.String(36), sa.ForeignKey("interview.id"), nullable=True),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
    )
    some = {"sqlite_where": OPEN, "postgresql_where": OPEN}
    op.create_index("ix_cv_file_upload_id_number", "cv_file", ["upload_id", "number"])
    op.create_index("ix_cv_file_due", "cv_file", ["state", "number"], **some)
    op.create_index("ix_cv_file_interview_id", "cv_file", ["interview_id"])


def downgrade() -> None:
    op.drop_table("cv_file")
    op.drop_table("cv_upload")
    op.drop_column("candidate", "phone")
    op.drop_column("interview", "no_cv_at")
    op.drop_column("interview_flow", "cv")
