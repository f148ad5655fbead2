"""Statuses have a meaning, and moves that decide about a candidate leave a decision record."""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

MEANINGS = {
    "invited": "open",
    "interviewed": "open",
    "shortlisted": "advanced",
    "accepted": "accepted",
    "rejected": "rejected",
    "withdrawn": "withdrawn",
}
"""What the six built-in statuses mean, under the names that they have from the beginning."""
WHOSE = "(SELECT current_setting('parley.organization', true))"
TABLES = ("decision_record", "decision_reason", "decision_rule")


def upgrade() -> None:
    op.add_column("pipeline_status", sa.Column("meaning", sa.String(20), nullable=True))
    status = sa.table("pipeline_status", *(sa.column(name, sa.String) for name in ("name", "purpose", "meaning")))
    # Where candidates start and where results come in are open under any name: Parley moves candidates there.
    op.execute(sa.update(status).where(status.c.purpose.is_not(None)).values(meaning="open"))
    for name, meaning in MEANINGS.items():
        unset = (status.c.meaning.is_(None), sa.func.lower(status.c.name) == name)
        op.execute(sa.update(status).where(*unset).values(meaning=meaning))
    _tables()
    if op.get_bind().dialect.name == "postgresql":
        for table in TABLES:
            mine = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE organization_id = {WHOSE} END"
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({mine}) WITH CHECK ({mine})')


def _tables() -> None:
    op.create_table(
        "decision_rule",
        _text("organization_id"),
        sa.Column("requires_reason", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("months", sa.Integer(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("organization_id", name="pk_decision_rule"),
        _parent("decision_rule", "organization_id", "organization"),
    )
    op.create_table(
        "decision_reason",
        _text("id"),
        _text("organization_id"),
        _text("code"),
        _text("meaning", 20),
        _text("label", 100),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_decision_reason"),
        _parent("decision_reason", "organization_id", "organization"),
        sa.UniqueConstraint("organization_id", "code", name="uq_decision_reason_organization_id_code"),
    )
    parents = {
        "organization_id": "organization",
        "flow_id": "interview_flow",
        "candidate_id": "candidate",
        "by_id": "team_member",
        "withdrawn_by_id": "team_member",
    }
    op.create_table(
        "decision_record",
        _text("id"),
        _text("organization_id"),
        _text("flow_id"),
        _text("candidate_id", nullable=True),
        _text("pseudonym", nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        _text("previous", 100),
        _text("status", 100),
        _text("meaning", 20),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        _text("by_id", nullable=True),
        _text("decided_by", 320, nullable=True),
        _text("source", 20),
        _text("reason_code", nullable=True),
        _text("reason", 100, nullable=True),
        sa.Column("criteria_version", sa.Integer(), nullable=True),
        sa.Column("score_version", sa.Integer(), nullable=True),
        sa.Column("own_rating", sa.Double(), nullable=True),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        _text("withdrawn_by_id", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_decision_record"),
        *(_parent("decision_record", column, parent) for column, parent in parents.items()),
        sa.UniqueConstraint("candidate_id", "number", name="uq_decision_record_candidate_id_number"),
    )
    op.create_index("ix_decision_record_organization_id_at", "decision_record", ["organization_id", "at"])


def _text(name: str, length: int = 36, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=nullable)


def _parent(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=f"fk_{table}_{column}")


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
    op.drop_column("pipeline_status", "meaning")
