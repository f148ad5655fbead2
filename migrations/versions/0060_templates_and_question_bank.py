"""Organizations keep their own templates and a bank of questions."""

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

WHOSE = "(SELECT current_setting('parley.organization', true))"
TABLES = ("flow_template", "bank_question")


def upgrade() -> None:
    op.create_table(
        "flow_template",
        *_owned("flow_template"),
        sa.Column("name", sa.String(300), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.UniqueConstraint("team_id", "name", name="uq_flow_template_team_id_name"),
    )
    op.create_index("ix_flow_template_organization_id_team_id", "flow_template", ["organization_id", "team_id"])
    op.create_table(
        "bank_question",
        *_owned("bank_question"),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("tag_words", sa.String(410), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("overruled", sa.Text(), nullable=True),
        sa.UniqueConstraint("team_id", "fingerprint", name="uq_bank_question_team_id_fingerprint"),
    )
    columns = ["organization_id", "team_id", "created_at"]
    op.create_index("ix_bank_question_organization_id_team_id_created_at", "bank_question", columns)
    if op.get_bind().dialect.name == "postgresql":
        for table in TABLES:
            mine = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE organization_id = {WHOSE} END"
            # nosemgrep: sql-put-together - the tables of this file
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            # nosemgrep: sql-put-together - the tables of this file
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            # nosemgrep: sql-put-together - the tables of this file
            op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({mine}) WITH CHECK ({mine})')


def _owned(table: str) -> list[sa.schema.SchemaItem]:
    """The columns and constraints that both tables have."""
    parents = {"organization_id": "organization", "team_id": "team", "by_id": "team_member"}
    return [
        sa.Column("id", sa.String(36), nullable=False),
        *(sa.Column(column, sa.String(36), nullable=False) for column in parents),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        *(
            sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=f"fk_{table}_{column}")
            for column, parent in parents.items()
        ),
    ]


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
