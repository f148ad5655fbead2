"""What the summary and scores of a counted interview cost at the language model: calls and tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("model_calls", "model_tokens"):
        op.add_column("usage_record", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    for name in ("model_tokens", "model_calls"):
        op.drop_column("usage_record", name)
