"""The form of a scorecard: a rating and a comment for each competence."""

from collections.abc import Iterable, Mapping
from typing import Any

from flask_wtf import FlaskForm
from wtforms import SelectField, TextAreaField

from app.review.ratings.actions import Opinion
from app.review.ratings.models import COMPETENCES, LONGEST_COMMENT, VALUES, Assessment
from app.web.fields import flaw_of

CHOICES = {"": "Not rated", **{f"{value:.1f}": f"{value:.1f}" for value in reversed(VALUES)}}


class ScorecardForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Fields ``skills_value`` and ``skills_comment`` for each competence."""

    def keep_only(self, competences: Iterable[str]) -> None:
        """Remove the fields of competences that are not rated in this interview."""
        for name in set(COMPETENCES) - set(competences):
            del self[f"{name}_value"]
            del self[f"{name}_comment"]

    def opinions(self, competences: Iterable[str]) -> dict[str, Opinion]:
        """The submitted ratings, valid or not."""
        return {name: Opinion(self._value(name), self._comment(name)) for name in competences}

    def blame(self, wrong: Mapping[str, str]) -> None:
        """Show errors at their fields."""
        for name, message in wrong.items():
            self[name].errors = [message]

    def flaws(self, competences: Iterable[str]) -> dict[str, str]:
        """Errors of comments with characters that cannot be stored, by field."""
        flaws = {name: flaw_of(self._comment(name) or "") for name in competences}
        return {f"{name}_comment": flaw for name, flaw in flaws.items() if flaw}

    def _value(self, name: str) -> float | None:
        text = self[f"{name}_value"].data
        return (float(text) if text in CHOICES else -1.0) if text else None

    def _comment(self, name: str) -> str | None:
        return (self[f"{name}_comment"].data or "").replace("\r\n", "\n").strip() or None


for _name, _label in COMPETENCES.items():
    setattr(ScorecardForm, f"{_name}_value", SelectField(_label, choices=CHOICES, validate_choice=False))
    setattr(
        ScorecardForm,
        f"{_name}_comment",
        TextAreaField(f"{_label}: comment", render_kw={"maxlength": LONGEST_COMMENT, "rows": 2}),
    )


def filled(assessments: Mapping[str, Assessment]) -> dict[str, Any]:
    """Form data of the member's saved ratings."""
    values = {f"{name}_value": f"{one.value:.1f}" for name, one in assessments.items() if one.value is not None}
    return {**values, **{f"{name}_comment": one.comment for name, one in assessments.items() if one.comment}}
