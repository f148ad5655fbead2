"""Mail to candidates: what was sent, own words, the plan, and lists of people that were invited."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def _step() -> sa.Enum:
    return sa.Enum(
        "invitation", "reminder", "expiry", name="step", native_enum=False, create_constraint=True, length=32
    )


def upgrade() -> None:
    op.create_table(
        "message",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("letter_id", sa.String(length=36), nullable=False),
        sa.Column("by_id", sa.String(length=36), nullable=True),
        sa.Column("step", _step(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=10), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by_id"], ["team_member.id"], name=op.f("fk_message_by_id")),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_message_interview_id")),
        sa.ForeignKeyConstraint(["letter_id"], ["letter.id"], name=op.f("fk_message_letter_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_message_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_message")),
        sa.UniqueConstraint("interview_id", "step", "number", name=op.f("uq_message_interview_id_step_number")),
    )
    op.create_index(op.f("ix_message_letter_id"), "message", ["letter_id"], unique=False)
    op.create_index(
        op.f("ix_message_organization_id_step_created_at"), "message", ["organization_id", "step", "created_at"]
    )
    op.create_table(
        "mail_words",
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("step", _step(), nullable=False),
        sa.Column("language", sa.String(length=10), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_mail_words_organization_id")),
        sa.PrimaryKeyConstraint("organization_id", "step", "language", name=op.f("pk_mail_words")),
    )
    op.create_table(
        "outreach_plan",
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("remind_after", sa.Integer(), nullable=True),
        sa.Column("notice_before", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_outreach_plan_organization_id")
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_outreach_plan")),
    )
    op.create_table(
        "invited",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("batch", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_invited_interview_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_invited_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invited")),
        sa.UniqueConstraint("batch", "number", name=op.f("uq_invited_batch_number")),
    )
    op.create_index(op.f("ix_invited_created_at"), "invited", ["created_at"], unique=False)
    op.create_index(op.f("ix_invited_interview_id"), "invited", ["interview_id"], unique=False)


def downgrade() -> None:
    for table in ("invited", "outreach_plan", "mail_words", "message"):
        op.drop_table(table)
