"""Hands mail to the mail server: once each, never inside a request or a transaction."""

import logging

from app import gateways
from app.core import queue
from app.core.db import db, for_one
from app.core.errors import GatewayError
from app.gateways.mail import Unanswered
from app.mail_outbox import SEND_LETTER, actions
from app.mail_outbox.models import QueuedMail, QueuedMailState

log = logging.getLogger(__name__)


@for_one(QueuedMail)
def send(letter_id: str) -> None:
    """Claim the letter, send it, and note what came of it."""
    taken = actions.take(letter_id)
    db.session.commit()
    if taken is None:
        return
    token, mail = taken
    try:
        gateways.current().mail.send(mail)
    except GatewayError as error:
        log.warning("letter %s: %s", letter_id, error.message)
        if error.retryable:
            actions.put_off(letter_id, token, failure=error.message)
        else:
            state = QueuedMailState.LOST if isinstance(error, Unanswered) else QueuedMailState.REFUSED
            actions.settle(letter_id, token, state, failure=error.message)
    else:
        actions.settle(letter_id, token, QueuedMailState.SENT)
    db.session.commit()


def sweep() -> None:
    """Ring again for every letter that is due; called by the worker's tick."""
    queue.enqueue_overdue(SEND_LETTER)
