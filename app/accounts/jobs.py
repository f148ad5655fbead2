"""What the worker looks after: the audit logs, whether every entry is what was written, and keys that end soon."""

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
    "with a changed key sessions have ended, API keys do not work, and sealed webhook and authenticator secrets cannot "
    "be read. Set SECRET_KEY to the former one again; if it is lost, replace keys and secrets"
)
CHECKED_EVERY = timedelta(hours=24)
AT_ONCE = 5
"""So many organizations are checked in one round."""


def check_audit_logs() -> int:
    """Check the logs that were not checked for a day; called by the worker's tick. Returns how many are whole.

    May run twice at once: both find the same.
    """
    with reading():
        due = list(unchecked(clock.now() - CHECKED_EVERY, AT_ONCE))
        db.session.rollback()
    whole = 0
    for organization_id in due:
        with only(organization_id):
            found = look(organization_id)
            check.keep_check(db.session.get_one(Organization, organization_id), found)
            db.session.commit()
        whole += found.flaw is None
    return whole


def watch_old_keys() -> int:
    """Tell of replaced keys that are still used shortly before their end; called by the worker's tick.

    Returns how many were told of. May run twice at once: each key is told of once.
    """
    with reading():
        late = members.late_keys()
        db.session.rollback()
    told = 0
    for key_id in late:
        is_told = members.note_late(key_id)
        db.session.commit()
        if is_told:
            log.warning("API key %s was replaced, ends soon, and is still used", key_id)
        told += is_told
    return told


def look(organization_id: str) -> Chain:
    """Follow one log, and tell the operator's log of a flaw. Leaves no transaction open."""
    with reading():
        found = check.followed(db.session.get_one(Organization, organization_id))
        db.session.rollback()
    if found.has_other_key:
        log.error("organization %s was last checked under another SECRET_KEY: %s", organization_id, OTHER_KEY)
    if found.flaw:
        log.error("audit log of organization %s is broken: %s", organization_id, found.flaw)
    return found


def forget_old_attempts() -> int:
    """Delete attempts to sign in that no longer count; called by the worker's tick. Returns how many there were."""
    forgotten = passwords.forget_old()
    db.session.commit()
    return forgotten
