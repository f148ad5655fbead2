"""Sweeps of the worker: check the audit logs, warn of replaced keys still in use, delete old sign-in attempts."""

import logging
from datetime import timedelta

from app.accounts import members, passwords
from app.accounts.audit import check
from app.accounts.audit.check import Chain
from app.accounts.audit.entries import unchecked
from app.accounts.models import Organization
from app.core import clock
from app.core.db import db, reading
from app.core.db.row_security import only

log = logging.getLogger(__name__)

OTHER_KEY = (
    "with a changed key, sessions have ended, API keys do not work, and encrypted webhook and authenticator secrets "
    "cannot be read. Set SECRET_KEY to the previous value; if it is lost, replace keys and secrets"
)
CHECKED_EVERY = timedelta(hours=24)
AT_ONCE = 5
"""Organizations checked in one round."""


def check_audit_logs() -> int:
    """Check the logs that were not checked for a day; called by the worker's tick. Returns how many are intact.

    Safe to run twice at once: both get the same result.
    """
    with reading():
        due = list(unchecked(clock.now() - CHECKED_EVERY, AT_ONCE))
        db.session.rollback()
    whole = 0
    for organization_id in due:
        with only(organization_id):
            chain = look(organization_id)
            check.keep_check(db.session.get_one(Organization, organization_id), chain)
            db.session.commit()
        whole += chain.flaw is None
    return whole


def watch_old_keys() -> int:
    """Warn of replaced keys that are still used shortly before they end; called by the worker's tick.

    Returns the number of warnings. Safe to run twice at once: each key is reported once.
    """
    with reading():
        late = members.late_keys()
        db.session.rollback()
    warned = 0
    for key_id in late:
        is_first = members.note_late(key_id)
        db.session.commit()
        if is_first:
            log.warning("API key %s was replaced and expires soon, but is still in use", key_id)
        warned += is_first
    return warned


def look(organization_id: str) -> Chain:
    """Check one organization's audit log, and log what is wrong. Leaves no transaction open."""
    with reading():
        chain = check.followed(db.session.get_one(Organization, organization_id))
        db.session.rollback()
    if chain.has_other_key:
        log.error("organization %s was last checked under another SECRET_KEY: %s", organization_id, OTHER_KEY)
    if chain.flaw:
        log.error("audit log of organization %s is broken: %s", organization_id, chain.flaw)
    return chain


def forget_old_attempts() -> int:
    """Delete sign-in attempts that no longer count; called by the worker's tick. Returns how many there were."""
    forgotten = passwords.forget_old()
    db.session.commit()
    return forgotten
