"""Bulk changes of candidates run as jobs: the changes, and their candidates."""

import sqlalchemy as sa
from alembic import op

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
UNDER_WAY = sa.text("state IN ('waiting', 'working')")
WHOSE = "(SELECT current_setting('parley.organization', true))"
OWNED = {
    "bulk_change": f"organization_id = {WHOSE}",
    "bulk_row": "EXISTS (SELECT 1 FROM bulk_change WHERE bulk_change.id = bulk_row.bulk_change_id)",
}


def upgrade() -> None:
    _make_tables()
    if op.get_bind().dialect.name == "postgresql":
        for table, condition in OWNED.items():
            allowed = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE {condition} END"
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({allowed}) WITH CHECK ({allowed})')


def _make_tables() -> None:
    op.create_table(
        "bulk_change",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("organization_id", sa.String(36), sa.ForeignKey("organization.id"), nullable=False),
        sa.Column("by_id", sa.String(36), sa.ForeignKey("team_member.id"), nullable=False),
        sa.Column("undoes_id", sa.String(36), sa.ForeignKey("bulk_change.id"), nullable=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("value", sa.String(100), nullable=False),
        sa.Column("reason", sa.String(36), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("trouble", sa.String(300), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.UniqueConstraint("undoes_id", name="uq_bulk_change_undoes_id"),
    )
    op.create_index("ix_bulk_change_created_at", "bulk_change", ["created_at"])
    op.create_index("ix_bulk_change_by_id_created_at", "bulk_change", ["by_id", "created_at"])
    op.create_index(
        "ix_bulk_change_due", "bulk_change", ["created_at"], sqlite_where=UNDER_WAY, postgresql_where=UNDER_WAY
    )
    op.create_table(
        "bulk_row",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("bulk_change_id", sa.String(36), sa.ForeignKey("bulk_change.id"), nullable=False),
        sa.Column("candidate_id", sa.String(36), sa.ForeignKey("candidate.id"), nullable=True),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=True),
        sa.Column("reason", sa.String(300), nullable=True),
    )
    op.create_index("ix_bulk_row_bulk_change_id_place", "bulk_row", ["bulk_change_id", "place"])
    op.create_index("ix_bulk_row_candidate_id", "bulk_row", ["candidate_id"])


def downgrade() -> None:
    op.drop_table("bulk_row")
    op.drop_table("bulk_change")
