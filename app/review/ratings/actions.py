"""A member rates an interview. Only they can change their ratings, which are separate from the AI's scores."""

from collections.abc import Iterable, Mapping
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
from app.review.rate_first import actions as rate_first
from app.review.rate_first.queries import are_hidden, asks
from app.review.ratings.models import APART, LONGEST_COMMENT, OVERALL, VALUES, Assessment
from app.review.ratings.queries import (
    can_be_rated,
    competences_of,
    criteria_of,
    differences_of,
    differs,
    own_assessments,
    questions_of,
    score_of,
)


@dataclass(frozen=True, slots=True)
class Opinion:
    """A member's rating of one competence; without value and comment it removes their earlier rating."""

    value: float | None = None
    comment: str | None = None


def flaws(interview: Interview, opinions: Mapping[str, Opinion], *, by: TeamMember) -> dict[str, str]:
    """Errors by field: ``skills_value``, ``skills_comment`` and so on.

    A member who does not see the scores yet is asked only afterwards why a rating differs from one.
    """
    wrong, own = {}, criteria_of(interview)
    explained = _explained(interview, opinions, by)
    for name, opinion in opinions.items():
        score = None if name in explained else score_of(interview, name)
        if opinion.value is not None and opinion.value not in VALUES:
            wrong[f"{name}_value"] = "Choose a rating from 0 to 5 in steps of 0.5."
        elif opinion.comment and len(opinion.comment) > LONGEST_COMMENT:
            wrong[f"{name}_comment"] = (
                f"Comments can have up to {LONGEST_COMMENT} characters. This one has {len(opinion.comment)}."
            )
        elif score is not None and _lacks_a_reason(opinion, score):
            shown = own[name].shown(score) if name in own else f"{score:.1f}"
            wrong[f"{name}_comment"] = f"Explain why your rating differs from the score of {shown}."
    return wrong


def _explained(interview: Interview, names: Iterable[str], by: TeamMember) -> set[str]:
    """Those of ``names`` that need no reason now: the member does not see the score, or has given the reason."""
    if not asks(interview.flow, by.organization):
        return set()
    if are_hidden(by, interview):
        return set(names)
    return {name for name, row in own_assessments(interview, by).items() if row.reason}


def _lacks_a_reason(opinion: Opinion, score: float) -> bool:
    return opinion.value is not None and not opinion.comment and abs(opinion.value - score) > APART


def assess(interview: Interview, opinions: Mapping[str, Opinion], *, by: TeamMember) -> int:
    """Replace the member's ratings; returns how many changed. Audited without comments.

    Raises Rejected with the first invalid field, Conflict without a result to rate, or if the same member has just
    saved in another window.
    """
    if not can_be_rated(interview):
        raise Conflict("This interview has no result to rate.")
    unknown = set(opinions) - {*competences_of(interview), *questions_of(interview)}
    if unknown:
        raise Rejected("This competence or answer is not rated in this interview.", field=f"{min(unknown)}_value")
    for field, message in flaws(interview, opinions, by=by).items():
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


def assess_overall(interview: Interview, value: float | None, *, by: TeamMember) -> int:
    """Rate the interview as a whole and keep the member's other ratings and comments. As ``assess``.

    Raises Rejected without a value, too.
    """
    if value is None:
        raise Rejected("Choose a rating from 0 to 5.", field="value")
    row = own_assessments(interview, by).get(OVERALL)
    return assess(interview, {OVERALL: Opinion(value, row.comment if row else None)}, by=by)


def explain(interview: Interview, reasons: Mapping[str, str | None], *, by: TeamMember) -> int:
    """Store why the member's ratings differ from the scores; returns how many reasons changed. Audited without them.

    Raises Rejected for one that is too long. Ratings that do not differ are left out.
    """
    asked = {one.competence: one for one in differences_of(interview, by)}
    rows, changes = own_assessments(interview, by), {}
    for name, reason in reasons.items():
        if name not in asked or reason == asked[name].reason:
            continue
        if reason and len(reason) > LONGEST_COMMENT:
            most, label = LONGEST_COMMENT, asked[name].label
            wrong = f"Reasons can have up to {most} characters. The one for {label} has {len(reason)}."
            raise Rejected(wrong, field=name)
        rows[name].reason = reason
        changes[name] = {"from": asked[name].rating, "to": asked[name].rating, "reason_changed": True}
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
        if not differs(interview, name, opinion.value):
            row.reason = None
    return {"from": before.value, "to": opinion.value, "comment_changed": opinion.comment != before.comment}


def erase(interview_id: str) -> int:
    """Delete all ratings of the interview, and who saw its scores without one; returns how many ratings there were.

    May be repeated.
    """
    rate_first.forget(interview_id)
    return db.changed(sa.delete(Assessment).where(Assessment.interview_id == interview_id))
