"""Finishes what an erasure began: files that could not be destroyed at once, or were written while it happened."""

import logging

from app import gateways
from app.compliance import actions, queries
from app.db import db, reading
from app.errors import GatewayError

log = logging.getLogger(__name__)


def sweep() -> int:
    """Destroy what is left of erased interviews; called by the worker's tick.

    Returns how many are proved or settled.
    """
    with reading():
        waiting = queries.unfinished()
        db.session.rollback()
    storage, done = gateways.current().storage, 0
    for interview_id in waiting:
        try:
            left = actions.sweep_files(interview_id, storage=storage)
        except GatewayError as error:
            log.warning("interview %s is erased, its files are not yet: %s", interview_id, error.message)
            continue
        if left:
            log.warning("interview %s is erased, and %d files are still there", interview_id, left)
            continue
        actions.gone(interview_id)
        db.session.commit()
        done += 1
    return done
