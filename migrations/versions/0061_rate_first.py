"""Members rate before they see scores: the switch of organizations and flows, and who saw scores without rating."""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

TABLE = "score_reveal"


def upgrade() -> None:
    op.add_column("organization", sa.Column("rates_first", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("interview_flow", sa.Column("rates_first", sa.Boolean(), nullable=True))
    op.add_column("login", sa.Column("scores_shown_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("assessment", sa.Column("reason", sa.Text(), nullable=True))
    parents = {"organization_id": "organization", "interview_id": "interview", "member_id": "team_member"}
    op.create_table(
        TABLE,
        sa.Column("id", sa.String(36), nullable=False),
        *(sa.Column(name, sa.String(36), nullable=False) for name in parents),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{TABLE}"),
        *(
            sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=f"fk_{TABLE}_{column}")
            for column, parent in parents.items()
        ),
        sa.UniqueConstraint("interview_id", "member_id", name=f"uq_{TABLE}_interview_id_member_id"),
    )
    op.create_index(f"ix_{TABLE}_member_id", TABLE, ["member_id"])
    if op.get_bind().dialect.name == "postgresql":
        _secure()


def _secure() -> None:
    op.execute('ALTER TABLE "score_reveal" ENABLE ROW LEVEL SECURITY')
    op.execute('ALTER TABLE "score_reveal" FORCE ROW LEVEL SECURITY')
    op.execute(
        """
        CREATE POLICY own_rows ON "score_reveal"
        USING (CASE (SELECT current_setting('parley.organization', true)) WHEN 'everyone' THEN true
            ELSE organization_id = (SELECT current_setting('parley.organization', true)) END)
        WITH CHECK (CASE (SELECT current_setting('parley.organization', true)) WHEN 'everyone' THEN true
            ELSE organization_id = (SELECT current_setting('parley.organization', true)) END)
        """
    )


def downgrade() -> None:
    op.drop_table(TABLE)
    op.drop_column("assessment", "reason")
    op.drop_column("login", "scores_shown_at")
    op.drop_column("interview_flow", "rates_first")
    op.drop_column("organization", "rates_first")
