"""Notes about interviews, and who is named in them."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "note",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_note_interview_id")),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_note_member_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_note_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_note")),
    )
    op.create_index(op.f("ix_note_interview_id_created_at"), "note", ["interview_id", "created_at"], unique=False)
    op.create_index(op.f("ix_note_member_id"), "note", ["member_id"], unique=False)
    op.create_table(
        "mention",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column("said", sa.String(length=320), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_mention_member_id")),
        sa.ForeignKeyConstraint(["note_id"], ["note.id"], name=op.f("fk_mention_note_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mention")),
        sa.UniqueConstraint("note_id", "member_id", name=op.f("uq_mention_note_id_member_id")),
    )
    op.create_index(op.f("ix_mention_member_id_read_at"), "mention", ["member_id", "read_at"], unique=False)


def downgrade() -> None:
    op.drop_table("mention")
    op.drop_table("note")
