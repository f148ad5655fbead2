"""What a candidate thinks of the interview: kept apart from the result, and changed at most once."""

from sqlalchemy.exc import IntegrityError

from app.core.db import db
from app.interviews.models import Feedback, Interview

MOST_REVISIONS = 2


def rate(interview: Interview, *, rating: int | None, comment: str | None) -> bool:
    """Keep a rating (1 to 5), words, or both; the second time replaces the first. False when both were used up."""
    feedback = db.session.get(Feedback, interview.id, with_for_update=True)
    if feedback is None:
        feedback = Feedback(interview_id=interview.id, rating=rating, comment=comment)
        try:
            with db.session.begin_nested():
                db.session.add(feedback)
        except IntegrityError:  # sent twice at once: the first one stands
            return True
        return True
    if (feedback.rating, feedback.comment) == (rating, comment):
        return True
    if feedback.revision >= MOST_REVISIONS:
        return False
    feedback.rating, feedback.comment, feedback.revision = rating, comment, feedback.revision + 1
    db.session.flush()
    return True
