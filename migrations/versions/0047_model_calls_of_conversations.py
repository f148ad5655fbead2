"""What the conversation of an interview cost at the language model: calls and tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("model_calls", "model_tokens"):
        op.add_column("interview", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    for name in ("model_tokens", "model_calls"):
        op.drop_column("interview", name)
