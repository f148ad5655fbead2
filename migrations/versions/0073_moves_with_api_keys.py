"""The history tells moves with an API key from those that Parley itself makes. Earlier ones count as Parley's."""

import sqlalchemy as sa
from alembic import op

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("status_change", sa.Column("is_by_api_key", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    op.drop_column("status_change", "is_by_api_key")
