"""Turns say which voice chunks they have dealt with, so that speech which no turn has taken can be found."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

NEW = ("segment", "first_chunk", "last_chunk")


def upgrade() -> None:
    for name in NEW:
        op.add_column("turn", sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    for name in NEW:
        op.drop_column("turn", name)
