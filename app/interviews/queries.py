"""Reads of interviews: each names its owner, and no list grows slower with its offset.

Numbers are dense per organization and per team, so a page is a range of numbers. With a status filter, small offsets
walk the index; deep ones first skip whole thousands by their counters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, joinedload

from app.accounts.models import Organization, Team, TeamMember
from app.accounts.models import Role as MemberRole
from app.claims import moment
from app.db import db
from app.errors import Forbidden, NotFound
from app.interviews.models import (
    Document,
    Interview,
    InterviewBucket,
    InterviewData,
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
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def interview_for(organization: Organization, interview_id: str) -> Interview:
    """The interview, if it is the organization's; NotFound or Forbidden otherwise."""
    interview = _interview(interview_id)
    if interview.organization_id != organization.id:
        raise Forbidden("This interview belongs to another organization.")
    return interview


def open_interview(flow_id: str, interview_id: str) -> Interview:
    """The interview as the candidate's link names it: both ids must fit. There is no organization to ask for."""
    interview = _interview(interview_id)
    if interview.flow_id != flow_id:
        raise NotFound(MISSING)
    return interview


def interview_seen_by(member: TeamMember, interview_id: str) -> Interview:
    """An interview that the member may see: of their teams, or any of the organization for administrators."""
    interview = _interview(interview_id)
    if interview.organization_id != member.organization_id:
        raise Forbidden("This interview belongs to another organization.")
    if member.role is not MemberRole.ADMIN and interview.team_id not in {team.id for team in member.teams}:
        raise Forbidden("This interview belongs to a team that you are not in.")
    return interview


def _interview(interview_id: str) -> Interview:
    # What is no id at all never reaches the database: PostgreSQL stumbles over NUL in a text.
    interview = db.session.get(Interview, interview_id) if _ID.fullmatch(interview_id) else None
    if interview is None:
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
    organization: Organization,
    *,
    team: Team | None,
    status: InterviewStatus | None,
    limit: int,
    offset: int,
    deep: int = DEEP,
) -> sa.Select[str]:
    """The ids of one page, newest first, as a query to join with whatever its reader needs."""
    run = _numbering(organization, team)
    ids = sa.select(Interview.id).where(run.owner == run.owner_id)
    if status is None:
        top = run.newest - offset
        return ids.where(run.seq <= top, run.seq > top - limit)
    skipped = 0
    if offset >= deep:
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


def count(owner_ids: Sequence[str], *, status: InterviewStatus) -> int:
    """How many interviews of a status the organization or the teams named have, from the counters."""
    total = sa.select(sa.func.coalesce(sa.func.sum(InterviewBucket.interviews), 0)).where(
        InterviewBucket.owner_id.in_(owner_ids), InterviewBucket.status == status
    )
    return int(db.session.execute(total).scalar_one())


class Published(NamedTuple):
    """What ``/v1`` tells of one interview. ``fragments``: (deflated, length, crc) of those that were asked for."""

    id: str
    flow_id: str
    team_id: str
    status: InterviewStatus
    interviewee_email_address: str | None
    interviewee_first_name: str | None
    interviewee_last_name: str | None
    has_data: bool
    summary: str | None
    scores: dict[str, Any] | None
    fragments: tuple[tuple[bytes, int, int], ...]


_HEAD = (
    Interview.id, Interview.flow_id, Interview.team_id, Interview.status, Interview.interviewee_email_address,
    Interview.interviewee_first_name, Interview.interviewee_last_name, InterviewData.interview_id.is_not(None),
    InterviewData.summary, InterviewData.scores,
)  # fmt: skip
_TEXT = (InterviewData.text, InterviewData.text_length, InterviewData.text_crc32)
_DETAILS = (InterviewData.details, InterviewData.details_length, InterviewData.details_crc32)
_FRAGMENTS: dict[str, tuple[Any, ...]] = {"none": (), "text": _TEXT, "full": _TEXT + _DETAILS}


def published(ids: sa.Select[str] | Sequence[str], *, transcript: str) -> list[Published]:
    """Those interviews, newest first, with the kept bytes that ``transcript`` (full, text or none) asks for."""
    statement = (
        sa.select(*_HEAD, *_FRAGMENTS[transcript])
        .outerjoin(InterviewData, InterviewData.interview_id == Interview.id)
        .where(Interview.id.in_(ids))
        .order_by(Interview.org_seq.desc())
        .execution_options(binary_results=True)
    )
    return [_published(row) for row in db.session.execute(statement)]


def _published(row: sa.Row[Any]) -> Published:
    values: list[Any] = list(row)
    kept = values[len(_HEAD) :]
    fragments = tuple((kept[at], kept[at + 1], kept[at + 2]) for at in range(0, len(kept), 3))
    return Published._make([*values[: len(_HEAD)], fragments])


@dataclass(frozen=True, slots=True)
class InterviewFilter:
    """What the platform's list is narrowed to."""

    status: InterviewStatus | None = None
    flow_id: str = ""


def shown_on_platform(member: TeamMember, found_by: InterviewFilter, *, limit: int, offset: int) -> Sequence[Interview]:
    """The platform's list: recruitment interviews with an address, newest first, with what a row shows."""
    shown = _of_member(member).where(Interview.candidate_id.is_not(None)).order_by(Interview.org_seq.desc())
    if found_by.status is not None:
        shown = shown.where(Interview.status == found_by.status)
    if found_by.flow_id:
        shown = shown.where(Interview.flow_id == found_by.flow_id)
    together = (joinedload(Interview.flow), joinedload(Interview.candidate), joinedload(Interview.assigned_recruiter))
    return db.session.scalars(shown.options(*together).limit(limit).offset(offset)).all()


def needing_help(member: TeamMember, *, limit: int = 20) -> Sequence[Interview]:
    """Interviews that wait for a person or for an engine, the oldest first."""
    stuck = Interview.stage.in_((Stage.PROCESSING_FAILED, Stage.WAITS_FOR_RECOGNITION))
    statement = _of_member(member).where(stuck | (Interview.video_stage == VideoStage.FAILED))
    ordered = statement.options(joinedload(Interview.flow)).order_by(Interview.org_seq).limit(limit)
    return db.session.scalars(ordered).all()


def _of_member(member: TeamMember) -> sa.Select[Interview]:
    owned = sa.select(Interview).where(Interview.organization_id == member.organization_id)
    if member.role is MemberRole.ADMIN:
        return owned
    return owned.where(Interview.team_id.in_([team.id for team in member.teams]))


def utterances_of(interview_id: str) -> Sequence[Utterance]:
    """What was said, in order."""
    said = sa.select(Utterance).where(Utterance.interview_id == interview_id).order_by(Utterance.number)
    return db.session.scalars(said).all()


def document_for(interview: Interview, document_id: str) -> Document:
    """A document of this interview, or NotFound."""
    document = db.session.get(Document, document_id) if _ID.fullmatch(document_id) else None
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
    return sa.or_(Interview.lease_until.is_(None), Interview.lease_until < moment())
