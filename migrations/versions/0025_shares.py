"""Links that show parts of an interview to people without an account."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "share",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=True),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.Column("made_by_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_by_id", sa.String(length=36), nullable=True),
        sa.Column("openings", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_share_interview_id")),
        sa.ForeignKeyConstraint(["made_by_id"], ["team_member.id"], name=op.f("fk_share_made_by_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_share_organization_id")),
        sa.ForeignKeyConstraint(["revoked_by_id"], ["team_member.id"], name=op.f("fk_share_revoked_by_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_share")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_share_token_hash")),
    )
    op.create_index(op.f("ix_share_interview_id"), "share", ["interview_id"], unique=False)
    op.create_index(op.f("ix_share_made_by_id"), "share", ["made_by_id"], unique=False)
    op.create_table(
        "share_opening",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("share_id", sa.String(length=36), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("browser", sa.String(length=40), nullable=False),
        sa.Column("network", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["share_id"], ["share.id"], name=op.f("fk_share_opening_share_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_share_opening")),
    )
    op.create_index(op.f("ix_share_opening_share_id_at"), "share_opening", ["share_id", "at"], unique=False)


def downgrade() -> None:
    op.drop_table("share_opening")
    op.drop_table("share")
