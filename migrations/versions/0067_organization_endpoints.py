"""Organizations have endpoints of their own, and secrets of webhooks are rotated with an overlap.

An event has one row for each of its endpoints, so what was unique is unique in each lane.
"""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None

DELIVERY = "webhook_delivery"
INTERVIEW_EVENT = sa.text("event_type <> 'candidate_status_updated'")
WHERE = {"sqlite_where": INTERVIEW_EVENT, "postgresql_where": INTERVIEW_EVENT}
ENDINGS = ("attempts_used", "held_too_long", "recording_revoked", "dismissed", "payload_deleted")
ENDING = "ck_webhook_delivery_ending"
BY_LANE = {
    "uq_webhook_delivery_subject_sequence_lane": ["subject", "sequence", "lane"],
    "uq_webhook_delivery_event_id_lane": ["event_id", "lane"],
}
BEFORE = {
    "uq_webhook_delivery_subject_sequence": ["subject", "sequence"],
    "uq_webhook_delivery_event_id": ["event_id"],
}
EVENT_BY_LANE, EVENT_BEFORE = "uq_webhook_delivery_interview_event_lane", "uq_webhook_delivery_interview_event"
LISTED = "ix_webhook_delivery_organization_id_created_at_id"


def _columns() -> list[tuple[str, sa.Column[object]]]:
    moment = sa.DateTime(timezone=True)
    return [
        ("interview_flow", sa.Column("webhook_old_secret_sealed", sa.Text(), nullable=True)),
        ("interview_flow", sa.Column("webhook_old_secret_until", moment, nullable=True)),
        ("webhook_endpoint", sa.Column("is_organizations", sa.Boolean(), server_default=sa.false(), nullable=False)),
        ("webhook_endpoint", sa.Column("secret_sealed", sa.Text(), nullable=True)),
        ("webhook_endpoint", sa.Column("old_secret_sealed", sa.Text(), nullable=True)),
        ("webhook_endpoint", sa.Column("old_secret_until", moment, nullable=True)),
        ("webhook_endpoint", sa.Column("removed_at", moment, nullable=True)),
        (DELIVERY, sa.Column("lane", sa.String(36), server_default="", nullable=False)),
    ]


def _ending(*more: str) -> str:
    return f"ending IN ({', '.join(repr(word) for word in (*ENDINGS, *more))})"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _upgrade_sqlite()
    else:
        _upgrade_postgresql()


def _upgrade_sqlite() -> None:
    for table, column in _columns():
        op.add_column(table, column)
    op.drop_index(EVENT_BEFORE, table_name=DELIVERY)
    with op.batch_alter_table(DELIVERY) as delivery:
        for name in BEFORE:
            delivery.drop_constraint(op.f(name), type_="unique")
        for name, columns in BY_LANE.items():
            delivery.create_unique_constraint(op.f(name), columns)
        delivery.drop_constraint(op.f(ENDING), type_="check")
        delivery.create_check_constraint(op.f(ENDING), _ending("endpoint_removed"))
    op.create_index(EVENT_BY_LANE, DELIVERY, ["event_type", "subject", "lane"], unique=True, **WHERE)
    op.create_index(LISTED, DELIVERY, ["organization_id", "created_at", "id"])


def _upgrade_postgresql() -> None:
    """What broke off in the middle can run again: indexes are built while the release before goes on writing."""
    for table, column in _columns():
        op.add_column(table, column, if_not_exists=True)
    unique = {**BY_LANE, EVENT_BY_LANE: ["event_type", "subject", "lane"]}
    with op.get_context().autocommit_block():
        # It waits until transactions that began before it are over, and keeps no one waiting meanwhile.
        op.execute("SET lock_timeout = 0")
        for name in BY_LANE:
            op.drop_constraint(op.f(name), DELIVERY, type_="unique", if_exists=True)
        for name, columns in {**unique, LISTED: ["organization_id", "created_at", "id"]}.items():
            op.drop_index(name, table_name=DELIVERY, if_exists=True, postgresql_concurrently=True)
            where = {"postgresql_where": INTERVIEW_EVENT} if name == EVENT_BY_LANE else {}
            op.create_index(name, DELIVERY, columns, unique=name in unique, postgresql_concurrently=True, **where)
        op.execute("RESET lock_timeout")
    op.execute(
        "ALTER TABLE webhook_delivery"
        " ADD CONSTRAINT uq_webhook_delivery_subject_sequence_lane"
        " UNIQUE USING INDEX uq_webhook_delivery_subject_sequence_lane,"
        " ADD CONSTRAINT uq_webhook_delivery_event_id_lane UNIQUE USING INDEX uq_webhook_delivery_event_id_lane"
    )
    for name in BEFORE:
        op.drop_constraint(op.f(name), DELIVERY, type_="unique", if_exists=True)
    op.drop_index(EVENT_BEFORE, table_name=DELIVERY, if_exists=True)
    op.drop_constraint(op.f(ENDING), DELIVERY, type_="check", if_exists=True)
    # Rows that are there had the narrower rule. They are checked afterwards, while others write.
    op.create_check_constraint(op.f(ENDING), DELIVERY, _ending("endpoint_removed"), postgresql_not_valid=True)
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE webhook_delivery VALIDATE CONSTRAINT ck_webhook_delivery_ending")


def downgrade() -> None:
    # The release before knows one row for each event: the first is that for the flow's own URL.
    op.execute(
        "DELETE FROM webhook_attempt WHERE delivery_id IN"
        " (SELECT later.id FROM webhook_delivery AS later JOIN webhook_delivery AS first"
        " ON first.subject = later.subject AND first.sequence = later.sequence AND first.lane < later.lane)"
    )
    op.execute(
        "DELETE FROM webhook_delivery WHERE id IN"
        " (SELECT later.id FROM webhook_delivery AS later JOIN webhook_delivery AS first"
        " ON first.subject = later.subject AND first.sequence = later.sequence AND first.lane < later.lane)"
    )
    op.execute("UPDATE webhook_delivery SET ending = 'dismissed' WHERE ending = 'endpoint_removed'")
    op.drop_index(LISTED, table_name=DELIVERY)
    op.drop_index(EVENT_BY_LANE, table_name=DELIVERY)
    with op.batch_alter_table(DELIVERY) as delivery:
        for name in BY_LANE:
            delivery.drop_constraint(op.f(name), type_="unique")
        for name, columns in BEFORE.items():
            delivery.create_unique_constraint(op.f(name), columns)
        delivery.drop_constraint(op.f(ENDING), type_="check")
        delivery.create_check_constraint(op.f(ENDING), _ending())
        delivery.drop_column("lane")
    op.create_index(EVENT_BEFORE, DELIVERY, ["event_type", "subject"], unique=True, **WHERE)
    for table, column in reversed(_columns()):
        if table != DELIVERY:
            op.drop_column(table, column.name)
