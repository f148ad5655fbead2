"""Interviews by week and by flow, for the insights page. Nothing here identifies a person."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews.distributions import Result, together
from app.interviews.insights import Span, booked_in
from app.interviews.models import Feedback, Interview

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Week:
    """The interviews created in one week, from Monday ``start`` (UTC), and how many of them have been submitted."""

    start: date
    created: int
    submitted: int


@dataclass(frozen=True, slots=True)
class Compared:
    """One flow: its interviews, the median of their overall scores, and the average of the candidates' ratings.

    ``score`` (0 to 5) and ``rating`` (1 to 5) are None where there are none.
    """

    flow_id: str
    title: str
    created: int
    started: int
    submitted: int
    score: float | None
    rating: float | None


def weeks(member: TeamMember, span: Span) -> list[Week]:
    """Every week that the span touches, in order. The first and the last one can be parts of a week."""
    monday = span.since - timedelta(days=span.since.weekday())
    starts = [monday + number * WEEK for number in range((span.until - monday).days // 7 + 1)]
    first = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    number = sa.case(*((Interview.created_at < first + (place + 1) * WEEK, place) for place in range(len(starts))))
    # A subquery, because PostgreSQL takes two copies of an expression with parameters for different ones.
    found = booked_in(member, span, number.label("week"), Interview.submitted_at).subquery()
    counted = sa.select(found.c.week, sa.func.count(), sa.func.count(found.c.submitted_at)).group_by(found.c.week)
    counts = {week: (created, submitted) for week, created, submitted in db.session.execute(counted)}
    return [Week(start, *counts.get(place, (0, 0))) for place, start in enumerate(starts)]


def flows(member: TeamMember, span: Span, results: Sequence[Result]) -> list[Compared]:
    """Every flow with interviews in the span, the one with the most first. ``results`` are those of the span."""
    counts = (sa.func.count(), sa.func.count(Interview.started_at), sa.func.count(Interview.submitted_at))
    found = db.session.execute(
        booked_in(member, span, InterviewFlow.id, InterviewFlow.title, *counts)
        .join(InterviewFlow, InterviewFlow.id == Interview.flow_id)
        .group_by(InterviewFlow.id, InterviewFlow.title)
    ).all()
    rated = (
        booked_in(member, span, Interview.flow_id, sa.func.avg(Feedback.rating))
        .join(Feedback, Feedback.interview_id == Interview.id)
        .where(Feedback.rating.is_not(None))
        .group_by(Interview.flow_id)
    )
    ratings = {flow_id: float(mean) for flow_id, mean in db.session.execute(rated)}
    by_flow: dict[str, list[Result]] = {}
    for one in results:
        by_flow.setdefault(one.flow_id, []).append(one)
    scores = {flow_id: together(found, lambda one: one.overall) for flow_id, found in by_flow.items()}
    compared = [
        Compared(flow_id, title, created, started, submitted, _median(scores.get(flow_id, [])), ratings.get(flow_id))
        for flow_id, title, created, started, submitted in found
    ]
    return sorted(compared, key=lambda one: (-one.created, one.title, one.flow_id))


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
