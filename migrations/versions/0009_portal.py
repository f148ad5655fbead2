"""The candidate's own page: withdrawn consent, one-time codes, mail on its way, erasures, and days for answers."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "erasure",
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by_id", sa.String(length=36), nullable=True),
        sa.Column("removed", sa.JSON(), nullable=False),
        sa.Column("gone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("receipt", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["by_id"], ["team_member.id"], name=op.f("fk_erasure_by_id")),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_erasure_interview_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_erasure_organization_id")),
        sa.PrimaryKeyConstraint("interview_id", name=op.f("pk_erasure")),
    )
    op.create_index(op.f("ix_erasure_organization_id"), "erasure", ["organization_id"], unique=False)
    op.create_index(op.f("ix_erasure_settled_at_gone_at"), "erasure", ["settled_at", "gone_at"], unique=False)
    op.create_table(
        "letter",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column(
            "state",
            sa.Enum(
                "waiting",
                "sending",
                "sent",
                "refused",
                "expired",
                "lost",
                name="letterstate",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failure", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_letter_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_letter")),
    )
    op.create_index(op.f("ix_letter_interview_id"), "letter", ["interview_id"], unique=False)
    op.create_index(op.f("ix_letter_state_due_at"), "letter", ["state", "due_at"], unique=False)
    op.create_table(
        "own_code",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("asker", sa.String(length=64), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_own_code_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_own_code")),
    )
    op.create_index(op.f("ix_own_code_asker_created_at"), "own_code", ["asker", "created_at"], unique=False)
    op.create_index(
        op.f("ix_own_code_interview_id_created_at"), "own_code", ["interview_id", "created_at"], unique=False
    )
    op.create_table(
        "own_pass",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_own_pass_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_own_pass")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_own_pass_token_hash")),
    )
    op.create_index(op.f("ix_own_pass_interview_id"), "own_pass", ["interview_id"], unique=False)
    op.add_column("interview", sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("interview", sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("organization", sa.Column("shows_status", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("organization", sa.Column("answer_days", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("organization", "answer_days")
    op.drop_column("organization", "shows_status")
    op.drop_column("interview", "erased_at")
    op.drop_column("interview", "withdrawn_at")
    op.drop_index(op.f("ix_own_pass_interview_id"), table_name="own_pass")
    op.drop_table("own_pass")
    op.drop_index(op.f("ix_own_code_interview_id_created_at"), table_name="own_code")
    op.drop_index(op.f("ix_own_code_asker_created_at"), table_name="own_code")
    op.drop_table("own_code")
    op.drop_index(op.f("ix_letter_state_due_at"), table_name="letter")
    op.drop_index(op.f("ix_letter_interview_id"), table_name="letter")
    op.drop_table("letter")
    op.drop_index(op.f("ix_erasure_settled_at_gone_at"), table_name="erasure")
    op.drop_index(op.f("ix_erasure_organization_id"), table_name="erasure")
    op.drop_table("erasure")
