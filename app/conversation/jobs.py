"""The sweep of interviews that candidates have left. The answers they gave are not lost."""

import logging
import time
from datetime import datetime

from app.conversation import actions, queries
from app.conversation.access import settings
from app.core.db import db, reading
from app.interviews.models import Interview

log = logging.getLogger(__name__)

WATCHED_FOR = 120.0
"""Seconds without a heartbeat that this process must have observed itself. A page sends one every half minute. Without
this, a clock set a day ahead would make every candidate look long gone."""
_watched: dict[str, tuple[datetime | None, float]] = {}


def sweep_sittings(*, watched_for: float = WATCHED_FOR) -> int:
    """Settle interviews that were left for good. Returns how many. May run at any time, and twice at once.

    Answers are submitted. An interview without any answer counts as abandoned, and its link still works.
    """
    with reading():
        left = queries.deserted(link_days=settings().link_expiry_days)
        db.session.rollback()
    settled, now = 0, time.monotonic()
    since = {one: _watched.get(one, (None, now)) for one in left}
    _watched.clear()
    _watched.update({one: since[one] if since[one][0] == at else (at, now) for one, at in left.items()})
    for interview_id in [one for one, (_, seen) in _watched.items() if now - seen >= watched_for]:
        settled += actions.give_up(db.session.get_one(Interview, interview_id))
        db.session.commit()
        log.info("interview %s was left by its candidate", interview_id)
    return settled
