"""Test keys, the interviews that they book, and the candidates of those, apart from people."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def _mark() -> sa.Column[bool]:
    return sa.Column("is_test", sa.Boolean(), server_default=sa.false(), nullable=False)


def upgrade() -> None:
    with op.batch_alter_table("api_key") as key:
        key.add_column(_mark())
    with op.batch_alter_table("interview") as interview:
        interview.add_column(_mark())
    op.create_index(
        "ix_interview_test",
        "interview",
        ["organization_id", "status"],
        sqlite_where=sa.text("is_test = 1"),
        postgresql_where=sa.text("is_test"),
    )
    with op.batch_alter_table("candidate") as candidate:
        candidate.add_column(_mark())
        candidate.drop_constraint("uq_candidate_flow_id_address", type_="unique")
        candidate.create_unique_constraint(
            op.f("uq_candidate_flow_id_address_is_test"), ["flow_id", "address", "is_test"]
        )


def downgrade() -> None:
    with op.batch_alter_table("candidate") as candidate:
        candidate.drop_constraint("uq_candidate_flow_id_address_is_test", type_="unique")
        candidate.create_unique_constraint(op.f("uq_candidate_flow_id_address"), ["flow_id", "address"])
        candidate.drop_column("is_test")
    op.drop_index("ix_interview_test", table_name="interview")
    with op.batch_alter_table("interview") as interview:
        interview.drop_column("is_test")
    with op.batch_alter_table("api_key") as key:
        key.drop_column("is_test")
