"""Emails that members write to candidates, the templates for them, and mail that waits before it is sent."""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

WHOSE = "(SELECT current_setting('parley.organization', true))"
TABLES = ("message_template", "personal_message")


def upgrade() -> None:
    op.add_column("letter", sa.Column("lapses", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.create_table(
        "message_template",
        _text("id"),
        _text("organization_id"),
        _text("name", 100),
        _text("purpose", 20),
        _text("language", 10),
        _text("subject", 200),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_message_template"),
        _parent("message_template", "organization_id", "organization"),
        sa.UniqueConstraint("organization_id", "name", name="uq_message_template_organization_id_name"),
    )
    parents = {
        "organization_id": "organization",
        "interview_id": "interview",
        "letter_id": "letter",
        "by_id": "team_member",
    }
    op.create_table(
        "personal_message",
        _text("id"),
        _text("organization_id"),
        _text("batch"),
        _text("interview_id"),
        _text("letter_id"),
        _text("by_id"),
        _text("template", 100, nullable=True),
        sa.Column("is_rejection", sa.Boolean(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        _text("language", 10),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_personal_message"),
        *(_parent("personal_message", column, parent) for column, parent in parents.items()),
        sa.UniqueConstraint("batch", "interview_id", name="uq_personal_message_batch_interview_id"),
    )
    for columns in (["interview_id"], ["letter_id"], ["organization_id", "created_at"]):
        op.create_index(f"ix_personal_message_{'_'.join(columns)}", "personal_message", columns)
    if op.get_bind().dialect.name == "postgresql":
        for table in TABLES:
            mine = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE organization_id = {WHOSE} END"
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({mine}) WITH CHECK ({mine})')


def _text(name: str, length: int = 36, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=nullable)


def _parent(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=f"fk_{table}_{column}")


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
    op.drop_column("letter", "lapses")
