"""Scores have versions, results can be scored again, and candidates show the overall score of their newest result.

What is there is version 1 and in force, without a row: the release before adds and erases results without knowing of
versions. Lists showed the average of all assessed scores; the overall score leaves language out, and is empty where
less than half was assessed.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

COUNTED = ("communication", "motivation", "skills")
PIECE = 1_000
MOMENT = sa.DateTime(timezone=True)
OPEN = sa.text("state IN ('waiting', 'scoring')")
Figure = Callable[[Mapping[str, float | None]], float | None]
WHOSE = "(SELECT current_setting('parley.organization', true))"
OWNED = {
    "rescoring": f"organization_id = {WHOSE}",
    "rescored": "EXISTS (SELECT 1 FROM interview WHERE interview.id = rescored.interview_id)",
    "score_version": "EXISTS (SELECT 1 FROM interview WHERE interview.id = score_version.interview_id)",
}


def upgrade() -> None:
    _score_all_again(_overall)
    op.add_column("interview_data", sa.Column("version", sa.Integer(), nullable=False, server_default="1"))
    _make_tables()
    if op.get_bind().dialect.name == "postgresql":
        for table, condition in OWNED.items():
            allowed = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE {condition} END"
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({allowed}) WITH CHECK ({allowed})')


def _make_tables() -> None:
    op.create_table(
        "score_version",
        sa.Column("interview_id", sa.String(36), sa.ForeignKey("interview.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("source", sa.String(300), nullable=True),
        sa.Column("criteria", sa.Integer(), nullable=True),
        sa.Column("basis", sa.String(20), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=True),
        sa.Column("requested_by_id", sa.String(36), sa.ForeignKey("team_member.id"), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_table(
        "rescoring",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("organization_id", sa.String(36), sa.ForeignKey("organization.id"), nullable=False),
        sa.Column("flow_id", sa.String(36), sa.ForeignKey("interview_flow.id"), nullable=True),
        sa.Column("requested_by_id", sa.String(36), sa.ForeignKey("team_member.id"), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("cancelled_at", MOMENT, nullable=True),
    )
    op.create_index("ix_rescoring_organization_id_created_at", "rescoring", ["organization_id", "created_at"])
    op.create_table(
        "rescored",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("rescoring_id", sa.String(36), sa.ForeignKey("rescoring.id"), nullable=False),
        sa.Column("interview_id", sa.String(36), sa.ForeignKey("interview.id"), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("reason", sa.String(300), nullable=True),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
    )
    some = {"sqlite_where": OPEN, "postgresql_where": OPEN}
    op.create_index("ix_rescored_open", "rescored", ["interview_id"], unique=True, **some)
    op.create_index("ix_rescored_due", "rescored", ["state", "place"], **some)
    op.create_index("ix_rescored_rescoring_id_place", "rescored", ["rescoring_id", "place"])


def _overall(scores: Mapping[str, float | None]) -> float | None:
    assessed = [value for name in COUNTED if (value := scores.get(name)) is not None]
    return round(sum(assessed) / len(assessed), 1) if 2 * len(assessed) >= len(COUNTED) else None


def _mean(scores: Mapping[str, float | None]) -> float | None:
    assessed = [value for value in scores.values() if value is not None]
    return round(sum(assessed) / len(assessed), 1) if assessed else None


def _score_all_again(figure: Figure) -> None:
    """Can be broken off and repeated. On PostgreSQL nobody waits for it: each statement is committed by itself."""
    if op.get_bind().dialect.name != "postgresql":
        _score_again(figure)
        return
    with op.get_context().autocommit_block():
        op.execute("SET parley.organization = 'everyone'")  # without a transaction nobody has said whose rows these are
        _score_again(figure)


def _score_again(figure: Figure) -> None:
    """Set the score of every candidate with an interview that counts to that of their newest result."""
    connection = op.get_bind()
    ids = list(connection.scalars(sa.text("SELECT id FROM candidate WHERE interviewed_at IS NOT NULL ORDER BY id")))
    newest = sa.text(
        "SELECT interview.candidate_id, interview_data.scores FROM interview"
        " JOIN interview_data ON interview_data.interview_id = interview.id"
        " WHERE interview.candidate_id IN :ids AND interview.withdrawn_at IS NULL AND interview.erased_at IS NULL"
        " ORDER BY interview.completed_at"
    ).bindparams(sa.bindparam("ids", expanding=True))
    change = sa.text("UPDATE candidate SET score = :score WHERE id IN :ids").bindparams(
        sa.bindparam("score", type_=sa.Float), sa.bindparam("ids", expanding=True)
    )
    for first in range(0, len(ids), PIECE):
        rows = connection.execute(newest, {"ids": ids[first : first + PIECE]}).all()
        found = {candidate_id: figure(_read(scores)) for candidate_id, scores in rows}
        for score in set(found.values()):
            same = [candidate_id for candidate_id, value in found.items() if value == score]
            connection.execute(change, {"score": score, "ids": same})


def _read(scores: Any) -> dict[str, float | None]:
    """The column as each database returns it to a plain statement: text or value."""
    return (json.loads(scores) if isinstance(scores, str) else scores) or {}


def downgrade() -> None:
    _score_all_again(_mean)
    for table in ("rescored", "rescoring", "score_version"):
        op.drop_table(table)
    op.drop_column("interview_data", "version")
