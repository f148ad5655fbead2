"""Which endpoint an attempt went to: how an endpoint does is then read from one index.

Figures leave out what the release before this one sends while both are running.
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("webhook_attempt") as attempt:
        attempt.add_column(sa.Column("endpoint_id", sa.String(length=36), nullable=True))
        attempt.create_foreign_key(op.f("fk_webhook_attempt_endpoint_id"), "webhook_endpoint", ["endpoint_id"], ["id"])
    op.execute(
        "UPDATE webhook_attempt SET endpoint_id = ("
        "SELECT e.id FROM webhook_delivery AS d"
        " JOIN webhook_endpoint AS e ON e.organization_id = d.organization_id AND e.url = webhook_attempt.url"
        " WHERE d.id = webhook_attempt.delivery_id)"
    )
    op.create_index(
        op.f("ix_webhook_attempt_endpoint_id_at_status_seconds"),
        "webhook_attempt",
        ["endpoint_id", "at", "status", "seconds"],
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_webhook_attempt_endpoint_id_at_status_seconds"), table_name="webhook_attempt")
    with op.batch_alter_table("webhook_attempt") as attempt:
        attempt.drop_constraint(op.f("fk_webhook_attempt_endpoint_id"), type_="foreignkey")
        attempt.drop_column("endpoint_id")
