"""Which interviews wait for somebody: conditions that lists and counts share."""

import enum
from datetime import timedelta

import sqlalchemy as sa

from app.core import clock
from app.core.claims import moment
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews.models import Interview, Stage, VideoStage

SOON = timedelta(days=3)
"""An invitation whose link ends within this time is about to be lost."""
TOO_LONG = timedelta(minutes=15)
"""Work that is due for longer, and that nobody holds, is not on its way any more."""


class Waiting(enum.StrEnum):
    """What the platform's list can be narrowed to besides status and flow."""

    STUCK = "stuck"
    ENDING = "ending"


def condition(waiting: Waiting, *, link_days: int) -> sa.ColumnElement[bool]:
    """As a condition on interviews; ``link_days`` is how long a link may be started after its booking."""
    return stuck() if waiting is Waiting.STUCK else ending(link_days)


def stuck() -> sa.ColumnElement[bool]:
    """Processing or its video has failed, waits for an engine, or is due for too long while nobody works on it."""
    wants = Interview.withdrawn_at.is_(None) & Interview.erased_at.is_(None) & Interview.quarantined_at.is_(None)
    failed = Interview.stage.in_((Stage.PROCESSING_FAILED, Stage.WAITS_FOR_RECOGNITION))
    return wants & (failed | (Interview.video_stage == VideoStage.FAILED) | late())


def late() -> sa.ColumnElement[bool]:
    """Work is due for longer than ``TOO_LONG``, under nobody's lease."""
    free = Interview.lease_until.is_(None) | (Interview.lease_until < moment())
    talk = Interview.stage.in_((Stage.SUBMITTED, Stage.PROCESSING))
    video = Interview.video_stage.in_((VideoStage.WAITING, VideoStage.PROCESSING)) & (
        Interview.stage == Stage.COMPLETED
    )
    return (talk | video) & (Interview.due_at < moment(-TOO_LONG)) & free


def ending(link_days: int) -> sa.ColumnElement[bool]:
    """Booked, neither begun nor declined, and the link ends within ``SOON``."""
    ended = clock.now() - timedelta(days=link_days)
    standing = Interview.declined_at.is_(None) & Interview.withdrawn_at.is_(None) & Interview.erased_at.is_(None)
    standing &= Interview.is_test.is_(False) & Interview.closed_at.is_(None)
    standing &= Interview.quarantined_at.is_(None)
    is_open = sa.exists().where(InterviewFlow.id == Interview.flow_id, InterviewFlow.status == FlowStatus.OPEN)
    near = (Interview.created_at > ended) & (Interview.created_at <= ended + SOON)
    return (Interview.stage == Stage.CREATED) & near & standing & is_open
