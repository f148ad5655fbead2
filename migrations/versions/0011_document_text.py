"""The text of documents, read by a job."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

STATES = ("pending", "reading", "extracted", "none", "failed")


def upgrade() -> None:
    state = sa.Enum(*STATES, name="textstate", native_enum=False, create_constraint=True, length=32)
    with op.batch_alter_table("document") as batch:
        batch.add_column(sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True))
        batch.add_column(sa.Column("fence", sa.Integer(), nullable=False, server_default="0"))
        batch.add_column(sa.Column("recoveries", sa.Integer(), nullable=False, server_default="0"))
        batch.add_column(sa.Column("text_state", state, nullable=False, server_default="pending"))
        batch.add_column(sa.Column("text", sa.Text(), nullable=True))
        batch.add_column(sa.Column("text_whole", sa.Boolean(), nullable=False, server_default=sa.true()))
        batch.add_column(sa.Column("text_failure", sa.String(length=300), nullable=True))
    with op.batch_alter_table("document") as batch:
        for name in ("fence", "recoveries", "text_state", "text_whole"):
            batch.alter_column(name, server_default=None)
    op.create_index("ix_document_text", "document", ["text_state", "lease_until"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_document_text", table_name="document")
    with op.batch_alter_table("document") as batch:
        batch.drop_constraint(op.f("ck_document_textstate"), type_="check")
        for name in ("text_failure", "text_whole", "text", "text_state", "recoveries", "fence", "lease_until"):
            batch.drop_column(name)
