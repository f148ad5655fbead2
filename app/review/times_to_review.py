"""How long results wait until a member rates them or moves the candidate, for the insights page."""

from collections import defaultdict
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from app.accounts.models import Role, TeamMember
from app.candidates.models import StatusChange
from app.core.db import db
from app.interviews.insights import MOST, Span, Spread, booked_in, seconds_between, spread_of
from app.interviews.models import Interview
from app.review.ratings.models import Assessment

EVERYONE = "All recruiters"


def times_to_review(member: TeamMember, span: Span) -> list[Spread]:
    """Seconds from each result to its first review: of all recruiters, then by the one who made it, by name.

    A review is a rating, or a move of the candidate after the result. Administrators see every recruiter, others
    only themselves. Empty without reviews.
    """
    first: dict[str, tuple[datetime, datetime, str]] = {}
    for interview_id, ready, by_id, at in (*_moves(member, span), *_ratings(member, span)):
        if interview_id not in first or (at, by_id) < first[interview_id][1:]:
            first[interview_id] = (ready, at, by_id)
    waits: dict[str, list[float]] = defaultdict(list)
    for ready, at, by_id in first.values():
        waits[by_id].append(seconds_between(ready, at))
    if not waits:
        return []
    named = [spread_of(name, waits[by_id]) for by_id, name in _names(member, set(waits))]
    return [spread_of(EVERYONE, [wait for each in waits.values() for wait in each]), *named]


def _moves(member: TeamMember, span: Span) -> list[tuple[str, datetime, str, datetime]]:
    """Each interview with a result, when it was ready, and each member's first move of the candidate after that."""
    columns = (Interview.id, Interview.completed_at, StatusChange.by_id)
    moved = (
        booked_in(member, span, *columns, sa.func.min(StatusChange.at))
        .join(StatusChange, StatusChange.candidate_id == Interview.candidate_id)
        .where(StatusChange.by_id.is_not(None), StatusChange.at >= Interview.completed_at)
        .group_by(*columns, Interview.created_at)
    )
    return _newest(moved)


def _ratings(member: TeamMember, span: Span) -> list[tuple[str, datetime, str, datetime]]:
    """The same for ratings, of which only the time of the last change is known."""
    columns = (Interview.id, Interview.completed_at, Assessment.member_id)
    rated = (
        booked_in(member, span, *columns, sa.func.min(Assessment.changed_at))
        .join(Assessment, Assessment.interview_id == Interview.id)
        .where(Interview.completed_at.is_not(None))
        .group_by(*columns, Interview.created_at)
    )
    return _newest(rated)


def _newest(query: sa.Select[*tuple[Any, ...]]) -> list[tuple[str, datetime, str, datetime]]:
    rows = db.session.execute(query.order_by(Interview.created_at.desc()).limit(MOST))
    return [(interview_id, ready, by_id, at) for interview_id, ready, by_id, at in rows]


def _names(member: TeamMember, ids: set[str]) -> list[tuple[str, str]]:
    """Ids and names of the members that this one may see, by name."""
    shown = ids if member.role is Role.ADMIN else ids & {member.id}
    name = sa.func.coalesce(sa.func.nullif(TeamMember.full_name, ""), TeamMember.email)
    query = sa.select(TeamMember.id, name).where(
        TeamMember.organization_id == member.organization_id, TeamMember.id.in_(shown)
    )
    return [(row[0], row[1]) for row in db.session.execute(query.order_by(name, TeamMember.id))]
