"""Conditions for interviews by how far they are and whether they need attention, shared by lists and counts."""

import enum
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core import clock
from app.core.claims import moment
from app.flows.models import FlowStatus, InterviewFlow
from app.interviews.models import IN_WORK, Interview, Stage, VideoStage

SOON = timedelta(days=3)
"""Links that expire within this time are listed as ending."""
TOO_LONG = timedelta(minutes=15)
"""Work that is due for longer and has no lease counts as stuck."""


class Waiting(enum.StrEnum):
    """Filters of the platform's list besides status and flow."""

    STARTED = "started"
    STUCK = "stuck"
    ENDING = "ending"


LINK_FROM = sa.func.coalesce(Interview.link_since, Interview.created_at, type_=Interview.created_at.type)
"""Since when the days of a link count."""


def link_from(interview: Interview) -> datetime:
    """As ``LINK_FROM``: when the link was extended, or else when the interview was created."""
    return interview.link_since or interview.created_at


def condition(waiting: Waiting, *, link_days: int) -> sa.ColumnElement[bool]:
    """As a condition on interviews; ``link_days`` is how many days after creation a link expires."""
    if waiting is Waiting.STARTED:
        return Interview.stage != Stage.CREATED
    return stuck() if waiting is Waiting.STUCK else ending(link_days)


def stuck() -> sa.ColumnElement[bool]:
    """Processing or its video has failed, waits for an engine, or is overdue as in ``late``."""
    wants = Interview.withdrawn_at.is_(None) & Interview.erased_at.is_(None) & Interview.quarantined_at.is_(None)
    failed = Interview.stage.in_((Stage.PROCESSING_FAILED, Stage.WAITS_FOR_RECOGNITION))
    return sa.and_(IN_WORK, wants) & (failed | (Interview.video_stage == VideoStage.FAILED) | late())


def late() -> sa.ColumnElement[bool]:
    """Work is due for longer than ``TOO_LONG`` and has no lease."""
    free = Interview.lease_until.is_(None) | (Interview.lease_until < moment())
    talk = Interview.stage.in_((Stage.SUBMITTED, Stage.PROCESSING))
    video = Interview.video_stage.in_((VideoStage.WAITING, VideoStage.PROCESSING)) & (
        Interview.stage == Stage.COMPLETED
    )
    return (talk | video) & (Interview.due_at < moment(-TOO_LONG)) & free


def ending(link_days: int) -> sa.ColumnElement[bool]:
    """Created, neither started nor declined, and the link expires within ``SOON``."""
    ended = clock.now() - timedelta(days=link_days)
    standing = Interview.declined_at.is_(None) & Interview.withdrawn_at.is_(None) & Interview.erased_at.is_(None)
    standing &= Interview.is_test.is_(False) & Interview.closed_at.is_(None)
    standing &= Interview.quarantined_at.is_(None)
    is_open = sa.exists().where(InterviewFlow.id == Interview.flow_id, InterviewFlow.status == FlowStatus.OPEN)
    as_created = (
        (Interview.created_at > ended) & (Interview.created_at <= ended + SOON) & Interview.link_since.is_(None)
    )
    near = as_created | ((Interview.link_since > ended) & (Interview.link_since <= ended + SOON))
    # SQLite uses the index of open links only where the stage is written out.
    return (Interview.stage == sa.literal_column("'created'")) & near & standing & is_open
