"""Sweep that notifies administrators of quotas that are nearly or completely used."""

from flask import current_app

from app import gateways
from app.accounts.usage import actions, queries
from app.core.db import db, reading
from app.core.db.row_security import only


def tell() -> int:
    """Notify each organization once per month and level. Safe to run any number of times. Returns mails queued."""
    with reading():
        due = [one for one in queries.to_be_told() if _has_news(one)]
        db.session.rollback()
    app_url, posted = str(current_app.extensions["parley.settings"].app_url), 0
    for organization_id in due:
        with only(organization_id):
            posted += actions.tell(organization_id, app_url=app_url, by_mail=gateways.current().mail.is_configured)
            db.session.commit()
    return posted


def _has_news(organization_id: str) -> bool:
    standing = queries.standing_of(organization_id)
    return standing.level > max(queries.told_levels(organization_id, standing.used.month), default=0)
