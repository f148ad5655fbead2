"""Reads of interviews. Each names its owner. What ``/v1`` shows is read in ``listings``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import joinedload, undefer

from app.accounts.key_scope import refuse_outside
from app.accounts.models import Owner, TeamMember
from app.core.claims import moment
from app.core.db import db, is_id, row_security, unseen
from app.core.errors import Forbidden, NotFound
from app.flows.queries import reach, refuse_viewer, seen
from app.interviews.models import (
    Hearing,
    Interview,
    InterviewData,
    InterviewStatus,
    ScoreVersion,
    Stage,
    Utterance,
    VideoStage,
)
from app.interviews.pending import Waiting, condition, stuck

MISSING = "There is no interview with this id."

FOREIGN = "This interview belongs to another organization."


def interview_for(organization: Owner, interview_id: str, *, locked: bool = False) -> Interview:
    """The interview, if it is the organization's; NotFound or Forbidden otherwise. ``locked``: until the commit."""
    interview = _interview(interview_id.lower(), locked=locked)  # some customers store UUIDs in upper case
    if interview.organization_id != organization.id:
        raise Forbidden(FOREIGN, code="other_organization")
    refuse_outside(organization, team_id=interview.team_id, flow_id=interview.flow_id)
    return interview


def open_interview(flow_id: str, interview_id: str) -> Interview:
    """The interview of the candidate's link, where both ids must match. The organization comes from the interview."""
    with row_security.finding():
        interview = _interview(interview_id)
    if interview.flow_id != flow_id:
        raise NotFound(MISSING)
    row_security.settle(interview.organization_id)
    return interview


def interview_seen_by(member: TeamMember, interview_id: str) -> Interview:
    """An interview of a flow that the member may see. Raises the same NotFound for hidden and for missing ones."""
    return seen(member, Interview, interview_id, kind="interview", access_id=interview_id)


def interview_to_change(member: TeamMember, interview_id: str) -> Interview:
    """An interview of a flow that the member may change. Raises NotFound as above, and Forbidden for viewers."""
    interview = interview_seen_by(member, interview_id)
    refuse_viewer(member, interview)
    return interview


def newest_result(candidate_id: str) -> str | None:
    """Id of the candidate's newest interview whose result is not withheld."""
    query = sa.select(Interview.id).where(
        Interview.candidate_id == candidate_id,
        Interview.stage == Stage.COMPLETED,
        Interview.withdrawn_at.is_(None),
        Interview.erased_at.is_(None),
    )
    return db.session.scalar(query.order_by(Interview.org_seq.desc()).limit(1))


def newest_results(candidate_ids: Sequence[str]) -> dict[str, Interview]:
    """Candidate id to the interview of ``newest_result``, with its result, in one read."""
    query = sa.select(Interview).where(
        Interview.candidate_id.in_(candidate_ids),
        Interview.stage == Stage.COMPLETED,
        Interview.withdrawn_at.is_(None),
        Interview.erased_at.is_(None),
    )
    whole = joinedload(Interview.data).options(undefer(InterviewData.text), undefer(InterviewData.details))
    rows = db.session.scalars(query.order_by(Interview.org_seq).options(whole))
    return {one.candidate_id: one for one in rows if one.candidate_id}


def _interview(interview_id: str, *, locked: bool = False) -> Interview:
    how: dict[str, Any] = {"with_for_update": {"key_share": True}, "populate_existing": True} if locked else {}
    interview = db.session.get(Interview, interview_id, **how) if is_id(interview_id) else None
    if interview is None:
        raise unseen(Interview, interview_id, NotFound(MISSING), foreign=FOREIGN)
    return interview


@dataclass(frozen=True, slots=True)
class InterviewFilter:
    """Filters of the platform's list; ``tests`` includes test interviews."""

    status: InterviewStatus | None = None
    flow_id: str = ""
    waiting: Waiting | None = None
    link_days: int = 0
    tests: bool = False


def shown_on_platform(member: TeamMember, filters: InterviewFilter, *, limit: int, offset: int) -> Sequence[Interview]:
    """The platform's list: recruitment interviews with an address, newest first, with everything a row shows.

    Stuck interviews are listed with or without an address, because both need attention.
    """
    shown = _of_member(member).where(Interview.quarantined_at.is_(None)).order_by(Interview.org_seq.desc())
    if filters.waiting is not Waiting.STUCK:
        shown = shown.where(Interview.candidate_id.is_not(None))
        if not filters.tests:
            shown = shown.where(Interview.is_test.is_(False))
    if filters.waiting is not None:
        shown = shown.where(condition(filters.waiting, link_days=filters.link_days))
    if filters.status is not None:
        shown = shown.where(Interview.status == filters.status)
    if filters.flow_id:
        shown = shown.where(Interview.flow_id == filters.flow_id)
    together = (joinedload(Interview.flow), joinedload(Interview.candidate), joinedload(Interview.assigned_recruiter))
    return db.session.scalars(shown.options(*together).limit(limit).offset(offset)).all()


def needing_help(member: TeamMember, *, limit: int = 20) -> Sequence[Interview]:
    """Stuck interviews that the member may see, the oldest first."""
    statement = _of_member(member).where(stuck())
    ordered = statement.options(joinedload(Interview.flow)).order_by(Interview.org_seq).limit(limit)
    return db.session.scalars(ordered).all()


def _of_member(member: TeamMember) -> sa.Select[Interview]:
    return sa.select(Interview).where(*reach(member, Interview))


def utterances_of(interview_id: str) -> Sequence[Utterance]:
    """The interview's utterances in order."""
    said = sa.select(Utterance).where(Utterance.interview_id == interview_id).order_by(Utterance.number)
    return db.session.scalars(said).all()


def versions_of(interview: Interview) -> Sequence[ScoreVersion]:
    """All versions of the result's scores, by number; none where they were scored only once."""
    rows = sa.select(ScoreVersion).where(ScoreVersion.interview_id == interview.id).order_by(ScoreVersion.number)
    return db.session.scalars(rows.options(joinedload(ScoreVersion.requested_by))).all()


def overdue(stage: Stage, *, limit: int = 200) -> list[str]:
    """Ids of interviews in ``stage`` that are due and have no lease."""
    statement = (
        sa.select(Interview.id)
        .where(Interview.stage == stage, Interview.due_at < moment(), _free())
        .order_by(Interview.due_at)
        .limit(limit)
    )
    return list(db.session.execute(statement).scalars())


def unheard(*, limit: int = 200) -> list[str]:
    """Ids of answers that wait to be heard again, or whose worker died."""
    free = sa.or_(Utterance.lease_until.is_(None), Utterance.lease_until < moment())
    waits = sa.and_(Utterance.hearing.in_((Hearing.WAITING, Hearing.HEARING)), free)
    return list(db.session.scalars(sa.select(Utterance.id).where(waits).order_by(Utterance.created_at).limit(limit)))


def unheard_of(interview_id: str) -> list[tuple[str, bool]]:
    """The same of one interview, in order, and whether each can be claimed; one that rests after a failure is not."""
    free = sa.or_(Utterance.lease_until.is_(None), Utterance.lease_until < moment())
    rows = sa.select(Utterance.id, free).where(
        Utterance.interview_id == interview_id,
        sa.or_(Utterance.hearing == Hearing.HEARING, sa.and_(Utterance.hearing == Hearing.WAITING, free)),
    )
    return [(row[0], bool(row[1])) for row in db.session.execute(rows.order_by(Utterance.number))]


def overdue_videos(*, limit: int = 200) -> list[str]:
    """Ids of interviews whose video is due and has no lease."""
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
