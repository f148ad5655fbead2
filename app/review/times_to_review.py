"""How long results wait until a member rates them or moves the candidate, for the insights page."""

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from app.accounts.models import Role, TeamMember
from app.candidates.models import StatusChange
from app.core.db import db, seconds_between
from app.interviews.insights import Span, Spread, sample, spread_of
from app.interviews.models import Interview
from app.review.ratings.models import Assessment

EVERYONE = "All recruiters"


def times_to_review(member: TeamMember, span: Span, *, among: int | None = None) -> list[Spread]:
    """Seconds from each result to its first review: of all recruiters, then by the one who made it, by name.

    A review is a rating, or a move of the candidate after the result. Administrators see every recruiter, others
    only themselves. Empty without reviews. ``among``: see ``insights.sample``.
    """
    results = sample(member, span, Interview.id, among=among).where(Interview.completed_at.is_not(None))
    reviews = sa.union_all(_moves(results), _ratings(results)).subquery()
    order = sa.func.row_number().over(partition_by=reviews.c.interview_id, order_by=(reviews.c.at, reviews.c.by_id))
    each = sa.select(reviews, order.label("place")).subquery()
    waits: dict[str, list[float]] = defaultdict(list)
    for by_id, seconds in db.session.execute(sa.select(each.c.by_id, each.c.seconds).where(each.c.place == 1)):
        waits[by_id].append(seconds)
    if not waits:
        return []
    named = [spread_of(name, waits[by_id]) for by_id, name in _names(member, set(waits))]
    return [spread_of(EVERYONE, [wait for each in waits.values() for wait in each]), *named]


def _moves(results: sa.Select[*tuple[Any, ...]]) -> sa.Select[*tuple[Any, ...]]:
    """Each move of a candidate by a member after a result: the interview, who, when, and how long after the result."""
    moved = _reviews(results, by=StatusChange.by_id, at=StatusChange.at)
    return moved.join(StatusChange, StatusChange.candidate_id == Interview.candidate_id).where(
        StatusChange.by_id.is_not(None), StatusChange.at >= Interview.completed_at
    )


def _ratings(results: sa.Select[*tuple[Any, ...]]) -> sa.Select[*tuple[Any, ...]]:
    """The same for ratings, of which only the time of the last change is known."""
    rated = _reviews(results, by=Assessment.member_id, at=Assessment.changed_at)
    return rated.join(Assessment, Assessment.interview_id == Interview.id)


def _reviews(results: sa.Select[*tuple[Any, ...]], *, by: Any, at: Any) -> sa.Select[*tuple[Any, ...]]:
    waited = seconds_between(Interview.completed_at, at).label("seconds")
    columns = (Interview.id.label("interview_id"), by.label("by_id"), at.label("at"), waited)
    return sa.select(*columns).select_from(Interview).where(Interview.id.in_(results))


def _names(member: TeamMember, ids: set[str]) -> list[tuple[str, str]]:
    """Ids and names of the members that this one may see, by name."""
    shown = ids if member.role is Role.ADMIN else ids & {member.id}
    name = sa.func.coalesce(sa.func.nullif(TeamMember.full_name, ""), TeamMember.email)
    query = sa.select(TeamMember.id, name).where(
        TeamMember.organization_id == member.organization_id, TeamMember.id.in_(shown)
    )
    return [(row[0], row[1]) for row in db.session.execute(query.order_by(name, TeamMember.id))]
