"""When an API key was replaced, and when it was noticed that the old one is still used."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("api_key") as key:
        key.add_column(sa.Column("rotated_at", sa.DateTime(timezone=True), nullable=True))
        key.add_column(sa.Column("warned_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("api_key") as key:
        key.drop_column("warned_at")
        key.drop_column("rotated_at")
