"""Finishes what a revocation began: bytes that could not be destroyed at once, or were written while it happened."""

import logging

from app import gateways
from app.db import db
from app.errors import GatewayError
from app.recordings import actions, queries

log = logging.getLogger(__name__)


def sweep() -> int:
    """Destroy what is left of revoked recordings; called by the worker's tick. Returns how many interviews are done."""
    waiting = queries.unfinished_revocations()
    db.session.rollback()
    storage, done = gateways.current().storage, 0
    for interview_id in waiting:
        try:
            actions.destroy(interview_id, storage=storage)
        except GatewayError as error:
            log.warning("recordings of %s are revoked but not yet deleted: %s", interview_id, error.message)
            continue
        actions.bytes_gone(interview_id)
        db.session.commit()
        done += 1
    return done
