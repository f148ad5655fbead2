"""The blueprint of candidates' pages, and what every page with a move offers."""

from dataclasses import dataclass, replace
from typing import Any

from flask import Blueprint, request

from app.accounts.access import current_member, require_member
from app.candidates.queries import deciding_statuses
from app.candidates.reasons import Reason, reasons_of, requires_reason
from app.core.errors import Rejected
from app.web.fields import flaw_of

pages = Blueprint("candidates", __name__)
pages.before_request(require_member)


def typed(name: str) -> str:
    """A text of the form. Raises Rejected for one that cannot be stored."""
    value = request.form.get(name, "")
    flaw = flaw_of(value)
    if flaw:
        raise Rejected(flaw, field=name)
    return value


@dataclass(frozen=True, slots=True)
class Choices:
    """What a page with a move offers: the reasons by meaning, the meaning of each status that decides, and whether a
    reason is required.
    """

    reasons: dict[str, list[Reason]]
    meanings: dict[str, str]
    required: bool


@pages.app_context_processor
def _decisions() -> dict[str, Any]:
    """For every page on which candidates are moved."""
    return {"decision_choices": _choices}


def _choices() -> Choices:
    organization = current_member().organization
    reasons: dict[str, list[Reason]] = {}
    for reason in reasons_of(organization):
        reasons.setdefault(reason.meaning.value, []).append(reason)
    meanings = {name: meaning.value for name, meaning in deciding_statuses(organization).items()}
    return Choices(reasons, meanings, requires_reason(organization))


def choices_for(status: str) -> Choices | None:
    """As ``decision_choices``, with only the reasons that fit this status; None if a move there decides nothing."""
    choices = _choices()
    meaning = choices.meanings.get(status)
    if meaning is None:
        return None
    return replace(choices, reasons={meaning: choices.reasons[meaning]})
