"""What the worker looks after: who came by links is forgotten in time."""

from app.core.db import db
from app.outreach.apply_links import actions


def sweep() -> int:
    """Forget old visits; called by the worker's tick, may run twice at once. Returns how many there were."""
    gone = actions.forget_old()
    db.session.commit()
    return gone
