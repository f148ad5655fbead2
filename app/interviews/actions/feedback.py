"""A candidate's feedback on the interview: separate from the result, and changed at most once."""

from sqlalchemy.exc import IntegrityError

from app.core.db import db
from app.interviews.models import Feedback, Interview

MOST_REVISIONS = 2


def rate(interview: Interview, *, rating: int | None, comment: str | None) -> bool:
    """Save a rating (1 to 5), a comment, or both. It can be replaced once; False after that."""
    feedback = db.session.get(Feedback, interview.id, with_for_update=True)
    if feedback is None:
        feedback = Feedback(interview_id=interview.id, rating=rating, comment=comment)
        try:
            with db.session.begin_nested():
                db.session.add(feedback)
        except IntegrityError:  # sent twice at the same moment: the first one counts
            return True
        return True
    if (feedback.rating, feedback.comment) == (rating, comment):
        return True
    if feedback.revision >= MOST_REVISIONS:
        return False
    feedback.rating, feedback.comment, feedback.revision = rating, comment, feedback.revision + 1
    db.session.flush()
    return True
