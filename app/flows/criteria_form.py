"""A flow's own criteria in its form: their fields, buttons and rules."""

from collections.abc import Mapping, Sequence
from typing import Any

import marshmallow as ma
from wtforms import BooleanField, FieldList, Form, FormField, SelectField, StringField, TextAreaField

from app.flows.criteria import (
    LONGEST_GOOD,
    LONGEST_NAME,
    MOST_CRITERIA,
    MOST_WEIGHT,
    SCALES,
    Criterion,
    Scale,
    plain,
)
from app.web.fields import Choice, Flag, Several, Text

WEIGHTS = {str(n): "0 (not counted)" if n == 0 else str(n) for n in range(MOST_WEIGHT + 1)}
TOO_MANY = f"A flow can have at most {MOST_CRITERIA} criteria. Remove some, or combine related ones."
LOST = "The criteria were not changed."


class CriterionForm(Form):  # type: ignore[misc]
    """The fields of one criterion."""

    name = StringField("Name", render_kw={"maxlength": LONGEST_NAME})
    good = TextAreaField("What good looks like", render_kw={"maxlength": LONGEST_GOOD, "rows": 2})
    weight = SelectField("Weight", choices=WEIGHTS, default="1", validate_choice=False)
    scale = SelectField("Shown as", choices=SCALES, default=Scale.POINTS.value, validate_choice=False)
    must_have = BooleanField("Must-have")


class Criteria(FieldList):  # type: ignore[misc]
    """The list of criteria. One that is empty counts as absent."""

    def __init__(self, label: str, **settings: Any) -> None:
        super().__init__(FormField(CriterionForm), label, max_entries=2 * MOST_CRITERIA, **settings)

    def values(self) -> list[dict[str, Any]]:
        """The entered criteria as the schema reads them."""
        return [values for _place, values in self._filled()]

    def arrange(self, pressed: str) -> str:
        """Carry out ``add``, or ``up 2``, ``down 2`` or ``remove 2``. Returns what was done, as a sentence."""
        what, _, number = pressed.partition(" ")
        if what == "add":
            return self._added()
        place = int(number) if number.isdecimal() and len(number) < 4 else len(self)
        to = {"up": place - 1, "down": place + 1, "remove": place}.get(what, -1)
        if place >= len(self) or not 0 <= to < len(self):
            return LOST
        rows = [entry.data for entry in self]
        row = rows.pop(place)
        if what != "remove":
            rows.insert(to, row)
        while len(self):
            self.pop_entry()
        for values in rows:
            self.append_entry(values)
        if rows:
            self._focus(min(to, len(rows) - 1))
        done = "was removed" if what == "remove" else f"is now criterion {to + 1}"
        return f"Criterion {place + 1} {done}."

    def show_errors(self, complaints: Mapping[Any, Any]) -> None:
        """Set the schema's errors on their fields, and the first one in words on the list."""
        places = [place for place, _values in self._filled()]
        for number, wrong in complaints.items():
            for name, words in wrong.items():
                self[places[number]].form[name].errors = list(words)
        first = min(complaints)
        name, words = next(iter(complaints[first].items()))
        self.errors = [f"Criterion {places[first] + 1}, {self[places[first]].form[name].label.text}: {words[0]}"]

    def _added(self) -> str:
        if len(self) >= MOST_CRITERIA:
            return TOO_MANY
        self.append_entry()
        self._focus(len(self) - 1)
        return "A criterion was added."

    def _focus(self, place: int) -> None:
        field = self[place].form.name
        field.render_kw = {**field.render_kw, "autofocus": True}

    def _filled(self) -> list[tuple[int, dict[str, Any]]]:
        read = ((place, _read(entry.data)) for place, entry in enumerate(self))
        return [(place, values) for place, values in read if values["name"] or values["good"]]


def _read(typed: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: " ".join((typed.get(name) or "").split()) for name in ("name", "good")}
    return {**texts, "weight": typed["weight"], "scale": typed["scale"], "must_have": bool(typed["must_have"])}


class CriterionSchema(ma.Schema):
    """One criterion of the form."""

    name = Text(most=LONGEST_NAME, blank=False, required=True)
    good = Text(most=LONGEST_GOOD, load_default="")
    weight = ma.fields.Integer(
        load_default=1,
        validate=ma.validate.Range(0, MOST_WEIGHT, error=f"Must be from 0 to {MOST_WEIGHT}."),
        error_messages={"invalid": f"Must be a whole number from 0 to {MOST_WEIGHT}."},
    )
    scale = Choice(tuple(Scale), called="Scale", load_default=Scale.POINTS.value)
    must_have = Flag(load_default=False)

    @ma.post_load
    def _made(self, values: dict[str, Any], **_: Any) -> Criterion:
        return Criterion(**{**values, "scale": Scale(values["scale"])})


class CriteriaField(Several):
    """The criteria of the form's schema: none with the name of another."""

    def __init__(self) -> None:
        super().__init__(
            ma.fields.Nested(CriterionSchema), most=MOST_CRITERIA, words=TOO_MANY, load_default=list[Criterion]
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[Any]:
        criteria = super()._deserialize(value, attr, data, **kwargs)
        names: set[str] = set()
        for number, one in enumerate(criteria):
            if plain(one.name) in names:
                raise ma.ValidationError({number: {"name": [f"There is another criterion called “{one.name}”."]}})
            names.add(plain(one.name))
        return criteria


def form_of(criteria: Sequence[Criterion]) -> list[dict[str, Any]]:
    """The form's initial data of criteria."""
    return [
        {
            "name": one.name,
            "good": one.good,
            "weight": str(one.weight),
            "scale": one.scale.value,
            "must_have": one.must_have,
        }
        for one in criteria
    ]
