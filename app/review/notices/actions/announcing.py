"""Writes notices in the transaction of what they are about, and deletes them: after an erasure, and when old."""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.core import clock, queue
from app.core.db import db, new_id, unless_there
from app.mail_outbox import actions as mail_outbox
from app.review.notices import SEND_DIGEST, SPREAD_NOTICE
from app.review.notices.models import Notice, NoticeDelivery, NoticeKind, NoticeState

KEPT = timedelta(days=30)
"""As long as the attempts of webhooks."""
ROWS_AT_ONCE = 1_000
_TABLE: Any = Notice.__table__


def announce(
    kind: str,
    *,
    organization_id: str,
    key: str,
    interview_id: str | None = None,
    request_id: str | None = None,
    endpoint_id: str | None = None,
    step: str | None = None,
) -> None:
    """Write down that something happened. Who gets the notice is worked out after the caller's commit.

    ``key`` is the same for the same thing, so announcing it twice is the same as announcing it once.
    """
    db.session.flush()
    notice_id = new_id()
    row = {
        "id": notice_id,
        "organization_id": organization_id,
        "kind": NoticeKind(kind),
        "key": key,
        "interview_id": interview_id,
        "request_id": request_id,
        "endpoint_id": endpoint_id,
        "step": step,
        "created_at": clock.now(),
    }
    result: Any = db.session.execute(unless_there(_TABLE).values(row))
    if result.rowcount == 1:
        queue.after_commit(SPREAD_NOTICE, notice_id)


def erase(interview_id: str) -> int:
    """Delete the notices about the interview, and take back mail that has not left and may name its candidate.

    The other notices of such a daily mail are mailed again without it. Returns how many notices there were.
    """
    mine = sa.select(Notice.id).where(Notice.interview_id == interview_id)
    about = NoticeDelivery.notice_id.in_(mine)
    letters = sa.select(NoticeDelivery.letter_id).where(about, NoticeDelivery.letter_id.is_not(None)).distinct()
    withdrawn = mail_outbox.withdraw(list(db.session.scalars(letters)))
    waits_again = {"state": NoticeState.WAITING, "letter_id": None, "finished_at": None, "due_at": clock.now()}
    again = sa.update(NoticeDelivery).where(NoticeDelivery.letter_id.in_(withdrawn), ~about)
    for row in db.changed_rows(again.values(waits_again).returning(NoticeDelivery.member_id)):
        queue.after_commit(SEND_DIGEST, row.member_id)
    db.changed(sa.delete(NoticeDelivery).where(about))
    count = db.changed(sa.delete(Notice).where(Notice.interview_id == interview_id))
    db.session.expire_all()
    return count


def prune() -> int:
    """Delete notices after 30 days, at most 1,000 per call. Returns how many."""
    old = sa.select(Notice.id).where(Notice.created_at < clock.now() - KEPT).order_by(Notice.created_at)
    ids = list(db.session.scalars(old.limit(ROWS_AT_ONCE)))
    if not ids:
        return 0
    db.changed(sa.delete(NoticeDelivery).where(NoticeDelivery.notice_id.in_(ids)))
    return db.changed(sa.delete(Notice).where(Notice.id.in_(ids)))
