"""Tables of the room voice."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agreement",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("text_version", sa.String(length=20), nullable=False),
        sa.Column("locale", sa.String(length=35), nullable=False),
        sa.Column(
            "mode",
            sa.Enum("voice", "text", name="mode", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("agreed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_agreement_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agreement")),
    )
    op.create_index(op.f("ix_agreement_interview_id"), "agreement", ["interview_id"], unique=False)
    op.create_table(
        "sitting",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column(
            "mode",
            sa.Enum("voice", "text", name="mode", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("place", sa.JSON(), nullable=False),
        sa.Column("next_turn", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("paused", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_sitting_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sitting")),
        sa.UniqueConstraint("interview_id", name=op.f("uq_sitting_interview_id")),
    )
    op.create_index("ix_sitting_silent", "sitting", ["ended_at", "heartbeat_at"], unique=False)
    op.create_table(
        "turn",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("sitting_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "begin",
                "answer",
                "text",
                "repeat",
                "skip",
                "end",
                name="turnkind",
                native_enum=False,
                create_constraint=True,
                length=32,
            ),
            nullable=False,
        ),
        sa.Column(
            "state",
            sa.Enum(
                "waiting", "working", "answered", name="turnstate", native_enum=False, create_constraint=True, length=32
            ),
            nullable=False,
        ),
        sa.Column("reply_kind", sa.String(length=20), nullable=True),
        sa.Column("question_index", sa.Integer(), nullable=True),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("expects", sa.String(length=20), nullable=True),
        sa.Column("parts", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("audio_key", sa.String(length=200), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("engine", sa.String(length=100), nullable=True),
        sa.Column("heard_text", sa.Text(), nullable=True),
        sa.Column("detected_ms", sa.Integer(), nullable=True),
        sa.Column("collected_ms", sa.Integer(), nullable=True),
        sa.Column("recognised_ms", sa.Integer(), nullable=True),
        sa.Column("decided_ms", sa.Integer(), nullable=True),
        sa.Column("spoken_ms", sa.Integer(), nullable=True),
        sa.Column("answered_ms", sa.Integer(), nullable=True),
        sa.Column("heard_ms", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["sitting_id"], ["sitting.id"], name=op.f("fk_turn_sitting_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turn")),
        sa.UniqueConstraint("sitting_id", "number", name=op.f("uq_turn_sitting_id_number")),
    )


def downgrade() -> None:
    op.drop_table("turn")
    op.drop_index("ix_sitting_silent", table_name="sitting")
    op.drop_table("sitting")
    op.drop_index(op.f("ix_agreement_interview_id"), table_name="agreement")
    op.drop_table("agreement")
