"""Reads of the mail outbox."""

import sqlalchemy as sa

from app.core import claims
from app.core.db import db
from app.mail_outbox.models import QueuedMail, QueuedMailState


def due(limit: int = 50) -> list[str]:
    """Ids of mail to send now, including mail whose worker has gone silent; for the sweep."""
    free = sa.or_(QueuedMail.lease_until.is_(None), QueuedMail.lease_until < claims.moment())
    open_states = (QueuedMailState.WAITING, QueuedMailState.SENDING)
    waiting = sa.select(QueuedMail.id).where(
        QueuedMail.state.in_(open_states), QueuedMail.due_at <= claims.moment(), free
    )
    return list(db.session.scalars(waiting.order_by(QueuedMail.due_at).limit(limit)))
