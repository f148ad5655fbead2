"""Hands each mail to the mail server once, never inside a request or a transaction."""

import logging
from dataclasses import replace

from app import gateways
from app.core import queue
from app.core.db import db, for_one
from app.core.errors import GatewayError
from app.gateways.mail import Unanswered
from app.mail_outbox import SEND_MAIL, actions
from app.mail_outbox.html_part import html_of
from app.mail_outbox.models import QueuedMail, QueuedMailState

log = logging.getLogger(__name__)


@for_one(QueuedMail)
def send(mail_id: str) -> None:
    """Claim the mail, send it, and record the outcome."""
    claim = actions.take(mail_id)
    db.session.commit()
    if claim is None:
        return
    token, mail = claim
    try:
        gateways.current().mail.send(replace(mail, html=html_of(mail)))
    except GatewayError as error:
        log.warning("mail %s: %s", mail_id, error.message)
        if error.retryable:
            actions.put_off(mail_id, token, failure=error.message)
        else:
            state = QueuedMailState.LOST if isinstance(error, Unanswered) else QueuedMailState.REFUSED
            actions.settle(mail_id, token, state, failure=error.message)
    else:
        actions.settle(mail_id, token, QueuedMailState.SENT)
    db.session.commit()


def sweep() -> None:
    """Enqueue every mail that is due again; called by the worker's tick."""
    queue.enqueue_overdue(SEND_MAIL)
