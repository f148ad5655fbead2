"""What candidates ask for, who declined, and what a flow offers instead."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "wish",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "accommodation",
                "deletion",
                "review",
                "withdrawal",
                "correction",
                name="wishkind",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "state",
            sa.Enum(
                "open",
                "granted",
                "declined",
                "done",
                name="wishstate",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("contact", sa.String(length=320), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by_id", sa.String(length=36), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["decided_by_id"], ["team_member.id"], name=op.f("fk_wish_decided_by_id")),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_wish_interview_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_wish_organization_id")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_wish_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_wish")),
    )
    op.create_index(op.f("ix_wish_interview_id"), "wish", ["interview_id"], unique=False)
    op.create_index(
        op.f("ix_wish_organization_id_state_due_at"), "wish", ["organization_id", "state", "due_at"], unique=False
    )
    op.create_index(op.f("ix_wish_team_id_state_due_at"), "wish", ["team_id", "state", "due_at"], unique=False)
    op.add_column("interview", sa.Column("declined_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("interview_flow", sa.Column("alternative_text", sa.Text(), nullable=True))
    op.add_column("interview_flow", sa.Column("alternative_contact", sa.Text(), nullable=True))
    op.add_column("agreement", sa.Column("shown", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("agreement", "shown")
    op.drop_column("interview_flow", "alternative_contact")
    op.drop_column("interview_flow", "alternative_text")
    op.drop_column("interview", "declined_at")
    op.drop_index(op.f("ix_wish_team_id_state_due_at"), table_name="wish")
    op.drop_index(op.f("ix_wish_organization_id_state_due_at"), table_name="wish")
    op.drop_index(op.f("ix_wish_interview_id"), table_name="wish")
    op.drop_table("wish")
