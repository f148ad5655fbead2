"""Links by which members choose a password, and mail that is about no interview."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("letter") as letter:
        letter.alter_column("interview_id", existing_type=sa.String(length=36), nullable=True)
    op.create_table(
        "entry_link",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column(
            "kind",
            sa.Enum("invitation", "reset", name="entrykind", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by_id", sa.String(length=36), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("letter_id", sa.String(length=36), nullable=True),
        sa.ForeignKeyConstraint(["created_by_id"], ["team_member.id"], name=op.f("fk_entry_link_created_by_id")),
        sa.ForeignKeyConstraint(["letter_id"], ["letter.id"], name=op.f("fk_entry_link_letter_id")),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_entry_link_member_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entry_link")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_entry_link_token_hash")),
    )
    op.create_index(op.f("ix_entry_link_member_id"), "entry_link", ["member_id"], unique=False)


def downgrade() -> None:
    op.drop_table("entry_link")
    op.execute("DELETE FROM letter WHERE interview_id IS NULL")
    with op.batch_alter_table("letter") as letter:
        letter.alter_column("interview_id", existing_type=sa.String(length=36), nullable=False)
