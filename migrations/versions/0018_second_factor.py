"""Two-step sign-in: the sealed secret of the authenticator app, and recovery codes."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recovery_code",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_recovery_code_member_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recovery_code")),
        sa.UniqueConstraint("member_id", "code_hash", name=op.f("uq_recovery_code_member_id_code_hash")),
    )
    with op.batch_alter_table("team_member") as member:
        member.add_column(sa.Column("totp_secret", sa.String(length=200), nullable=True))
        member.add_column(sa.Column("totp_since", sa.DateTime(timezone=True), nullable=True))
        member.add_column(sa.Column("totp_step", sa.Integer(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("team_member") as member:
        member.drop_column("totp_step")
        member.drop_column("totp_since")
        member.drop_column("totp_secret")
    op.drop_table("recovery_code")
