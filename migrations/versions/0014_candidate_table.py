"""What the list of candidates is filtered and sorted by: tags, score, review; views that members keep."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("candidate") as candidate:
        candidate.add_column(sa.Column("interviewed_at", sa.DateTime(timezone=True), nullable=True))
        candidate.add_column(sa.Column("score", sa.Double(), nullable=True))
        candidate.add_column(sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(op.f("ix_candidate_organization_id_score"), "candidate", ["organization_id", "score"], unique=False)
    op.create_table(
        "candidate_tag",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("candidate_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=50), nullable=False),
        sa.ForeignKeyConstraint(["candidate_id"], ["candidate.id"], name=op.f("fk_candidate_tag_candidate_id")),
        sa.ForeignKeyConstraint(
            ["organization_id"], ["organization.id"], name=op.f("fk_candidate_tag_organization_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidate_tag")),
        sa.UniqueConstraint("candidate_id", "name", name=op.f("uq_candidate_tag_candidate_id_name")),
    )
    op.create_index(
        op.f("ix_candidate_tag_organization_id_name"), "candidate_tag", ["organization_id", "name"], unique=False
    )
    op.create_table(
        "saved_view",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("member_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("query", sa.String(length=2000), nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_saved_view_member_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_view")),
        sa.UniqueConstraint("member_id", "name", name=op.f("uq_saved_view_member_id_name")),
    )


def downgrade() -> None:
    op.drop_table("saved_view")
    op.drop_index(op.f("ix_candidate_tag_organization_id_name"), table_name="candidate_tag")
    op.drop_table("candidate_tag")
    op.drop_index(op.f("ix_candidate_organization_id_score"), table_name="candidate")
    with op.batch_alter_table("candidate") as candidate:
        candidate.drop_column("reviewed_at")
        candidate.drop_column("score")
        candidate.drop_column("interviewed_at")
