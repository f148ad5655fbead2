"""Links by which members take another address."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "address_change",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column("address", sa.String(length=320), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by_id", sa.String(length=36), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("letter_id", sa.String(length=36), nullable=True),
        sa.ForeignKeyConstraint(["created_by_id"], ["team_member.id"], name=op.f("fk_address_change_created_by_id")),
        sa.ForeignKeyConstraint(["letter_id"], ["letter.id"], name=op.f("fk_address_change_letter_id")),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_address_change_member_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_address_change")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_address_change_token_hash")),
    )
    op.create_index(op.f("ix_address_change_member_id"), "address_change", ["member_id"], unique=False)


def downgrade() -> None:
    op.drop_table("address_change")
