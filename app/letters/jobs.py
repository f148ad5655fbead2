"""Hands mail to the mail server: once each, never inside a request or a transaction."""

import logging

from app import gateways, queue
from app.db import db, for_one, reading
from app.errors import GatewayError
from app.letters import actions, queries
from app.letters.models import Letter, LetterState
from app.mail import Unanswered
from app.queue import Job

log = logging.getLogger(__name__)


@for_one(Letter)
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
            state = LetterState.LOST if isinstance(error, Unanswered) else LetterState.REFUSED
            actions.settle(letter_id, token, state, failure=error.message)
    else:
        actions.settle(letter_id, token, LetterState.SENT)
    db.session.commit()


def sweep() -> int:
    """Ring again for what is due, whatever Redis forgot; without Redis, send here. Returns how many were due."""
    with reading():
        waiting = queries.due()
        db.session.rollback()
    for letter_id in waiting:
        if not queue.ring_now(Job.SEND_LETTER, letter_id):
            send(letter_id)
    return len(waiting)
