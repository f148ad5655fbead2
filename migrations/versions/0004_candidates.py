"""Tables of the room candidates."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pipeline_status",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_pipeline_status_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_status")),
        sa.UniqueConstraint("organization_id", "name", name=op.f("uq_pipeline_status_organization_id_name")),
    )
    op.create_table(
        "candidate",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("team_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("address", sa.String(length=320), nullable=False),
        sa.Column("first_name", sa.String(length=300), nullable=True),
        sa.Column("last_name", sa.String(length=300), nullable=True),
        sa.Column("status", sa.String(length=100), nullable=False),
        sa.Column("status_changes", sa.Integer(), nullable=False),
        sa.Column("assigned_recruiter_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assigned_recruiter_id"], ["team_member.id"], name=op.f("fk_candidate_assigned_recruiter_id")
        ),
        sa.ForeignKeyConstraint(["flow_id"], ["interview_flow.id"], name=op.f("fk_candidate_flow_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_candidate_organization_id")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_candidate_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidate")),
        sa.UniqueConstraint("flow_id", "address", name=op.f("uq_candidate_flow_id_address")),
    )
    op.create_index(
        op.f("ix_candidate_flow_id_status_created_at"), "candidate", ["flow_id", "status", "created_at"], unique=False
    )
    op.create_index(
        op.f("ix_candidate_organization_id_created_at_id"),
        "candidate",
        ["organization_id", "created_at", "id"],
        unique=False,
    )
    op.create_table(
        "status_change",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("candidate_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("previous", sa.String(length=100), nullable=False),
        sa.Column("new", sa.String(length=100), nullable=False),
        sa.Column("by_id", sa.String(length=36), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["by_id"], ["team_member.id"], name=op.f("fk_status_change_by_id")),
        sa.ForeignKeyConstraint(["candidate_id"], ["candidate.id"], name=op.f("fk_status_change_candidate_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_status_change")),
        sa.UniqueConstraint("candidate_id", "number", name=op.f("uq_status_change_candidate_id_number")),
    )


def downgrade() -> None:
    op.drop_table("status_change")
    op.drop_index(op.f("ix_candidate_organization_id_created_at_id"), table_name="candidate")
    op.drop_index(op.f("ix_candidate_flow_id_status_created_at"), table_name="candidate")
    op.drop_table("candidate")
    op.drop_table("pipeline_status")
