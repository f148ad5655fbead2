"""Reads of sittings and turns."""

from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from app.conversation.models import Sitting, Turn, TurnState
from app.core import claims
from app.core.db import db, is_id, row_security
from app.core.db.prepared import Prepared
from app.core.errors import NotFound
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE
from app.interviews.models import Interview, Stage
from app.interviews.pending import LINK_FROM
from app.interviews.queries import MISSING

TAKEOVER_AFTER = timedelta(seconds=120)
"""Silence of the holder after which another browser can take over."""
ABANDONED_AFTER = timedelta(hours=24)
"""Silence after which the interview counts as abandoned."""


def sitting_of(interview_id: str) -> Sitting | None:
    """The interview's sitting; None if the interview was never started."""
    return db.session.scalar(sa.select(Sitting).where(Sitting.interview_id == interview_id))


class Seat(NamedTuple):
    """What the guard of every request needs: the interview, its language once started, and its sitting if any."""

    interview_id: str
    organization_id: str
    language: str | None
    sitting_id: str | None
    token_hash: str | None
    fence: int
    next_turn: int
    heartbeat_at: datetime | None
    ended_at: datetime | None


def seat_of(flow_id: str, interview_id: str) -> Seat:
    """The link's interview as plain values, by one prepared statement: every request of every candidate reads it.

    Raises NotFound if the two ids do not belong together.
    """
    are_ids = is_id(flow_id) and is_id(interview_id)
    with row_security.finding():
        rows = _SEAT.rows(flow=flow_id, interview=interview_id) if are_ids else ()
    if not rows:
        raise NotFound(MISSING)
    seat = Seat._make(rows[0])
    row_security.settle(seat.organization_id)
    return seat


def turn_of(sitting_id: str, number: int) -> Turn | None:
    """Turn ``number`` of the sitting, in whatever state."""
    return db.session.scalar(sa.select(Turn).where(Turn.sitting_id == sitting_id, Turn.number == number))


def is_being_answered(sitting_id: str, number: int) -> bool:
    """Whether a process is working on the reply to turn ``number``."""
    works = sa.and_(Turn.state == TurnState.WORKING, Turn.lease_until > claims.moment())
    return bool(
        db.session.scalar(sa.select(sa.exists().where(Turn.sitting_id == sitting_id, Turn.number == number, works)))
    )


def last_reply(sitting_id: str) -> Turn | None:
    """The newest turn with a reply: the one the candidate sees."""
    answered = sa.select(Turn).where(Turn.sitting_id == sitting_id, Turn.state == TurnState.ANSWERED)
    return db.session.scalar(answered.order_by(Turn.number.desc()).limit(1))


def deserted(*, link_days: int, limit: int = 100) -> dict[str, datetime | None]:
    """Running interviews without a heartbeat for ABANDONED_AFTER, by id, with their last heartbeat: for the sweep.

    A paused interview counts only after its link has expired, ``link_days`` after it was created or last extended.
    """
    is_out = sa.or_(Sitting.paused_at.is_(None), claims.moment(-timedelta(days=link_days)) > LINK_FROM)
    left = (
        sa.select(Sitting.interview_id, Sitting.heartbeat_at)
        .join(Interview, Interview.id == Sitting.interview_id)
        .where(Sitting.ended_at.is_(None), Sitting.heartbeat_at < claims.moment(-ABANDONED_AFTER))
        .where(is_out)
        .where((Sitting.answers > 0) | (Interview.stage == Stage.RUNNING))
        .order_by(Sitting.heartbeat_at)
        .limit(limit)
    )
    return {row[0]: row[1] for row in db.session.execute(left)}


_I, _S = Interview.__table__.c, Sitting.__table__.c
_LANGUAGE = sa.func.coalesce(sa.type_coerce(_I.script, sa.JSON)["language"].as_string(), DEFAULT_LANGUAGE)
_SEAT = Prepared(
    sa.select(
        _I.id,
        _I.organization_id,
        sa.case((_I.script.is_not(None), _LANGUAGE)),  # without reading all the questions, every second
        _S.id,
        _S.token_hash,
        _S.fence,
        _S.next_turn,
        _S.heartbeat_at,
        _S.ended_at,
    )
    .select_from(Interview.__table__.outerjoin(Sitting.__table__, _S.interview_id == _I.id))
    .where(_I.id == sa.bindparam("interview"), _I.flow_id == sa.bindparam("flow"))
)
