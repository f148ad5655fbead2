"""Scripts for common roles, from which a recruiter starts a flow. The texts are in role_templates.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.core.errors import NotFound
from app.flows import criteria_form
from app.flows.criteria import Criterion, from_json
from app.flows.forms import BLANK, language_name
from app.flows.schemas import FlowFormSchema

_SOURCE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class RoleTemplate:
    """Title, questions and criteria in one language. ``needs_native_reader``: not checked by a native speaker yet."""

    id: str
    title: str
    language: str
    questions: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    needs_native_reader: bool = False

    @property
    def label(self) -> str:
        """The title as a choice of a list; the language is named if it is not English."""
        return self.title if self.language.startswith("en") else f"{self.title} ({self.language_name})"

    @property
    def language_name(self) -> str:
        """The language's English name."""
        return language_name(self.language)

    def form(self, org_name: str) -> dict[str, Any]:
        """Initial data of the flow's form."""
        texts = {"title": self.title, "org_name": org_name, "language": self.language}
        criteria = criteria_form.form_of(self.criteria)
        return {**BLANK, **texts, "questions": list(self.questions), "criteria": criteria}

    def values(self, org_name: str) -> dict[str, Any]:
        """The values of a new flow, as if the form had been saved unchanged."""
        form = {**self.form(org_name), "assess_language": None, "rates_first": None}
        values: dict[str, Any] = FlowFormSchema().load(form)
        return values


@cache
def all_templates() -> tuple[RoleTemplate, ...]:
    """Every template, in the order of the file: the English ones first."""
    tables = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))["template"]
    return tuple(_template(table) for table in tables)


def _template(table: dict[str, Any]) -> RoleTemplate:
    lists = {"questions": tuple(table["questions"]), "criteria": from_json(table["criteria"])}
    return RoleTemplate(**{**table, **lists})


def template_with(template_id: str) -> RoleTemplate:
    """The template with this id. Raises NotFound."""
    for template in all_templates():
        if template.id == template_id:
            return template
    raise NotFound("There is no template with this id.")
