"""People's own ratings of an interview."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "assessment",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("interview_id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column("competence", sa.String(length=50), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["interview_id"], ["interview.id"], name=op.f("fk_assessment_interview_id")),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_assessment_member_id")),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], name=op.f("fk_assessment_organization_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assessment")),
        sa.UniqueConstraint(
            "interview_id", "member_id", "competence", name=op.f("uq_assessment_interview_id_member_id_competence")
        ),
    )
    op.create_index(op.f("ix_assessment_member_id"), "assessment", ["member_id"], unique=False)


def downgrade() -> None:
    op.drop_table("assessment")
