"""What the nightly check of the audit logs has found, and an index by what entries are about."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_check",
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("seal", sa.String(length=64), nullable=False),
        sa.Column("flaw", sa.String(length=200), nullable=True),
        sa.Column("flaw_number", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_audit_check_organization_id")),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_audit_check")),
    )
    op.create_index(op.f("ix_audit_check_checked_at"), "audit_check", ["checked_at"])
    columns = ["organization_id", "subject", "at"]
    op.create_index(op.f("ix_audit_entry_organization_id_subject_at"), "audit_entry", columns)


def downgrade() -> None:
    op.drop_index(op.f("ix_audit_entry_organization_id_subject_at"), table_name="audit_entry")
    op.drop_table("audit_check")
