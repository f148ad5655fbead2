"""Backlogs in the database: a few counts over indexes. None takes longer with the amount of finished work."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.core.db import db
from app.interviews.models import Hearing, Interview, Stage, Utterance, VideoStage
from app.mail_outbox.models import QueuedMail, QueuedMailState
from app.webhooks.models import Delivery, DeliveryState, Endpoint

MOST = 10_000
"""Counts stop here: a backlog of 10,000 is alarming enough, and counting further would make it worse."""

STAGES = (
    Stage.RUNNING,
    Stage.SUBMITTED,
    Stage.PROCESSING,
    Stage.WAITS_FOR_RECOGNITION,
    Stage.PROCESSING_FAILED,
)
VIDEOS = (VideoStage.WAITING, VideoStage.PROCESSING, VideoStage.FAILED)
ANSWERS = (Hearing.WAITING, Hearing.HEARING)
DELIVERIES = (DeliveryState.PENDING, DeliveryState.SENDING, DeliveryState.HELD, DeliveryState.EXHAUSTED)
LETTERS = (QueuedMailState.WAITING, QueuedMailState.SENDING, QueuedMailState.REFUSED, QueuedMailState.LOST)


def interviews() -> dict[str, int]:
    """Interviews by stage that are in progress or stuck."""
    return _counts(Interview.stage, STAGES)


def videos() -> dict[str, int]:
    """The same for videos, which follow the result."""
    return _counts(Interview.video_stage, VIDEOS)


def answers() -> dict[str, int]:
    """Answers that will be heard once more, by how far that is."""
    return _counts(Utterance.hearing, ANSWERS)


def deliveries() -> dict[str, int]:
    """Undelivered webhooks by state."""
    return _counts(Delivery.state, DELIVERIES)


def letters() -> dict[str, int]:
    """Unsent mails by state."""
    return _counts(QueuedMail.state, LETTERS)


def endpoints() -> dict[str, int]:
    """Webhook endpoints that are failing or disabled."""
    disabled, failing = Endpoint.disabled_at.is_not(None), Endpoint.failing_since.is_not(None)
    parts = {"disabled": disabled, "failing": sa.and_(failing, sa.not_(disabled))}
    return _selected({name: _capped(Endpoint.id, where) for name, where in parts.items()})


def oldest(now: datetime) -> dict[str, float]:
    """Seconds that the oldest of each kind has been waiting; 0 if none waits."""
    first = {
        "webhooks": _first(Delivery.due_at, Delivery.state == DeliveryState.PENDING),
        "interviews": _first(Interview.submitted_at, Interview.stage == Stage.SUBMITTED),
        "letters": _first(QueuedMail.due_at, QueuedMail.state == QueuedMailState.WAITING),
    }
    row = db.session.execute(sa.select(*(query.label(name) for name, query in first.items()))).mappings().one()
    return {name: max(0.0, (now - since).total_seconds()) if since else 0.0 for name, since in row.items()}


def _counts(column: InstrumentedAttribute[Any], states: Iterable[Any]) -> dict[str, int]:
    return _selected({state.value: _capped(column.class_.id, column == state) for state in states})


def _selected(counts: dict[str, sa.ScalarSelect[Any]]) -> dict[str, int]:
    """All counts in one statement."""
    row = db.session.execute(sa.select(*(query.label(name) for name, query in counts.items()))).mappings().one()
    return {name: int(value) for name, value in row.items()}


def _capped(key: Any, where: sa.ColumnElement[bool]) -> sa.ScalarSelect[Any]:
    some = sa.select(key).where(where).limit(MOST).subquery()
    return sa.select(sa.func.count()).select_from(some).scalar_subquery()


def _first(column: Any, where: sa.ColumnElement[bool]) -> sa.ScalarSelect[Any]:
    some = sa.select(column.label("since")).where(where).limit(MOST).subquery()
    return sa.select(sa.func.min(some.c.since)).scalar_subquery()
