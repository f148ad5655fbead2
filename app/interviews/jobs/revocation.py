"""Destroys the bytes of revoked recordings, once the interview is not running any more."""

import logging

import sqlalchemy as sa

from app import gateways
from app.core.db import db
from app.core.errors import GatewayError
from app.interviews.models import Interview, Stage
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.models import Revocation
from app.interviews.recordings.queries import unfinished_revocations

log = logging.getLogger(__name__)


def sweep() -> int:
    """Destroy what is left of revoked recordings; called by the worker's tick. Returns how many interviews are done.

    The recording of a running interview stays until it ends, because the open answer is read from it.
    """
    talking = sa.exists().where(Interview.id == Revocation.interview_id, Interview.stage == Stage.RUNNING)
    waiting = unfinished_revocations(~talking)
    db.session.rollback()
    storage, done = gateways.current().storage, 0
    for interview_id in waiting:
        try:
            recordings.destroy(interview_id, storage=storage)
        except GatewayError as error:
            log.warning("interview %s: recordings are revoked but not deleted yet: %s", interview_id, error.message)
            continue
        recordings.bytes_gone(interview_id)
        db.session.commit()
        done += 1
    return done
