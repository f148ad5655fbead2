"""Links of flows by which everybody gets an interview of their own, and who came by them lately."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "flow_link",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("token", sa.String(length=43), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("renewed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("most", sa.Integer(), nullable=True),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("came", sa.Integer(), nullable=False),
        sa.Column("off_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("visited_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["flow_id"], ["interview_flow.id"], name=op.f("fk_flow_link_flow_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_flow_link_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flow_link")),
        sa.UniqueConstraint("flow_id", name=op.f("uq_flow_link_flow_id")),
        sa.UniqueConstraint("token", name=op.f("uq_flow_link_token")),
    )
    op.create_table(
        "flow_visit",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("link_id", sa.String(length=36), nullable=False),
        sa.Column("network", sa.String(length=64), nullable=False),
        sa.Column("browser", sa.String(length=64), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_flow_visit_interview_id")),
        sa.ForeignKeyConstraint(["link_id"], ["flow_link.id"], name=op.f("fk_flow_visit_link_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flow_visit")),
    )
    op.create_index(op.f("ix_flow_visit_interview_id"), "flow_visit", ["interview_id"], unique=False)
    op.create_index(op.f("ix_flow_visit_link_id_at"), "flow_visit", ["link_id", "at"], unique=False)
    op.create_index(op.f("ix_flow_visit_network_at"), "flow_visit", ["network", "at"], unique=False)


def downgrade() -> None:
    op.drop_table("flow_visit")
    op.drop_table("flow_link")
