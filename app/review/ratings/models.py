"""Table of members' ratings."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import TeamMember
from app.core.db import Base, Id, Ref

LONGEST_COMMENT = 2_000
OVERALL = "overall"
COMPETENCES = {
    "communication": "Communication",
    "motivation": "Motivation",
    "skills": "Skills",
    "language_vocabulary_and_expression": "Language: vocabulary and expression",
    "language_grammar_and_structure": "Language: grammar and structure",
    "language_fluency_and_pace": "Language: fluency and pace",
    "language_comprehension": "Language: comprehension",
    OVERALL: "Overall",
}
"""What members can rate: the competences of the scores, and the interview overall, which the AI does not score."""
APART = 0.5
"""A rating that differs from the AI's score by more than this needs a reason."""
VALUES = tuple(step / 2 for step in range(11))
"""0 to 5 in steps of 0.5, because people do not distinguish tenths."""


class Assessment(Base):
    """One member's rating of one competence in one interview: ``value`` as in VALUES, a ``comment``, or both.

    The answer to a question is rated the same way, without a comment; its ``competence`` is ``question_1`` and so on.

    ``reason`` is why the rating differs from the score; members who rate first are asked for it afterwards.
    """

    __tablename__ = "assessment"
    __table_args__ = (sa.UniqueConstraint("interview_id", "member_id", "competence"),)

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    interview_id: Mapped[Ref] = mapped_column(sa.ForeignKey("interview.id"))
    member_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"), index=True)
    competence: Mapped[str] = mapped_column(sa.String(50))
    value: Mapped[float | None]
    comment: Mapped[str | None] = mapped_column(sa.Text)
    reason: Mapped[str | None] = mapped_column(sa.Text)
    changed_at: Mapped[datetime]

    member: Mapped[TeamMember] = relationship()
