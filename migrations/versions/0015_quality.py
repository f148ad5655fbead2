"""How well an interview was recorded and heard."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quality_report",
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_quality_report_interview_id")),
        sa.PrimaryKeyConstraint("interview_id", name=op.f("pk_quality_report")),
    )
    with op.batch_alter_table("recorder_run") as run:
        run.add_column(sa.Column("device", sa.JSON(none_as_null=True), nullable=True))
    with op.batch_alter_table("turn") as turn:
        turn.add_column(sa.Column("interrupted", sa.Boolean(), nullable=True))
    with op.batch_alter_table("utterance") as utterance:
        utterance.add_column(sa.Column("confidence", sa.Double(), nullable=True))
        utterance.add_column(sa.Column("weak", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("utterance") as utterance:
        utterance.drop_column("weak")
        utterance.drop_column("confidence")
    with op.batch_alter_table("turn") as turn:
        turn.drop_column("interrupted")
    with op.batch_alter_table("recorder_run") as run:
        run.drop_column("device")
    op.drop_table("quality_report")
