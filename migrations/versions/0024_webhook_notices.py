"""What was mailed of an endpoint that takes nothing, so that it is told once."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("webhook_endpoint") as endpoint:
        endpoint.add_column(sa.Column("told", sa.String(20), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("webhook_endpoint") as endpoint:
        endpoint.drop_column("told")
