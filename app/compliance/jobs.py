"""Finishes what an erasure began: files that could not be destroyed at once, or were written while it happened.

And keeps the journal of what was destroyed, which stands outside of the database for whoever restores an older one.
"""

import logging
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from flask import current_app

from app import clock, gateways
from app.backups.journal import BadJournal, Journal
from app.compliance import actions, queries
from app.db import db, reading
from app.errors import GatewayError

log = logging.getLogger(__name__)

LOOKS_BACK = timedelta(days=2)
"""How far before the last act the journal is compared with the rows again: longer than clocks and commits differ."""


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


def keep_journal() -> int:
    """Write into the journal what was erased, revoked or withdrawn, all of it at first; called by the worker's tick.

    Returns how many acts were new.
    """
    journal = _journal(current_app.extensions["parley.settings"].erasure_journal)
    since = None if journal.latest is None else min(journal.latest, clock.now()) - LOOKS_BACK
    with reading():
        acts = queries.acts(since=since)
        db.session.rollback()
    try:
        return journal.add(acts)
    except (OSError, BadJournal) as error:
        log.error("the journal of erasures was not written, so a restore would not know of them: %s", error)  # noqa: TRY400 - the sentence says it all
        return 0


@lru_cache(maxsize=4)
def _journal(path: Path) -> Journal:
    return Journal(path)
