"""The form of a scorecard: a rating and a comment for each competence."""

from collections.abc import Container, Iterable, Mapping
from typing import Any

from flask_wtf import FlaskForm
from wtforms import SelectField, TextAreaField

from app.core.errors import Rejected
from app.flows.criteria import HIGHEST, Criterion
from app.review.ratings.actions import Opinion
from app.review.ratings.models import LONGEST_COMMENT, VALUES, Assessment
from app.web.fields import flaw_of

NONE = {"": "Not rated"}


class ScorecardForm(FlaskForm):  # type: ignore[misc]  # Flask-WTF has no types
    """Fields ``skills_value`` and ``skills_comment`` for each competence; ``scorecard_form`` adds them."""

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
        field = self[f"{name}_value"]
        return value_in(field.data, field.choices)

    def _comment(self, name: str) -> str | None:
        if f"{name}_comment" not in self:
            return None  # an answer
        return (self[f"{name}_comment"].data or "").replace("\r\n", "\n").strip() or None


def scorecard_form(
    competences: Mapping[str, str],
    own: Mapping[str, Criterion],
    questions: Mapping[str, str],
    *,
    data: Mapping[str, Any] | None = None,
) -> ScorecardForm:
    """The form for these competences, by name with their labels, and for the answer to each question. Competences that
    are ``own`` criteria have their scale.
    """
    fields: dict[str, Any] = {}
    for name, label in competences.items():
        fields[f"{name}_value"] = SelectField(label, choices=_choices(own.get(name)), validate_choice=False)
        settings = {"maxlength": LONGEST_COMMENT, "rows": 2}
        fields[f"{name}_comment"] = TextAreaField(f"{label}: comment", render_kw=settings)
    for number, (name, question) in enumerate(questions.items(), 1):
        fields[f"{name}_value"] = SelectField(f"{number}. {question}", choices=_choices(None), validate_choice=False)
    form: ScorecardForm = type("Scorecard", (ScorecardForm,), fields)(data=data)
    return form


def _choices(criterion: Criterion | None) -> dict[str, str]:
    values = (HIGHEST, 0.0) if criterion and criterion.is_yes_no else VALUES[::-1]
    return NONE | {f"{value:.1f}": criterion.shown(value) if criterion else f"{value:.1f}" for value in values}


CHOICES = _choices(None)


def value_in(text: str | None, choices: Container[str] = CHOICES) -> float | None:
    """The chosen rating; None for none, and a value that no one can give for anything else."""
    return (float(text) if text in choices else -1.0) if text else None


def reasons_in(form: Mapping[str, str], competences: Mapping[str, str]) -> dict[str, str | None]:
    """The reasons of a form, by competence. Raises Rejected for a text that cannot be stored."""
    reasons: dict[str, str | None] = {}
    for name, label in competences.items():
        if f"{name}_reason" in form:
            text = form[f"{name}_reason"].replace("\r\n", "\n").strip()
            flaw = flaw_of(text)
            if flaw:
                raise Rejected(f"{label}: {flaw}", field=name)
            reasons[name] = text or None
    return reasons


def filled(assessments: Mapping[str, Assessment]) -> dict[str, Any]:
    """Form data of the member's saved ratings."""
    values = {f"{name}_value": f"{one.value:.1f}" for name, one in assessments.items() if one.value is not None}
    return {**values, **{f"{name}_comment": one.comment for name, one in assessments.items() if one.comment}}
