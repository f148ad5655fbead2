"""The sweep of the feed."""

from app.core.db import db, reading
from app.webhooks.changes import actions, queries


def forget_old_deletions() -> int:
    """Drop deletions that no reader can still need; called by the worker's tick. Returns how many there were."""
    with reading():
        is_due = queries.has_old_deletions()
        db.session.rollback()
    if not is_due:
        return 0
    forgotten = actions.forget_deleted()
    db.session.commit()
    return forgotten
