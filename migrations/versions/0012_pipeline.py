"""Statuses that an organization names itself, and a board over all flows."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("pipeline_status") as status:
        status.add_column(sa.Column("purpose", sa.String(length=20), nullable=True))
    op.create_index(
        op.f("ix_candidate_organization_id_status_created_at"),
        "candidate",
        ["organization_id", "status", "created_at"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_candidate_organization_id_status_created_at"), table_name="candidate")
    with op.batch_alter_table("pipeline_status") as status:
        status.drop_column("purpose")
