"""What happens to interviews that candidates have left: the answers they gave are not lost."""

import logging

from app.db import db, reading
from app.interviews.models import Interview
from app.voice import actions, queries
from app.voice.access import settings

log = logging.getLogger(__name__)


def sweep_sittings() -> int:
    """Find interviews that were left for good; returns how many. May run at any time, and twice at once.

    What was answered is handed in. One without a single answer counts as abandoned, and its link still works.
    """
    with reading():
        left = queries.deserted(link_days=settings().link_expiry_days)
        db.session.rollback()
    settled = 0
    for interview_id in left:
        settled += actions.give_up(db.session.get_one(Interview, interview_id))
        db.session.commit()
        log.info("interview %s was left by its candidate", interview_id)
    return settled
