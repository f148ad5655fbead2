"""Reads of retention: inactive cases, cases in quarantine, and recordings that are too old.

A *case* is a candidate with all their interviews, or an interview without a candidate.
"""

import calendar
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.accounts.models import Organization
from app.candidate_requests.models import CandidateRequest
from app.candidates.models import Candidate, StatusChange
from app.core import clock
from app.core.db import db
from app.interviews.documents.models import Document
from app.interviews.models import Feedback, Interview, Stage
from app.interviews.recordings.models import Chunk, Recording, Revocation
from app.legal_holds.models import LegalHold
from app.legal_holds.queries import is_held
from app.outreach.messages.models import PersonalMessage
from app.outreach.models import Message
from app.privacy.models import RetentionRule
from app.review.notes.models import Note
from app.review.ratings.models import Assessment
from app.review.share_links.models import Share

FLOOR = timedelta(days=30)
"""Grace period after a rule was set or shortened, during which nothing is done."""
QUARANTINE = timedelta(days=30)
"""How long a case can be restored before it is erased."""
CHECKED_EVERY = timedelta(hours=24)
MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Case:
    """One case, the time of its latest activity, and since when it is in quarantine."""

    id: str
    latest: datetime
    quarantined_at: datetime | None
    is_candidate: bool
    name: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a rule would do: numbers of cases and recordings, the first cases, and the number under a legal hold."""

    cases: int
    oldest: datetime | None
    first: list[Case]
    held: int
    recordings: int
    oldest_recording: datetime | None


def rule_of(organization_id: str) -> RetentionRule:
    """The organization's rule, or an unsaved one without limits."""
    return db.session.get(RetentionRule, organization_id) or RetentionRule(organization_id=organization_id)


def earlier(moment: datetime, months: int) -> datetime:
    """The same day and time ``months`` earlier, or the last day of a shorter month."""
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def later(moment: datetime, months: int) -> datetime:
    """As ``earlier``, ``months`` later."""
    return earlier(moment, -months)


def rounds_due(limit: int = 5) -> list[str]:
    """Organizations whose rule was not fully applied within the last day, longest wait first."""
    wanted = sa.or_(RetentionRule.months.is_not(None), RetentionRule.media_days.is_not(None))
    late = sa.or_(RetentionRule.checked_at.is_(None), RetentionRule.checked_at < clock.now() - CHECKED_EVERY)
    ruled = sa.select(RetentionRule.organization_id).join(
        Organization, Organization.id == RetentionRule.organization_id
    )
    order = (RetentionRule.checked_at, RetentionRule.organization_id)
    return list(db.session.scalars(ruled.where(wanted, late).order_by(*order).limit(limit)))


def idle(organization_id: str, *, before: datetime, limit: int) -> list[Case]:
    """Cases not in quarantine and not under a legal hold, with no activity since ``before``, oldest first."""
    conditions = (before > _LATEST, _QUARANTINED.is_(None), ~_HELD)
    return _cases(organization_id, conditions, limit=limit)


def over(organization_id: str, *, before: datetime, limit: int) -> list[Case]:
    """Cases whose quarantine is over, not under a legal hold, with no activity since ``before``."""
    conditions = (before > _LATEST, clock.now() - QUARANTINE > _QUARANTINED, ~_HELD)
    return _cases(organization_id, conditions, limit=limit)


def awake(organization_id: str, *, before: datetime, limit: int) -> list[Case]:
    """Cases in quarantine with new activity or under a legal hold."""
    return _cases(organization_id, (_QUARANTINED.is_not(None), sa.or_(before <= _LATEST, _HELD)), limit=limit)


def quarantined(organization_id: str, *, limit: int) -> list[Case]:
    """Cases in quarantine, the next to be erased first."""
    return _cases(organization_id, (_QUARANTINED.is_not(None),), limit=limit, order=_QUARANTINED)


def forecast(organization_id: str, *, months: int | None, media_days: int | None) -> Forecast:
    """What the rule would do by the end of ``FLOOR`` if it were set now and there were no further activity."""
    then = clock.now() + FLOOR
    cases, oldest, held_cases, first = 0, None, 0, []
    if months is not None:
        due = (earlier(then, months) > _LATEST, _QUARANTINED.is_(None))
        counted = _from_cases(organization_id, sa.func.count(), sa.func.min(_LATEST))
        cases, oldest = db.session.execute(counted.where(*due, ~_HELD)).one()
        held_cases = db.session.scalar(_from_cases(organization_id, sa.func.count()).where(*due, _HELD)) or 0
        first = _cases(organization_id, (*due, ~_HELD), limit=MOST_SHOWN)
    recordings: tuple[int, datetime | None] = (0, None)
    if media_days is not None:
        recorded = _recorded(organization_id, before=then - timedelta(days=media_days)).subquery()
        row = db.session.execute(sa.select(sa.func.count(), sa.func.min(recorded.c.recorded))).one()
        recordings = (row[0], row[1])
    return Forecast(cases, oldest, first, held_cases, *recordings)


def too_old(organization_id: str, *, media_days: int, limit: int) -> list[str]:
    """Ids of interviews with recordings older than ``media_days``, not under a legal hold, oldest first."""
    recorded = _recorded(organization_id, before=clock.now() - timedelta(days=media_days))
    return list(db.session.scalars(recorded.order_by(sa.text("recorded")).limit(limit)))


def interviews_of(case: Case) -> list[str]:
    """Ids of a case's interviews that are not erased, oldest first."""
    place = Interview.candidate_id if case.is_candidate else Interview.id
    mine = sa.select(Interview.id).where(place == case.id, Interview.erased_at.is_(None))
    return list(db.session.scalars(mine.order_by(Interview.org_seq)))


def names_of(holds: Iterable[LegalHold]) -> dict[str, str]:
    """Display names of what is held, by id."""
    ids = [hold.subject_id for hold in holds]
    named: dict[str, str] = {}
    for model, columns in ((Candidate, _CANDIDATE_NAME), (Interview, _INTERVIEW_NAME)):
        rows = db.session.execute(sa.select(model.id, *columns).where(model.id.in_(ids)))
        named |= {row[0]: _called(*row[1:]) for row in rows}
    return named


_CASE = sa.column("case_id", sa.String)
_LATEST: Any = sa.column("latest", Interview.created_at.type)
_QUARANTINED: Any = sa.func.coalesce(
    Candidate.quarantined_at, Interview.quarantined_at, type_=Interview.created_at.type
)
_HELD = is_held(_CASE, sa.select(Interview.id).where(Interview.candidate_id == _CASE).correlate_except(Interview))
_CANDIDATE_NAME = (Candidate.first_name, Candidate.last_name, Candidate.email)
_INTERVIEW_NAME = (
    Interview.interviewee_first_name,
    Interview.interviewee_last_name,
    Interview.interviewee_email_address,
)


def _touches(organization_id: str) -> list[sa.Select[*tuple[Any, ...]]]:
    """Selects of case id and time, one for each kind of activity."""
    case = sa.func.coalesce(Interview.candidate_id, Interview.id)
    mine = (Interview.organization_id == organization_id, Interview.erased_at.is_(None))
    own = (
        Interview.created_at,
        Interview.declined_at,
        Interview.started_at,
        Interview.submitted_at,
        Interview.completed_at,
        Interview.withdrawn_at,
        Interview.kept_at,
    )
    about = (
        (CandidateRequest, CandidateRequest.created_at),
        (CandidateRequest, CandidateRequest.decided_at),
        (Feedback, Feedback.created_at),
        (Assessment, Assessment.changed_at),
        (Document, Document.created_at),
        (Message, Message.created_at),
        (PersonalMessage, PersonalMessage.created_at),
        (Note, Note.created_at),
        (Note, Note.edited_at),
        (Share, Share.created_at),
    )
    theirs = (Candidate.created_at, Candidate.interviewed_at, Candidate.reviewed_at, Candidate.kept_at)
    moves = sa.select(StatusChange.candidate_id, StatusChange.at).join(
        Candidate, Candidate.id == StatusChange.candidate_id
    )
    return [
        *(sa.select(case.label("case_id"), at.label("at")).where(*mine) for at in own),
        *(sa.select(case, at).join(model, model.interview_id == Interview.id).where(*mine) for model, at in about),
        *(sa.select(Candidate.id, at).where(Candidate.organization_id == organization_id) for at in theirs),
        moves.where(Candidate.organization_id == organization_id),
    ]


def _from_cases(organization_id: str, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    touches = sa.union_all(*_touches(organization_id)).subquery("touches")
    has_case = touches.c.case_id.is_not(None)
    latest = sa.select(touches.c.case_id, sa.func.max(touches.c.at).label("latest")).where(has_case)
    cases = latest.group_by(touches.c.case_id).subquery("cases")
    rows = sa.outerjoin(cases, Candidate, Candidate.id == cases.c.case_id).outerjoin(
        Interview, Interview.id == cases.c.case_id
    )
    return sa.select(*columns).select_from(rows)


def _cases(organization_id: str, conditions: Iterable[Any], *, limit: int, order: Any = _LATEST) -> list[Case]:
    columns = (_CASE, _LATEST, _QUARANTINED, Candidate.id, *_CANDIDATE_NAME, *_INTERVIEW_NAME)
    rows = _from_cases(organization_id, *columns).where(*conditions).order_by(order, _CASE).limit(limit)
    return [
        Case(row[0], row[1], row[2], row[3] is not None, _called(*row[4:7]) or _called(*row[7:10]) or "Interview")
        for row in db.session.execute(rows)
    ]


def _called(first: str | None, last: str | None, address: str | None) -> str:
    return " ".join(part for part in (first, last) if part) or address or ""


def _recorded(organization_id: str, *, before: datetime) -> sa.Select[*tuple[Any, ...]]:
    """Interviews with recordings that are not being processed, and when each was recorded."""
    recorded = sa.func.coalesce(Interview.submitted_at, Interview.started_at, type_=Interview.created_at.type)
    has_files = sa.or_(*(sa.exists().where(kind.interview_id == Interview.id) for kind in (Recording, Chunk)))
    at_work = (Stage.RUNNING, Stage.SUBMITTED, Stage.PROCESSING)
    return sa.select(Interview.id, recorded.label("recorded")).where(
        Interview.organization_id == organization_id,
        recorded < before,
        Interview.stage.not_in(at_work),
        Interview.erased_at.is_(None),
        has_files,
        ~sa.exists().where(Revocation.interview_id == Interview.id),
        ~is_held(Interview.id, Interview.candidate_id),
    )
