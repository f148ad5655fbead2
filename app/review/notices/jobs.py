"""Jobs of notices: work out who gets one, mail the daily summaries, and send to Slack and Teams."""

import asyncio
import time

from flask import current_app

from app import gateways
from app.accounts.models import TeamMember
from app.core import queue
from app.core.db import db, for_one, reading
from app.review.notices import SEND_DIGEST, SEND_NOTICES, SPREAD_NOTICE, actions, queries
from app.review.notices.actions import Post, Ready
from app.review.notices.delivery import Outcome, attempt
from app.review.notices.models import Notice

SLICE_SECONDS = 30.0
"""After this time a run ends and enqueues the next one, so that webhooks on the same queue get their turn."""


def post() -> Post:
    """Settings of the installation that notices need."""
    app_url = str(current_app.extensions["parley.settings"].app_url)
    return Post(app_url, gateways.current().mail.is_configured)


@for_one(Notice)
def spread(notice_id: str) -> None:
    """Write the rows of a notice's destinations and the mails that are sent at once. May run twice."""
    actions.spread(notice_id, post())
    db.session.commit()


@for_one(TeamMember)
def digest(member_id: str) -> None:
    """Post a member's daily mail, if it is due and there is something to say. May run twice."""
    actions.digest(member_id, post())
    db.session.commit()


def send(seconds: float = SLICE_SECONDS) -> int:
    """Send what is due to Slack and Teams until nothing is left, or for ``seconds``. Returns how many attempts.

    Any number of runs may be under way at once: the claims decide which of them sends what.
    """
    leave_at, attempts = time.monotonic() + seconds, 0
    while True:
        ready = actions.take(post())
        db.session.commit()
        if not ready:
            return attempts
        for one, outcome in zip(ready, asyncio.run(_sent(ready)), strict=True):
            actions.record(one, outcome, post())
            db.session.commit()
        attempts += len(ready)
        if time.monotonic() >= leave_at:
            queue.enqueue_overdue(SEND_NOTICES)
            return attempts


async def _sent(ready: list[Ready]) -> list[Outcome]:
    http = gateways.current().http
    return await asyncio.gather(*(attempt(one.service, one.address, one.body, http=http) for one in ready))


def digests_due() -> list[str]:
    """Ids of members whose daily mail is due, if there is a mail server."""
    return queries.digests_due() if post().can_mail else []


def overdue() -> list[tuple[str, ...]]:
    """One run without ids if ``send`` has anything to do, otherwise none."""
    return [()] if queries.sendable() else []


def sweep() -> None:
    """Enqueue what is due, so that a lost wake-up costs only seconds. Called by the worker's tick."""
    queue.enqueue_overdue(SPREAD_NOTICE, SEND_DIGEST, SEND_NOTICES)


def prune() -> int:
    """Delete what is older than 30 days. Called by the worker's tick. Returns how many notices."""
    with reading():
        is_due = queries.has_old(actions.KEPT)
        db.session.rollback()
    if not is_due:
        return 0
    pruned = actions.prune()
    db.session.commit()
    return pruned
