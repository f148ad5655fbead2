"""A member rates an interview. Only they can change their ratings, which are separate from the AI's scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm.exc import StaleDataError

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.interviews.models import Interview
from app.review.ratings.models import LONGEST_COMMENT, VALUES, Assessment
from app.review.ratings.queries import can_be_rated, competences_of, own_assessments, score_of

APART = 0.5
"""A rating that differs from the AI's score by more than this needs a comment."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A member's rating of one competence; without value and comment it removes their earlier rating."""

    value: float | None = None
    comment: str | None = None


def flaws(interview: Interview, opinions: Mapping[str, Opinion]) -> dict[str, str]:
    """Errors by field: ``skills_value``, ``skills_comment`` and so on."""
    wrong = {}
    for name, opinion in opinions.items():
        score = score_of(interview, name)
        if opinion.value is not None and opinion.value not in VALUES:
            wrong[f"{name}_value"] = "Choose a rating from 0 to 5 in steps of 0.5."
        elif opinion.comment and len(opinion.comment) > LONGEST_COMMENT:
            wrong[f"{name}_comment"] = (
                f"Comments can have up to {LONGEST_COMMENT} characters. This one has {len(opinion.comment)}."
            )
        elif score is not None and _lacks_a_reason(opinion, score):
            wrong[f"{name}_comment"] = f"Explain why your rating differs from the score of {score:.1f}."
    return wrong


def _lacks_a_reason(opinion: Opinion, score: float) -> bool:
    return opinion.value is not None and not opinion.comment and abs(opinion.value - score) > APART


def assess(interview: Interview, opinions: Mapping[str, Opinion], *, by: TeamMember) -> int:
    """Replace the member's ratings; returns how many changed. Audited without comments.

    Raises Rejected with the first invalid field, Conflict without a result to rate, or if the same member has just
    saved in another window.
    """
    if not can_be_rated(interview):
        raise Conflict("This interview has no result to rate.")
    unknown = set(opinions) - set(competences_of(interview))
    if unknown:
        raise Rejected("This competence is not rated in this interview.", field=f"{min(unknown)}_value")
    for field, message in flaws(interview, opinions).items():
        raise Rejected(message, field=field)
    earlier, changes = own_assessments(interview, by), {}
    for name, opinion in opinions.items():
        if change := _keep(earlier.get(name), interview, name, opinion=opinion, by=by):
            changes[name] = change
    try:
        db.session.flush()
    except (IntegrityError, StaleDataError):
        raise Conflict("You have just saved this scorecard in another window. Check it there.") from None
    if changes:
        write_audit(by.organization, action="interview.assessed", subject=interview.id, by=by, details=changes)
    return len(changes)


def _keep(
    row: Assessment | None, interview: Interview, name: str, *, opinion: Opinion, by: TeamMember
) -> dict[str, Any] | None:
    """Store one rating; returns the audit log's details, None if nothing changed."""
    before = Opinion(row.value, row.comment) if row else Opinion()
    if opinion == before:
        return None
    if opinion == Opinion():
        db.session.delete(row)
    elif row is None:
        db.session.add(
            Assessment(
                organization_id=interview.organization_id,
                interview_id=interview.id,
                member_id=by.id,
                competence=name,
                value=opinion.value,
                comment=opinion.comment,
                changed_at=clock.now(),
            )
        )
    else:
        row.value, row.comment, row.changed_at = opinion.value, opinion.comment, clock.now()
    return {"from": before.value, "to": opinion.value, "comment_changed": opinion.comment != before.comment}


def erase(interview_id: str) -> int:
    """Delete all ratings of the interview; returns how many there were. May be repeated."""
    return db.changed(sa.delete(Assessment).where(Assessment.interview_id == interview_id))
