"""Reads of the mail outbox."""

import sqlalchemy as sa

from app.core import claims
from app.core.db import db
from app.mail_outbox.models import Letter, LetterState


def due(limit: int = 50) -> list[str]:
    """Letters to send now, and those whose sender has gone silent: for the sweep."""
    free = sa.or_(Letter.lease_until.is_(None), Letter.lease_until < claims.moment())
    open_states = (LetterState.WAITING, LetterState.SENDING)
    waiting = sa.select(Letter.id).where(Letter.state.in_(open_states), Letter.due_at <= claims.moment(), free)
    return list(db.session.scalars(waiting.order_by(Letter.due_at).limit(limit)))
