"""Organizations, teams, members, keys."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "login_failure",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("account", sa.String(length=64), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_failure")),
    )
    op.create_index(op.f("ix_login_failure_account_at"), "login_failure", ["account", "at"], unique=False)
    op.create_index(op.f("ix_login_failure_address_at"), "login_failure", ["address", "at"], unique=False)
    op.create_table(
        "organization",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("interview_seq", sa.Integer(), nullable=False),
        sa.Column("audit_seq", sa.Integer(), nullable=False),
        sa.Column("assess_language", sa.Boolean(), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organization")),
    )
    op.create_table(
        "idempotent_call",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("route", sa.String(length=200), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("committed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_idempotent_call_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_idempotent_call")),
        sa.UniqueConstraint(
            "organization_id", "route", "key", name=op.f("uq_idempotent_call_organization_id_route_key")
        ),
    )
    op.create_index(op.f("ix_idempotent_call_created_at"), "idempotent_call", ["created_at"], unique=False)
    op.create_table(
        "installation",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_installation_only_one")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_installation_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation")),
    )
    op.create_table(
        "team",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("interview_seq", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_team_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
    )
    op.create_index(
        op.f("ix_team_organization_id_created_at_id"), "team", ["organization_id", "created_at", "id"], unique=False
    )
    op.create_table(
        "team_member",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("full_name", sa.String(length=300), nullable=True),
        sa.Column(
            "role",
            sa.Enum("admin", "recruiter", "viewer", name="role", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_team_member_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team_member")),
        sa.UniqueConstraint("email", name=op.f("uq_team_member_email")),
    )
    op.create_index(op.f("ix_team_member_organization_id"), "team_member", ["organization_id"], unique=False)
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("last4", sa.String(length=4), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by_id", sa.String(length=36), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_address", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["created_by_id"], ["team_member.id"], name=op.f("fk_api_key_created_by_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_api_key_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_key")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_api_key_key_hash")),
    )
    op.create_index(op.f("ix_api_key_organization_id"), "api_key", ["organization_id"], unique=False)
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=True),
        sa.Column("action", sa.String(length=100), nullable=False),
        sa.Column("subject", sa.String(length=100), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_audit_entry_member_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_audit_entry_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
        sa.UniqueConstraint("organization_id", "number", name=op.f("uq_audit_entry_organization_id_number")),
    )
    op.create_table(
        "login",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("address", sa.String(length=64), nullable=True),
        sa.Column("browser", sa.String(length=200), nullable=True),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_login_member_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_login_token_hash")),
    )
    op.create_index(op.f("ix_login_member_id"), "login", ["member_id"], unique=False)
    op.create_table(
        "team_membership",
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_team_membership_member_id")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_team_membership_team_id")),
        sa.PrimaryKeyConstraint("team_id", "member_id", name=op.f("pk_team_membership")),
    )
    op.create_index(op.f("ix_team_membership_member_id"), "team_membership", ["member_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_team_membership_member_id"), table_name="team_membership")
    op.drop_table("team_membership")
    op.drop_index(op.f("ix_login_member_id"), table_name="login")
    op.drop_table("login")
    op.drop_table("audit_entry")
    op.drop_index(op.f("ix_api_key_organization_id"), table_name="api_key")
    op.drop_table("api_key")
    op.drop_index(op.f("ix_team_member_organization_id"), table_name="team_member")
    op.drop_table("team_member")
    op.drop_index(op.f("ix_team_organization_id_created_at_id"), table_name="team")
    op.drop_table("team")
    op.drop_table("installation")
    op.drop_index(op.f("ix_idempotent_call_created_at"), table_name="idempotent_call")
    op.drop_table("idempotent_call")
    op.drop_table("organization")
    op.drop_index(op.f("ix_login_failure_address_at"), table_name="login_failure")
    op.drop_index(op.f("ix_login_failure_account_at"), table_name="login_failure")
    op.drop_table("login_failure")
