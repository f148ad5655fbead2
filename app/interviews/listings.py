"""Interviews as ``/v1`` shows them. Lists stay fast at any offset.

Numbers have no gaps per organization and per team, so a page is a range of numbers. With a status filter, small
offsets walk the index; deep ones first skip whole thousands by their counters.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts.key_scope import place, refuse_outside, within
from app.accounts.models import Owner, Team
from app.core.db import db, is_id
from app.core.db.prepared import Prepared
from app.core.errors import NotFound
from app.flows.models import InterviewFlow
from app.interviews.models import Interview, InterviewBucket, InterviewData, InterviewStatus, InterviewTestBucket
from app.interviews.numbers import Numbered, number_before
from app.interviews.queries import MISSING, interview_for

BUCKET = 1000
"""Interviews per counter."""
DEEP = 10_000
"""From this offset on, a filtered list skips by counters."""


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
    refuse_outside(organization, team_id=rows[0].team_id, flow_id=rows[0].flow_id)
    return rows[0]


def published_among(organization_id: str, ids: Collection[str]) -> list[Published]:
    """Those of these interviews that are the organization's, without fragments."""
    mine = _statement("none").where(_I.organization_id == organization_id, _I.id.in_(ids))
    return [_published(row) for row in db.session.connection().execute(mine)]


def published_page(
    organization: Numbered,
    *,
    team: Team | None = None,
    flow: InterviewFlow | None = None,
    created_after: datetime | None = None,
    status: InterviewStatus | None = None,
    is_test: bool | None = None,
    limit: int,
    offset: int,
    transcript: str,
    deep: int = DEEP,
) -> list[Published]:
    """One page of the list, newest first. From offset ``deep`` on a filtered list skips by counters."""
    inside = within(organization, team_id=_I.team_id, flow_id=_I.flow_id)
    if flow is not None:
        inside.append(_I.flow_id == flow.id)
    if created_after is not None:
        inside += [_I.created_at > created_after, _I.org_seq > number_before(organization, created_after)]
    if inside:
        given = {"organization_id": organization.id, "team_id": team and team.id, "status": status, "is_test": is_test}
        inside += [_I[name] == value for name, value in given.items() if value is not None]
        return _narrow_page(inside, transcript, slice(offset, offset + limit))
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


def _narrow_page(inside: list[sa.ColumnElement[bool]], transcript: str, page: slice) -> list[Published]:
    """Of interviews that have no numbers of their own: those of a narrow key, of a flow, of a time. Walks an index."""
    ids = sa.select(_I.id).where(*inside).order_by(_I.org_seq.desc()).slice(page.start, page.stop)
    rows = db.session.execute(_statement(transcript).where(_I.id.in_(ids)).order_by(_I.org_seq.desc()))
    return [_published(row) for row in rows]


def _how_many(owner: Numbered, *, is_test: bool | None) -> int:
    if is_test is None:
        return owner.interview_seq
    return owner.interview_test_seq if is_test else owner.interview_seq - owner.interview_test_seq


# Core tables and statements are built once, so reading a page costs little more than fetching its bytes.
_I, _D = Interview.__table__.c, InterviewData.__table__.c
place("interview_id", Interview.__table__, team_id=_I.team_id, flow_id=_I.flow_id)
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
    return Prepared(_statement(transcript).where(*here).order_by(seq.desc()), at_once=transcript == "none")


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
    return Prepared(_statement(transcript).where(_I.id.in_(ids)).order_by(seq.desc()), at_once=transcript == "none")


def _read(statement: Prepared, values: dict[str, Any]) -> list[Published]:
    return [_published(row) for row in statement.rows(**values)]


def _published(row: Sequence[Any]) -> Published:
    head = len(_HEAD)
    fragments = tuple([(row[at], row[at + 1], row[at + 2]) for at in range(head, len(row), 3)])
    return Published._make((*row[:head], fragments))


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
