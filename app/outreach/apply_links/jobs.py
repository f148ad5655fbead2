"""The sweep that deletes old visits."""

from app.core.db import db
from app.outreach.apply_links import actions


def sweep() -> int:
    """Delete old visits. Called by the worker's tick; may run twice at once. Returns how many."""
    gone = actions.forget_old()
    db.session.commit()
    return gone
