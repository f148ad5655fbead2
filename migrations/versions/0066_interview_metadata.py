"""What customers' programs keep about interviews, found again by the id in their own system."""

from typing import NamedTuple

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

NOTES_CHANGE = {
    "sqlite": "INSERT OR REPLACE INTO change (organization_id, kind, object_id, flow_id, is_deleted, at, txid)"
    " SELECT {row}.organization_id, 'interview_metadata', {row}.interview_id, flow_id, {gone},"
    " strftime('%Y-%m-%d %H:%M:%f000', 'now'), 0"
    " FROM change WHERE kind = 'interview' AND object_id = {row}.interview_id",
    "postgresql": "INSERT INTO change (organization_id, kind, object_id, flow_id, is_deleted, at, txid)"
    " SELECT {row}.organization_id, 'interview_metadata', {row}.interview_id, flow_id, {gone},"
    " clock_timestamp(), CAST(CAST(pg_current_xact_id() AS text) AS bigint)"
    " FROM change WHERE kind = 'interview' AND object_id = {row}.interview_id"
    " ON CONFLICT (kind, object_id, organization_id) DO UPDATE SET number = EXCLUDED.number,"
    " txid = EXCLUDED.txid, at = EXCLUDED.at, is_deleted = EXCLUDED.is_deleted, flow_id = EXCLUDED.flow_id",
}
"""Moves the metadata to the newest position of the feed of changes, as the triggers of 0065 do."""


class Trigger(NamedTuple):
    """What runs after a change of a row; with a condition for an UPDATE."""

    name: str
    when: str
    row: str = "NEW"
    gone: str = "false"


TRIGGERS = (
    Trigger("metadata_added", "INSERT"),
    Trigger("metadata_changed", "UPDATE"),
    Trigger("metadata_deleted", "DELETE", "OLD", "true"),
)
DIFFERS = {"sqlite": "NEW.pairs IS NOT OLD.pairs", "postgresql": "NEW.pairs::text <> OLD.pairs::text"}
WHOSE = "(SELECT current_setting('parley.organization', true))"
ALLOWED = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE organization_id = {WHOSE} END"


def upgrade() -> None:
    op.create_table(
        "interview_metadata",
        sa.Column("interview_id", sa.String(36), sa.ForeignKey("interview.id"), primary_key=True),
        sa.Column("organization_id", sa.String(36), sa.ForeignKey("organization.id"), nullable=False),
        sa.Column("pairs", sa.JSON(), nullable=False),
        sa.Column("external_id", sa.String(128), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index(
        "ix_interview_metadata_organization_id_external_id", "interview_metadata", ["organization_id", "external_id"]
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE interview_metadata ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE interview_metadata FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_rows ON interview_metadata USING ({ALLOWED}) WITH CHECK ({ALLOWED})")
    for trigger in TRIGGERS:
        _create(trigger, op.get_bind().dialect.name)


def _create(trigger: Trigger, db: str) -> None:
    name, body = f"change_{trigger.name}", NOTES_CHANGE[db].format(row=trigger.row, gone=trigger.gone)
    when = f"WHEN ({DIFFERS[db]})" if trigger.when == "UPDATE" else ""
    if db == "sqlite":
        op.execute(f"CREATE TRIGGER {name} AFTER {trigger.when} ON interview_metadata {when} BEGIN {body}; END")
        return
    op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NULL; END $$")
    op.execute(
        f"CREATE TRIGGER {name} AFTER {trigger.when} ON interview_metadata FOR EACH ROW {when}"
        f" EXECUTE FUNCTION {name}()"
    )


def downgrade() -> None:
    op.drop_table("interview_metadata")
    if op.get_bind().dialect.name == "postgresql":
        for trigger in TRIGGERS:
            op.execute(f"DROP FUNCTION change_{trigger.name}()")
