"""Reads of interviews: each names its owner, and no list grows slower with its offset.

Numbers are dense per organization and per team, so a page is a range of numbers. With a status filter, small offsets
walk the index; deep ones first skip whole thousands by their counters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, joinedload

from app.accounts.models import Organization, Team
from app.claims import moment
from app.db import db
from app.errors import Forbidden, NotFound
from app.interviews.models import (
    Document,
    Interview,
    InterviewBucket,
    InterviewStatus,
    Stage,
    Utterance,
    VideoStage,
)

BUCKET = 1000
"""Interviews one counter stands for."""
DEEP = 10_000
"""From this offset on, a filtered list skips by counters."""
MISSING = "There is no interview with this id."


def interview_for(organization: Organization, interview_id: str) -> Interview:
    """The interview, if it is the organization's; NotFound or Forbidden otherwise."""
    interview = db.session.get(Interview, interview_id) if len(interview_id) <= 36 else None
    if interview is None:
        raise NotFound(MISSING)
    if interview.organization_id != organization.id:
        raise Forbidden("This interview belongs to another organization.")
    return interview


def open_interview(flow_id: str, interview_id: str) -> Interview:
    """The interview as the candidate's link names it: both ids must fit. There is no organization to ask for."""
    interview = db.session.get(Interview, interview_id) if len(interview_id) <= 36 else None
    if interview is None or interview.flow_id != flow_id:
        raise NotFound(MISSING)
    return interview


@dataclass(frozen=True, slots=True)
class _Numbering:
    """Whose dense numbers a list runs over."""

    owner_id: str
    newest: int
    owner: InstrumentedAttribute[str]
    seq: InstrumentedAttribute[int]


def _numbering(organization: Organization, team: Team | None) -> _Numbering:
    if team is not None:
        return _Numbering(team.id, team.interview_seq, Interview.team_id, Interview.team_seq)
    return _Numbering(
        organization.id, organization.interview_seq, Interview.organization_id, Interview.org_seq
    )  # fmt: skip


def page_ids(
    organization: Organization, *, team: Team | None, status: InterviewStatus | None, limit: int, offset: int
) -> sa.Select[tuple[str]]:
    """The ids of one page, newest first, as a query to join with whatever its reader needs."""
    run = _numbering(organization, team)
    ids = sa.select(Interview.id).where(run.owner == run.owner_id)
    if status is None:
        top = run.newest - offset
        return ids.where(run.seq <= top, run.seq > top - limit)
    skipped = 0
    if offset >= DEEP:
        bucket, skipped = _bucket_at(run.owner_id, status, offset)
        ids = ids.where(run.seq < (bucket + 1) * BUCKET)
    return ids.where(Interview.status == status).order_by(run.seq.desc()).limit(limit).offset(offset - skipped)


def _bucket_at(owner_id: str, status: InterviewStatus, offset: int) -> tuple[int, int]:
    """The bucket in which the interview at ``offset`` lies, and how many interviews the newer buckets hold."""
    through = sa.func.sum(InterviewBucket.interviews).over(order_by=InterviewBucket.bucket.desc())
    sums = (
        sa.select(InterviewBucket.bucket, InterviewBucket.interviews, through.label("through"))
        .where(InterviewBucket.owner_id == owner_id, InterviewBucket.status == status)
        .subquery()
    )
    found = db.session.execute(
        sa.select(sums.c.bucket, sums.c.through - sums.c.interviews)
        .where(sums.c.through > offset)
        .order_by(sums.c.bucket.desc())
        .limit(1)
    ).first()
    return (int(found[0]), int(found[1])) if found else (-1, 0)


def count(organization: Organization, *, status: InterviewStatus) -> int:
    """How many interviews of a status the organization has, from the counters."""
    total = sa.select(sa.func.coalesce(sa.func.sum(InterviewBucket.interviews), 0)).where(
        InterviewBucket.owner_id == organization.id, InterviewBucket.status == status
    )
    return int(db.session.execute(total).scalar_one())


def shown_on_platform(
    organization: Organization,
    *,
    before: int | None,
    limit: int,
    status: InterviewStatus | None = None,
    flow_id: str | None = None,
) -> Sequence[Interview]:
    """Interviews of the platform's list (recruitment with an address), newest first, older than number ``before``."""
    shown = (
        sa.select(Interview)
        .where(Interview.organization_id == organization.id, Interview.candidate_id.is_not(None))
        .options(
            joinedload(Interview.flow), joinedload(Interview.candidate), joinedload(Interview.assigned_recruiter)
        )
        .order_by(Interview.org_seq.desc())
        .limit(limit)
    )  # fmt: skip
    if before is not None:
        shown = shown.where(Interview.org_seq < before)
    if status is not None:
        shown = shown.where(Interview.status == status)
    if flow_id is not None:
        shown = shown.where(Interview.flow_id == flow_id)
    return db.session.execute(shown).scalars().all()


def needing_help(organization: Organization, *, limit: int = 20) -> Sequence[Interview]:
    """Interviews that wait for a person or for an engine, oldest trouble first."""
    stuck = (Stage.PROCESSING_FAILED, Stage.WAITS_FOR_RECOGNITION)
    statement = (
        sa.select(Interview)
        .where(
            Interview.organization_id == organization.id,
            Interview.stage.in_(stuck) | (Interview.video_stage == VideoStage.FAILED),
        )
        .options(joinedload(Interview.flow))
        .order_by(Interview.org_seq)
        .limit(limit)
    )
    return db.session.execute(statement).scalars().all()


def utterances_of(interview_id: str) -> Sequence[Utterance]:
    """What was said, in order."""
    said = sa.select(Utterance).where(Utterance.interview_id == interview_id).order_by(Utterance.number)
    return db.session.execute(said).scalars().all()


def document_for(interview: Interview, document_id: str) -> Document:
    """A document of this interview, or NotFound."""
    document = db.session.get(Document, document_id) if len(document_id) <= 36 else None
    if document is None or document.interview_id != interview.id:
        raise NotFound("There is no such document.")
    return document


def overdue(stage: Stage, *, limit: int = 200) -> list[str]:
    """Ids of interviews in ``stage`` that are due and under nobody's lease."""
    statement = (
        sa.select(Interview.id)
        .where(Interview.stage == stage, Interview.due_at < moment(), _free())
        .order_by(Interview.due_at)
        .limit(limit)
    )
    return list(db.session.execute(statement).scalars())


def overdue_videos(*, limit: int = 200) -> list[str]:
    """Ids of interviews whose video is due, or whose worker went silent."""
    statement = (
        sa.select(Interview.id)
        .where(
            Interview.video_stage.in_((VideoStage.WAITING, VideoStage.PROCESSING)),
            Interview.due_at < moment(),
            Interview.stage == Stage.COMPLETED,
            _free(),
        )
        .order_by(Interview.due_at)
        .limit(limit)
    )
    return list(db.session.execute(statement).scalars())


def _free() -> sa.ColumnElement[bool]:
    return sa.or_(Interview.lease_until.is_(None), Interview.lease_until < moment(timedelta()))
