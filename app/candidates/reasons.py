"""An organization's reasons for decisions: the list that a move offers, and how administrators change it.

A record keeps the code and the text of its time, so a reason can be renamed or removed later.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import Organization, TeamMember
from app.candidates.models import DECIDING, DecisionReason, DecisionRule, Meaning
from app.core.db import db, new_id
from app.core.errors import Conflict, NotFound, Rejected

MOST_REASONS = 9
"""Reasons for one meaning: as many as there are digits to pick them with."""
LONGEST_LABEL = 100

DEFAULTS: dict[Meaning, dict[str, str]] = {
    Meaning.ADVANCED: {
        "skills_fit": "Skills match the role",
        "experience_fits": "Experience matches the role",
        "convincing_answers": "Convincing answers",
        "potential": "Potential to learn the role",
        "advanced_other": "Other",
    },
    Meaning.ACCEPTED: {
        "best_fit": "Best fit for the role",
        "accepted_skills": "Skills match the role",
        "accepted_experience": "Experience matches the role",
        "accepted_answers": "Convincing answers",
        "accepted_other": "Other",
    },
    Meaning.REJECTED: {
        "skills": "Skills do not match the role",
        "experience": "Not enough experience",
        "qualification": "A required qualification is missing",
        "answers": "Answers were not convincing",
        "stronger_candidate": "Another candidate fits better",
        "role_filled": "Role filled",
        "candidate_withdrew": "Candidate withdrew",
        "other": "Other",
    },
}
"""The reasons every organization starts with: code and text, by meaning, in order."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of the list."""

    code: str
    label: str
    meaning: Meaning


def reasons_of(organization: Organization) -> list[Reason]:
    """The organization's reasons, by meaning and in order."""
    own = [Reason(row.code, row.label, Meaning(row.meaning)) for row in _rows(organization)] or [
        Reason(code, label, meaning) for meaning, labels in DEFAULTS.items() for code, label in labels.items()
    ]
    return sorted(own, key=lambda reason: DECIDING.index(reason.meaning))


def reasons_for(organization: Organization, meaning: Meaning | None) -> list[Reason]:
    """The reasons for moves into statuses of this meaning, in order; none if such a move decides nothing."""
    return [reason for reason in reasons_of(organization) if reason.meaning is meaning]


def requires_reason(organization: Organization) -> bool:
    """Whether the organization requires a reason for each decision."""
    rule = db.session.get(DecisionRule, organization.id)
    return rule is not None and rule.requires_reason


def checked(organization: Organization, status: str, meaning: Meaning | None, *, code: str) -> Reason | None:
    """The reason with this code for a move into ``status``; None for an empty code.

    Raises Rejected for a code that is not in the organization's list, one that does not belong to the status, any
    code for a status that decides nothing, and none where the organization requires one.
    """
    if not code:
        if meaning in DECIDING and requires_reason(organization):
            raise Rejected(f"Choose a reason. Your organization requires one for “{status}”.", field="reason")
        return None
    found = next((reason for reason in reasons_of(organization) if reason.code == code), None)
    if found is None:
        raise Rejected("This reason is not in your organization's list. Choose one from the list.", field="reason")
    if meaning not in DECIDING:
        raise Rejected(f"A move to “{status}” takes no reason. Choose “No reason”.", field="reason")
    if found.meaning is not meaning:
        raise Rejected(f"“{found.label}” is not a reason for “{status}”. Choose another one.", field="reason")
    return found


def add(organization: Organization, meaning: str, label: str, *, by: TeamMember) -> None:
    """Add a reason at the end of its list. Raises Rejected for a bad text or meaning, and beyond nine."""
    rows = _own(organization)
    chosen = meaning_of(meaning)
    there = [row for row in rows if row.meaning == chosen]
    if len(there) >= MOST_REASONS:
        raise Rejected(f"A list can have at most {MOST_REASONS} reasons. Remove one first.", field="label")
    code = new_id()
    position = max(row.position for row in rows) + 1
    row = DecisionReason(
        organization_id=organization.id,
        code=code,
        meaning=chosen.value,
        label=_checked_label(label, there),
        position=position,
    )
    _save([row])
    write_audit(organization, action="decision.reasons", subject=organization.id, by=by, details={"added": code})


def rename(organization: Organization, code: str, label: str, *, by: TeamMember) -> None:
    """Change the text of a reason; records keep the old one. Raises Rejected, NotFound."""
    rows = _own(organization)
    row = _one(rows, code)
    row.label = _checked_label(label, [one for one in rows if one.meaning == row.meaning and one is not row])
    db.session.flush()
    write_audit(organization, action="decision.reasons", subject=organization.id, by=by, details={"renamed": code})


def shift(organization: Organization, code: str, *, up: bool, by: TeamMember) -> None:
    """Move a reason one place up or down in its list, if there is one. Raises NotFound."""
    rows = _own(organization)
    row = _one(rows, code)
    there = [one for one in rows if one.meaning == row.meaning]
    to = there.index(row) + (-1 if up else 1)
    if 0 <= to < len(there):
        there[to].position, row.position = row.position, there[to].position
    db.session.flush()
    write_audit(organization, action="decision.reasons", subject=organization.id, by=by, details={"arranged": code})


def remove(organization: Organization, code: str, *, by: TeamMember) -> None:
    """Remove a reason; records keep it. Raises Rejected for the last one of a list, NotFound."""
    rows = _own(organization)
    row = _one(rows, code)
    if len([one for one in rows if one.meaning == row.meaning]) == 1:
        raise Rejected("Keep at least one reason in each list.", field="label")
    db.session.delete(row)
    db.session.flush()
    write_audit(organization, action="decision.reasons", subject=organization.id, by=by, details={"removed": code})


def require(organization: Organization, *, wanted: bool, by: TeamMember) -> bool:
    """Set whether each decision needs a reason. False if nothing changes. Audited."""
    if requires_reason(organization) == wanted:
        return False
    rule = db.session.get(DecisionRule, organization.id) or DecisionRule(organization_id=organization.id)
    rule.requires_reason = wanted
    _save([rule])
    details = {"requires_reason": wanted}
    write_audit(organization, action="decision.rule", subject=organization.id, by=by, details=details)
    return True


def meaning_of(word: str) -> Meaning:
    """A meaning that decides. Raises Rejected for any other word."""
    if word not in set(DECIDING):
        raise Rejected("Choose the decision that the reason is for.", field="meaning")
    return Meaning(word)


def _rows(organization: Organization) -> list[DecisionReason]:
    query = sa.select(DecisionReason).where(DecisionReason.organization_id == organization.id)
    return list(db.session.scalars(query.order_by(DecisionReason.position, DecisionReason.id)))


def _own(organization: Organization) -> list[DecisionReason]:
    """The organization's rows; before the first change they are created from the defaults."""
    rows = _rows(organization)
    if rows:
        return rows
    made = [
        DecisionReason(organization_id=organization.id, code=one.code, meaning=one.meaning, label=one.label, position=n)
        for n, one in enumerate(reasons_of(organization))
    ]
    _save(made)
    return made


def _one(rows: Sequence[DecisionReason], code: str) -> DecisionReason:
    for row in rows:
        if row.code == code:
            return row
    raise NotFound("There is no such reason in your organization's list.")


def _checked_label(label: str, others: Sequence[DecisionReason]) -> str:
    words = " ".join(label.split())
    if not words:
        raise Rejected("Enter the reason.", field="label")
    if len(words) > LONGEST_LABEL:
        raise Rejected(f"The reason has {len(words)} characters. The maximum is {LONGEST_LABEL}.", field="label")
    if words.casefold() in {one.label.casefold() for one in others}:
        raise Rejected(f"The reason “{words}” already exists.", field="label")
    return words


def _save(rows: Sequence[DecisionReason | DecisionRule]) -> None:
    try:
        with db.session.begin_nested():
            db.session.add_all(rows)
            db.session.flush()
    except IntegrityError:  # two administrators at the same moment
        raise Conflict("Someone else is changing this list. Reload the page.") from None
