"""Interviews by week and by flow, for the insights page. Nothing here identifies a person."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import sqlalchemy as sa

from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews.distributions import Result, together
from app.interviews.insights import Span, Tally, ratings, weeks_of


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


def weeks(counted: Sequence[Tally], span: Span) -> list[Week]:
    """Every week that the span touches, in order. The first and the last one can be parts of a week."""
    created, submitted = Counter[date](), Counter[date]()
    for one in counted:
        created[one.week] += one.created
        submitted[one.week] += one.submitted
    return [Week(start, created[start], submitted[start]) for start in (moment.date() for moment in weeks_of(span))]


def flows(counted: Sequence[Tally], results: Sequence[Result], rated: Mapping[tuple[str, int], int]) -> list[Compared]:
    """Every flow with interviews, the one with the most first: figures of the same span (``insights.rated``)."""
    created, started, submitted = Counter[str](), Counter[str](), Counter[str]()
    for one in counted:
        created[one.flow_id] += one.created
        started[one.flow_id] += one.started
        submitted[one.flow_id] += one.submitted
    found = sa.select(InterviewFlow.id, InterviewFlow.title).where(InterviewFlow.id.in_(created))
    titles = dict[str, str](db.session.execute(found).all())
    by_flow, given = defaultdict[str, list[Result]](list), defaultdict[str, dict[tuple[str, int], int]](dict)
    for result in results:
        by_flow[result.flow_id].append(result)
    for (flow_id, rating), count in rated.items():
        given[flow_id][flow_id, rating] = count
    compared = [
        Compared(
            flow_id,
            titles[flow_id],
            created[flow_id],
            started[flow_id],
            submitted[flow_id],
            score=_median(together(by_flow[flow_id], lambda one: one.overall)),
            rating=ratings(given[flow_id])[0],
        )
        for flow_id in created
    ]
    return sorted(compared, key=lambda one: (-one.created, one.title, one.flow_id))


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
