"""Rights of single members to single flows, and flows for named members only."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("interview_flow", sa.Column("is_narrowed", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_table(
        "flow_grant",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column(
            "level",
            sa.Enum("view", "edit", name="right", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["by_id"], ["team_member.id"], name=op.f("fk_flow_grant_by_id")),
        sa.ForeignKeyConstraint(["flow_id"], ["interview_flow.id"], name=op.f("fk_flow_grant_flow_id")),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_flow_grant_member_id")),
        sa.PrimaryKeyConstraint("flow_id", "member_id", name=op.f("pk_flow_grant")),
    )
    op.create_index(op.f("ix_flow_grant_member_id"), "flow_grant", ["member_id"], unique=False)


def downgrade() -> None:
    op.drop_table("flow_grant")
    op.drop_column("interview_flow", "is_narrowed")
