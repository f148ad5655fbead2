"""A member judges an interview: own ratings, which nobody else can change, apart from every score of a machine."""

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
"""A rating further from the machine's score than this is another opinion, and needs its reason."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a member says about one competence; neither a value nor a comment takes back what was said before."""

    value: float | None = None
    comment: str | None = None


def flaws(interview: Interview, opinions: Mapping[str, Opinion]) -> dict[str, str]:
    """What cannot be kept, by the field to be mended: ``skills_value``, ``skills_comment`` and so on."""
    wrong = {}
    for name, opinion in opinions.items():
        score = score_of(interview, name)
        if opinion.value is not None and opinion.value not in VALUES:
            wrong[f"{name}_value"] = "Choose a rating from 0 to 5 in halves."
        elif opinion.comment and len(opinion.comment) > LONGEST_COMMENT:
            wrong[f"{name}_comment"] = (
                f"These are {len(opinion.comment)} characters; at most {LONGEST_COMMENT} are kept."
            )
        elif score is not None and _lacks_a_reason(opinion, score):
            wrong[f"{name}_comment"] = f"Say why: the AI's score is {score:.1f}, and both will be kept."
    return wrong


def _lacks_a_reason(opinion: Opinion, score: float) -> bool:
    return opinion.value is not None and not opinion.comment and abs(opinion.value - score) > APART


def assess(interview: Interview, opinions: Mapping[str, Opinion], *, by: TeamMember) -> int:
    """Keep the member's ratings in place of their earlier ones; returns how many changed. Audited, without comments.

    Raises Rejected naming the first field that is wrong, Conflict where there is no result to judge, or where another
    window of the same member has just saved.
    """
    if not can_be_rated(interview):
        raise Conflict("This interview has no result that could be rated.")
    unknown = set(opinions) - set(competences_of(interview))
    if unknown:
        raise Rejected("This is not rated in this interview.", field=f"{min(unknown)}_value")
    for field, message in flaws(interview, opinions).items():
        raise Rejected(message, field=field)
    earlier, changes = own_assessments(interview, by), {}
    for name, opinion in opinions.items():
        if change := _keep(earlier.get(name), interview, name, opinion=opinion, by=by):
            changes[name] = change
    try:
        db.session.flush()
    except (IntegrityError, StaleDataError):
        raise Conflict("You have just saved this scorecard in another window. Look at it there.") from None
    if changes:
        write_audit(by.organization, action="interview.assessed", subject=interview.id, by=by, details=changes)
    return len(changes)


def _keep(
    row: Assessment | None, interview: Interview, name: str, *, opinion: Opinion, by: TeamMember
) -> dict[str, Any] | None:
    """Write one opinion down; what the log says about it, None where nothing changed."""
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
    """Forget what people said about the interview; returns how many ratings there were. May be repeated."""
    return db.changed(sa.delete(Assessment).where(Assessment.interview_id == interview_id))
