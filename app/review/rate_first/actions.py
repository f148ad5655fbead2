"""A member shows scores without rating; the record of it goes with the interview."""

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from app.accounts.actions import write_audit
from app.accounts.models import TeamMember
from app.core.db import db
from app.interviews.models import Interview
from app.review.rate_first.models import ScoreReveal
from app.review.rate_first.queries import are_hidden


def show(interview: Interview, *, to: TeamMember) -> bool:
    """Show the interview's scores to a member who has not rated it. Audited. False if they were not hidden."""
    if not are_hidden(to, interview):
        return False
    try:
        with db.session.begin_nested():
            db.session.add(
                ScoreReveal(organization_id=interview.organization_id, interview_id=interview.id, member_id=to.id)
            )
    except IntegrityError:  # pressed twice at once
        return False
    write_audit(to.organization, action="scores.shown_unrated", subject=interview.id, by=to, details={})
    return True


def forget(interview_id: str) -> None:
    """Delete who has shown the interview's scores. May be repeated."""
    db.session.execute(sa.delete(ScoreReveal).where(ScoreReveal.interview_id == interview_id))
