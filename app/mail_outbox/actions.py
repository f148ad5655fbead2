"""Queue mail in the caller's transaction, claim it for one worker, and settle it."""

import json
from collections.abc import Collection
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.core import claims, clock, encryption, queue
from app.core.db import db, new_id
from app.core.db.prepared import Prepared
from app.gateways.mail import Mail
from app.mail_outbox import SEND_MAIL
from app.mail_outbox.models import QueuedMail, QueuedMailState

LEASE = timedelta(minutes=6)
"""Longer than a mail server can take, including all timeouts."""
SLACK = timedelta(seconds=1)
"""How much the clocks of this host and of the database may differ for a mail that is due at once."""
MOST_ATTEMPTS = 8
NOT_NEEDED = "not needed any more"
CANCELLED = "cancelled"
"""Stored in rows and compared, so they stay."""
AT_ONCE = timedelta()


def post(
    interview_id: str | None, mail: Mail, *, lasts: timedelta, waits: timedelta = AT_ONCE, lapses: bool = True
) -> QueuedMail:
    """Put a mail into the outbox. It is sent after the caller's commit, unless it is ``lasts`` old by then.

    One that ``waits`` is sent by the first sweep after that time; until then ``cancel`` can withdraw it. A mail that
    ``lapses`` is dropped when the interview starts.
    """
    now, mail_id = clock.now(), new_id()
    said = {name: value for name, value in asdict(mail).items() if value}  # a worker of the last release knows fewer
    sealed = encryption.seal(json.dumps(said), context=_context(mail_id))
    queued = QueuedMail(
        id=mail_id,
        interview_id=interview_id,
        sealed=sealed,
        due_at=now + waits,
        expires_at=now + waits + lasts,
        created_at=now,
        lapses=lapses,
    )
    db.session.add(queued)
    db.session.flush()
    if waits == AT_ONCE:
        queue.after_commit(SEND_MAIL, mail_id)
    return queued


def take(mail_id: str) -> tuple[int, Mail] | None:
    """Claim a mail that is due: the token and the mail. None if there is nothing to send; commit either way.

    A mail whose worker died while sending may have arrived, so it is not sent again; neither is one that is too old.
    One that still waits for its time is left alone.
    """
    is_early = (QueuedMail.attempts == 0, QueuedMail.due_at > claims.moment(SLACK))
    if db.session.scalar(sa.select(QueuedMail.id).where(QueuedMail.id == mail_id, *is_early)) is not None:
        return None
    token = claims.take(
        QueuedMail.state, mail_id, expects=[QueuedMailState.WAITING], becomes=QueuedMailState.SENDING, lease=LEASE
    )
    if token is None:
        return None
    queued = db.session.get_one(QueuedMail, mail_id, populate_existing=True)
    over = (
        QueuedMailState.LOST
        if queued.recoveries
        else QueuedMailState.EXPIRED
        if queued.expires_at <= clock.now()
        else None
    )
    if over is not None or queued.sealed is None:
        settle(mail_id, token, over or QueuedMailState.LOST)
        return None
    try:
        return token, Mail(**json.loads(encryption.unseal(queued.sealed, context=_context(mail_id))))
    except encryption.SealBroken as error:
        settle(mail_id, token, QueuedMailState.REFUSED, failure=str(error))
        return None


def settle(mail_id: str, token: int, state: QueuedMailState, *, failure: str | None = None) -> bool:
    """Record the final state and delete the text. False if the claim was lost."""
    return claims.finish(
        QueuedMail,
        mail_id,
        token,
        state=state,
        sealed=None,
        settled_at=clock.now(),
        failure=failure and failure[:200],
        attempts=QueuedMail.attempts + 1,
    )


def put_off(mail_id: str, token: int, *, failure: str) -> bool:
    """Retry after a growing pause, up to eight attempts, if the mail server was not reached or said later."""
    queued = db.session.get_one(QueuedMail, mail_id)
    if queued.attempts + 1 >= MOST_ATTEMPTS:
        return settle(mail_id, token, QueuedMailState.REFUSED, failure=failure)
    pause = timedelta(seconds=min(5 * 2**queued.attempts, 600))
    return claims.finish(
        QueuedMail,
        mail_id,
        token,
        state=QueuedMailState.WAITING,
        due_at=claims.moment(pause),
        failure=failure[:200],
        attempts=QueuedMail.attempts + 1,
    )


def hurry(mail_id: str) -> bool:
    """Make a waiting mail due now. False if it is settled or being sent."""
    waits = sa.or_(QueuedMail.lease_until.is_(None), QueuedMail.lease_until < claims.moment())
    statement = (
        sa.update(QueuedMail)
        .where(QueuedMail.id == mail_id, QueuedMail.state == QueuedMailState.WAITING, waits)
        .values(due_at=clock.now())
    )
    changed = db.changed(statement) == 1
    if changed:
        queue.after_commit(SEND_MAIL, mail_id)
    return changed


def cancel(mail_ids: Collection[str]) -> set[str]:
    """Withdraw those of these mails that no worker has taken yet, and delete their text; returns their ids."""
    db.session.flush()
    free = sa.or_(QueuedMail.lease_until.is_(None), QueuedMail.lease_until < claims.moment())
    statement = (
        sa.update(QueuedMail)
        .where(QueuedMail.id.in_(mail_ids), QueuedMail.state == QueuedMailState.WAITING, free)
        .values(state=QueuedMailState.EXPIRED, sealed=None, settled_at=clock.now(), failure=CANCELLED)
    )
    return {row.id for row in db.changed_rows(statement.returning(QueuedMail.id))}


def drop(interview_id: str) -> int:
    """Cancel waiting mail about the interview that lapses with its start; returns the number cancelled."""
    db.session.flush()
    return _DROPPED.changed({"interview": interview_id, "now": clock.now()})


def withdraw(mail_ids: list[str]) -> list[str]:
    """Cancel the waiting ones of these mails and delete their text; returns their ids. What has left stays."""
    statement = sa.update(QueuedMail).where(QueuedMail.id.in_(mail_ids), QueuedMail.state == QueuedMailState.WAITING)
    gone = {"state": QueuedMailState.EXPIRED, "sealed": None, "settled_at": clock.now(), "failure": NOT_NEEDED}
    return [row.id for row in db.changed_rows(statement.values(gone).returning(QueuedMail.id))]


_MAIL: Any = QueuedMail.__table__
_DROPPED = Prepared(
    sa.update(_MAIL)
    .where(
        _MAIL.c.interview_id == sa.bindparam("interview"),
        _MAIL.c.state == QueuedMailState.WAITING,
        _MAIL.c.lapses.is_(True),
    )
    .values(state=QueuedMailState.EXPIRED, sealed=None, settled_at=sa.bindparam("now"), failure=NOT_NEEDED)
)


def erase(interview_id: str) -> int:
    """Delete all mail about an interview, including unsent mail; returns the number deleted."""
    return db.changed(sa.delete(QueuedMail).where(QueuedMail.interview_id == interview_id))


def _context(mail_id: str) -> str:
    return f"letter:{mail_id}:sealed"
