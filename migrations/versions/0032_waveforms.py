"""How loud recordings are from beginning to end, to be drawn; those that are there already wait to be looked at."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

STATES = ("waiting", "drawing", "drawn", "failed")


def upgrade() -> None:
    op.create_table(
        "waveform",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column(
            "state",
            sa.Enum(*STATES, name="wavestate", native_enum=False, create_constraint=True, length=32),
            nullable=False,
        ),
        sa.Column("peaks", sa.LargeBinary(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_waveform_interview_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_waveform")),
        sa.UniqueConstraint("interview_id", name=op.f("uq_waveform_interview_id")),
    )
    op.create_index(op.f("ix_waveform_state_lease_until"), "waveform", ["state", "lease_until"], unique=False)
    # The id of one of its recordings serves as the row's own: both databases can copy it.
    op.execute(
        "INSERT INTO waveform (id, interview_id, state, fence, recoveries)"
        " SELECT min(id), interview_id, 'waiting', 0, 0 FROM recording"
        " WHERE interview_id NOT IN (SELECT interview_id FROM revocation) GROUP BY interview_id"
    )


def downgrade() -> None:
    op.drop_table("waveform")
