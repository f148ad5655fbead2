"""API keys can be read only, limited to teams and flows, and without secrets."""

import sqlalchemy as sa
from alembic import op

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("api_key", sa.Column("is_read_only", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("api_key", sa.Column("hides_secrets", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("api_key", sa.Column("team_ids", sa.JSON(), nullable=True))
    op.add_column("api_key", sa.Column("flow_ids", sa.JSON(), nullable=True))


def downgrade() -> None:
    for name in ("flow_ids", "team_ids", "hides_secrets", "is_read_only"):
        op.drop_column("api_key", name)
