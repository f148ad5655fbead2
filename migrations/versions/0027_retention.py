"""How long data is kept, what waits in quarantine, and what may not be deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("candidate", "interview"):
        op.add_column(name, sa.Column("quarantined_at", sa.DateTime(timezone=True), nullable=True))
        op.add_column(name, sa.Column("kept_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "retention_rule",
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("months", sa.Integer(), nullable=True),
        sa.Column("media_days", sa.Integer(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("media_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_retention_rule_organization_id")
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_retention_rule")),
    )
    op.create_table(
        "legal_hold",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column(
            "kind",
            sa.Enum("candidate", "interview", name="held", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("subject_id", sa.String(length=36), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by_id", sa.String(length=36), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_by_id", sa.String(length=36), nullable=True),
        sa.ForeignKeyConstraint(["by_id"], ["team_member.id"], name=op.f("fk_legal_hold_by_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_legal_hold_organization_id")),
        sa.ForeignKeyConstraint(["released_by_id"], ["team_member.id"], name=op.f("fk_legal_hold_released_by_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_legal_hold")),
    )
    op.create_index(op.f("ix_legal_hold_subject_id"), "legal_hold", ["subject_id"], unique=False)
    op.create_index(
        op.f("ix_legal_hold_organization_id_released_at"),
        "legal_hold",
        ["organization_id", "released_at"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_table("legal_hold")
    op.drop_table("retention_rule")
    for name in ("candidate", "interview"):
        op.drop_column(name, "kept_at")
        op.drop_column(name, "quarantined_at")
