"""Sweeps of privacy.

They finish erasures whose files could not be deleted at once or were written meanwhile, keep the journal of erasures,
which lies outside the database so that a restore of an older one can read it, and apply retention rules once a day, a
few cases at a time.
"""

import logging
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from flask import current_app

from app import gateways
from app.candidates.decisions import rules_due
from app.candidates.models import DecisionRule
from app.core import clock
from app.core.db import db, reading
from app.core.db.row_security import only
from app.core.erasure_journal import BadJournal, Journal
from app.core.errors import Conflict, GatewayError, place_of
from app.gateways.storage import Storage
from app.privacy import actions, idle, queries, retention
from app.privacy.models import RetentionRule

log = logging.getLogger(__name__)

LOOKS_BACK = timedelta(days=2)
"""How far before its last act the journal is compared with the rows: longer than clocks and commits can differ."""
SORTED, ERASED, REVOKED, RULES = 100, 5, 20, 20
"""Most cases, candidates, recordings and rules in one round, so that other work of the tick does not wait long."""


def sweep() -> int:
    """Delete the remaining files of erased interviews. Called by the worker's tick.

    Returns how many erasures were proved or settled.
    """
    with reading():
        waiting = queries.unfinished()
        db.session.rollback()
    storage, done = gateways.current().storage, 0
    for interview_id in waiting:
        try:
            left = actions.sweep_files(interview_id, storage=storage)
        except GatewayError as error:
            log.warning("interview %s is erased, but its files are not yet: %s", interview_id, error.message)
            continue
        if left:
            log.warning("interview %s is erased, but %d files are left", interview_id, left)
            continue
        actions.gone(interview_id)
        db.session.commit()
        done += 1
    return done


def keep_journal() -> int:
    """Add new erasures, revocations and withdrawals to the journal. Called by the worker's tick.

    An empty journal gets all there ever were. Returns how many acts were new.
    """
    journal = _journal(current_app.extensions["parley.settings"].erasure_journal)
    since = None if journal.latest is None else min(journal.latest, clock.now()) - LOOKS_BACK
    with reading():
        acts = queries.acts(since=since)
        db.session.rollback()
    try:
        return journal.add(acts)
    except (OSError, BadJournal) as error:
        log.error("the journal of erasures could not be written, so a restore would not repeat them: %s", error)  # noqa: TRY400 - the sentence says it all
        return 0


@lru_cache(maxsize=4)
def _journal(path: Path) -> Journal:
    return Journal(path)


def apply_retention() -> int:
    """Apply every organization's rule until a round finds nothing to do, then again after a day.

    Called by the worker's tick. May run twice at once. Returns how many cases and recordings changed.
    """
    with reading():
        due = idle.rounds_due()
        db.session.rollback()
    return sum(_alone(organization_id) for organization_id in due)


def apply_decision_rules() -> int:
    """Once a day, delete the decision records of erased candidates whose time is over. Called by the worker's tick.

    May run twice at once. Returns how many records were deleted.
    """
    with reading():
        due = [rule.organization_id for rule in rules_due(before=clock.now() - idle.CHECKED_EVERY, limit=RULES)]
        db.session.rollback()
    return sum(_decisions_of(organization_id) for organization_id in due)


def _decisions_of(organization_id: str) -> int:
    with only(organization_id):
        rule = db.session.get_one(DecisionRule, organization_id)
        deleted = retention.delete_old_decisions(rule)
        rule.checked_at = clock.now()
        db.session.commit()
    return deleted


def _alone(organization_id: str) -> int:
    """One round. A failure is logged and does not affect other organizations."""
    try:
        with only(organization_id):
            return _round(organization_id)
    except Exception as error:  # noqa: BLE001 - logged with its place; the text could quote a person
        what = type(error).__name__
        log.error("retention of organization %s failed: %s at %s", organization_id, what, place_of(error))  # noqa: TRY400
        db.session.rollback()
        return 0


def _round(organization_id: str) -> int:
    rule = db.session.get_one(RetentionRule, organization_id)
    done = retention.sort_out(rule, limit=SORTED)
    db.session.commit()
    rule = db.session.get_one(RetentionRule, organization_id)
    if retention.is_in_force(rule) and rule.months is not None:
        before = idle.earlier(clock.now(), rule.months)
        for case in idle.over(organization_id, before=before, limit=ERASED):
            done += _erased(case)
    if retention.is_media_in_force(rule) and rule.media_days is not None:
        for interview_id in idle.too_old(organization_id, media_days=rule.media_days, limit=REVOKED):
            done += retention.revoke(interview_id)
            db.session.commit()  # the sweep of recordings deletes the files
    if not done:
        rule.checked_at = clock.now()
        db.session.commit()
    return done


def _erased(case: idle.Case) -> int:
    """Erase every interview of a case with its files and proof, then the candidate."""
    storage, done = gateways.current().storage, 0
    for interview_id in idle.interviews_of(case):
        try:
            is_erased = retention.erase(interview_id)
        except Conflict:  # held or erased by someone else meanwhile
            db.session.rollback()
            continue
        db.session.commit()
        done += is_erased
        if is_erased and _swept(interview_id, storage):
            actions.gone(interview_id)
            db.session.commit()
    return done + _forgotten(case)


def _forgotten(case: idle.Case) -> bool:
    try:
        is_forgotten = case.is_candidate and retention.forget_candidate(case)
    except Conflict:  # held meanwhile
        db.session.rollback()
        return False
    db.session.commit()
    return is_forgotten


def _swept(interview_id: str, storage: Storage) -> bool:
    try:
        return actions.sweep_files(interview_id, storage=storage) == 0
    except GatewayError:
        return False  # the sweep tries again
