"""Reads of interviews. Each names its owner, and lists stay fast at any offset.

Numbers have no gaps per organization and per team, so a page is a range of numbers. With a status filter, small
offsets walk the index; deep ones first skip whole thousands by their counters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import sqlalchemy as sa
from sqlalchemy.orm import joinedload, undefer

from app.accounts.models import Owner, Team, TeamMember
from app.core.claims import moment
from app.core.db import db, is_id, row_security, unseen
from app.core.db.prepared import Prepared
from app.core.errors import Forbidden, NotFound, sentence
from app.flows.queries import reach, refuse_viewer, seen
from app.interviews.models import (
    Document,
    Hearing,
    Interview,
    InterviewBucket,
    InterviewData,
    InterviewStatus,
    InterviewTestBucket,
    ScoreVersion,
    Stage,
    Utterance,
    VideoStage,
)
from app.interviews.pending import Waiting, condition, stuck

BUCKET = 1000
"""Interviews per counter."""
DEEP = 10_000
"""From this offset on, a filtered list skips by counters."""
MISSING = "There is no interview with this id."

FOREIGN = "This interview belongs to another organization."


def interview_for(organization: Owner, interview_id: str, *, locked: bool = False) -> Interview:
    """The interview, if it is the organization's; NotFound or Forbidden otherwise. ``locked``: until the commit."""
    interview = _interview(interview_id.lower(), locked=locked)  # some customers store UUIDs in upper case
    if interview.organization_id != organization.id:
        raise Forbidden(FOREIGN)
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


class Published(NamedTuple):
    """What ``/v1`` shows of one interview. ``fragments``: (deflated, length, crc) of the requested ones."""

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
    is_withheld: bool  # consent was withdrawn: scores, summary and recordings are not sent
    fragments: tuple[tuple[bytes, int, int], ...]


def published(organization: Owner, interview_id: str, *, transcript: str) -> Published:
    """One interview with the stored fragments for ``transcript``. Raises as ``interview_for``."""
    wanted = interview_id.lower()
    rows = _read(_single(transcript), {"id": wanted, "owner": organization.id}) if is_id(wanted) else []
    if not rows:
        interview_for(organization, interview_id)
        raise NotFound(MISSING)  # created at this very moment
    return rows[0]


class Numbered(Owner, Protocol):
    """An organization or a team, with the last of the numbers by which its interviews are listed."""

    @property
    def interview_seq(self) -> int: ...

    @property
    def interview_test_seq(self) -> int: ...


def published_page(
    organization: Numbered,
    *,
    team: Team | None = None,
    status: InterviewStatus | None = None,
    is_test: bool | None = None,
    limit: int,
    offset: int,
    transcript: str,
    deep: int = DEEP,
) -> list[Published]:
    """One page of the list, newest first. From offset ``deep`` on a filtered list skips by counters."""
    owner: Numbered = team or organization
    has_mode = is_test is not None
    values: dict[str, Any] = {"owner": owner.id, **({"is_test": is_test} if has_mode else {})}
    if status is None:
        top = _how_many(owner, is_test=is_test) - offset
        statement = _range(team is not None, has_mode, transcript)
        return _read(statement, {**values, "top": top, "bottom": top - limit})
    below, skipped = _bucket_at(owner.id, status, offset, is_test=is_test) if offset >= deep else (_ENDLESS, 0)
    values |= {"status": status, "below": below, "limit": limit, "offset": offset - skipped}
    return _read(_filtered(team is not None, has_mode, transcript), values)


def _how_many(owner: Numbered, *, is_test: bool | None) -> int:
    if is_test is None:
        return owner.interview_seq
    return owner.interview_test_seq if is_test else owner.interview_seq - owner.interview_test_seq


# Core tables and statements are built once, so reading a page costs little more than fetching its bytes.
_I, _D = Interview.__table__.c, InterviewData.__table__.c
_HEAD = (
    _I.id,
    _I.flow_id,
    _I.team_id,
    _I.status,
    _I.interviewee_email_address,
    _I.interviewee_first_name,
    _I.interviewee_last_name,
    _D.interview_id.is_not(None),
    _D.summary,
    _D.scores,
    _I.withdrawn_at.is_not(None),
)
_TEXT = (_D.text, _D.text_length, _D.text_crc32)
_DETAILS = (_D.details, _D.details_length, _D.details_crc32)
_FRAGMENTS: dict[str, tuple[Any, ...]] = {"none": (), "text": _TEXT, "full": _TEXT + _DETAILS}
_ENDLESS = 2**62


def _statement(transcript: str) -> sa.Select[*tuple[Any, ...]]:
    both = Interview.__table__.outerjoin(InterviewData.__table__, _D.interview_id == _I.id)
    statement = sa.select(*_HEAD, *_FRAGMENTS[transcript]).select_from(both)
    return statement.execution_options(binary_results=True)


@cache
def _single(transcript: str) -> Prepared:
    here = (_I.id == sa.bindparam("id"), _I.organization_id == sa.bindparam("owner"))
    return Prepared(_statement(transcript).where(*here))


def _numbers(*, of_team: bool) -> tuple[Any, Any]:
    return (_I.team_id, _I.team_seq) if of_team else (_I.organization_id, _I.org_seq)


@cache
def _range(of_team: bool, has_mode: bool, transcript: str) -> Prepared:  # noqa: FBT001 - keys of the cache
    owner, seq = _numbers(of_team=of_team)
    mode = _mode(has_mode=has_mode)
    if has_mode:
        seq = _I.team_mode_seq if of_team else _I.org_mode_seq
    here = (owner == sa.bindparam("owner"), seq <= sa.bindparam("top"), seq > sa.bindparam("bottom"), *mode)
    return Prepared(_statement(transcript).where(*here).order_by(seq.desc()))


def _mode(*, has_mode: bool) -> list[sa.ColumnElement[bool]]:
    return [_I.is_test == sa.bindparam("is_test")] if has_mode else []


@cache
def _filtered(of_team: bool, has_mode: bool, transcript: str) -> Prepared:  # noqa: FBT001 - as above
    owner, seq = _numbers(of_team=of_team)
    ids = (
        sa.select(_I.id)
        .where(owner == sa.bindparam("owner"), _I.status == sa.bindparam("status"), seq < sa.bindparam("below"))
        .where(*_mode(has_mode=has_mode))
        .order_by(seq.desc())
        .limit(sa.bindparam("limit"))
        .offset(sa.bindparam("offset"))
    )
    return Prepared(_statement(transcript).where(_I.id.in_(ids)).order_by(seq.desc()))


def _read(statement: Prepared, values: dict[str, Any]) -> list[Published]:
    return [_published(row) for row in statement.rows(**values)]


def _published(row: Sequence[Any]) -> Published:
    head, width = len(_HEAD), len(row)
    fragments = tuple((row[at], row[at + 1], row[at + 2]) for at in range(head, width, 3))
    return Published._make([*row[:head], fragments])


def _buckets(owner_id: str, status: InterviewStatus, *, is_test: bool | None) -> Any:
    """Rows of (bucket, interviews) for tests, for all others, or for both."""
    every, tests = InterviewBucket, InterviewTestBucket
    table: Any = tests if is_test else every
    rows = sa.select(table.bucket, table.interviews).where(table.owner_id == owner_id, table.status == status)
    if is_test is False:
        same = (tests.owner_id == every.owner_id, tests.status == every.status, tests.bucket == every.bucket)
        live = every.interviews - sa.func.coalesce(tests.interviews, 0)
        rows = rows.with_only_columns(every.bucket, live.label("interviews")).outerjoin(tests, sa.and_(*same))
    return rows.subquery().c


def _bucket_at(owner_id: str, status: InterviewStatus, offset: int, *, is_test: bool | None) -> tuple[int, int]:
    """The number just above the bucket of the interview at ``offset``, and how many interviews newer buckets hold."""
    buckets = _buckets(owner_id, status, is_test=is_test)
    through = sa.func.sum(buckets.interviews).over(order_by=buckets.bucket.desc())
    sums = sa.select(buckets.bucket, buckets.interviews, through.label("through")).subquery()
    row = db.session.execute(
        sa.select(sums.c.bucket, sums.c.through - sums.c.interviews)
        .where(sums.c.through > offset)
        .order_by(sums.c.bucket.desc())
        .limit(1)
    ).first()
    return ((int(row[0]) + 1) * BUCKET, int(row[1])) if row else (0, 0)


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


def document_for(interview: Interview, document_id: str) -> Document:
    """A document of this interview, or NotFound."""
    document = db.session.get(Document, document_id) if is_id(document_id) else None
    if document is None or document.interview_id != interview.id:
        raise NotFound(sentence("There is no such document."))
    return document


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


def await_hearing(interview_id: str) -> None:
    """Let all spoken answers that no one was able to hear again wait for it."""
    spoken = sa.and_(Utterance.hearing == Hearing.NONE, Utterance.first_chunk.is_not(None))
    statement = sa.update(Utterance).where(Utterance.interview_id == interview_id, spoken)
    db.session.execute(statement.values(hearing=Hearing.WAITING))


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
