"""Rows of an organization's own templates and of its question bank. Both belong to a team, as flows do."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.accounts.models import Team
from app.core.db import Base, CreatedAt, Id, Moment, Ref

LONGEST_NAME = 300
"""Characters of a template's name: as many as a flow's title."""
LONGEST_TAG = 40
MOST_TAGS = 10
LONGEST_NOTE = 2_000
MOST_TEMPLATES = 200
MOST_QUESTIONS_KEPT = 2_000
"""Templates and bank questions of one team."""


class FlowTemplate(Base):
    """The settings of a flow under a name of its own, to start flows from. Later changes of the flow do not change it.

    ``values`` are columns of the flow by name (``actions.kept``).
    """

    __tablename__ = "flow_template"
    __table_args__ = (sa.UniqueConstraint("team_id", "name"), sa.Index(None, "organization_id", "team_id"))

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"))
    by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    created_at: Mapped[CreatedAt]
    name: Mapped[str] = mapped_column(sa.String(LONGEST_NAME))
    values: Mapped[dict[str, Any]]

    team: Mapped[Team] = relationship()


class BankQuestion(Base):
    """A question to reuse. ``fingerprint`` names its words without case and punctuation, once for each team."""

    __tablename__ = "bank_question"
    __table_args__ = (
        sa.UniqueConstraint("team_id", "fingerprint"),
        sa.Index(None, "organization_id", "team_id", "created_at"),
    )

    id: Mapped[Id]
    organization_id: Mapped[Ref] = mapped_column(sa.ForeignKey("organization.id"))
    team_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team.id"))
    by_id: Mapped[Ref] = mapped_column(sa.ForeignKey("team_member.id"))
    created_at: Mapped[CreatedAt]
    changed_at: Mapped[datetime | None] = mapped_column(Moment())
    text: Mapped[str] = mapped_column(sa.Text)
    fingerprint: Mapped[str] = mapped_column(sa.String(64))
    language: Mapped[str] = mapped_column(sa.String(8))
    tag_words: Mapped[str] = mapped_column(sa.String((LONGEST_TAG + 1) * MOST_TAGS), default="")
    """The tags in alphabetical order, with a comma between two."""
    note: Mapped[str | None] = mapped_column(sa.Text)
    """What a good answer shows."""
    overruled: Mapped[str | None] = mapped_column(sa.Text)
    """Why the question is kept although it asks about a forbidden topic."""

    team: Mapped[Team] = relationship()

    @property
    def tags(self) -> list[str]:
        """The tags in alphabetical order."""
        return self.tag_words.split(",") if self.tag_words else []
