"""Interviews by week and by flow, for the insights page. Nothing here identifies a person."""

import statistics
from collections import Counter
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
    ids = {one.flow_id for one in counted}
    titles = dict[str, str](
        db.session.execute(sa.select(InterviewFlow.id, InterviewFlow.title).where(InterviewFlow.id.in_(ids))).all()
    )
    by_flow: dict[str, list[Result]] = {}
    for one in results:
        by_flow.setdefault(one.flow_id, []).append(one)
    scores = {flow_id: together(found, lambda one: one.overall) for flow_id, found in by_flow.items()}
    compared = [
        Compared(
            flow_id,
            titles[flow_id],
            sum(one.created for one in counted if one.flow_id == flow_id),
            sum(one.started for one in counted if one.flow_id == flow_id),
            sum(one.submitted for one in counted if one.flow_id == flow_id),
            _median(scores.get(flow_id, [])),
            ratings({of: count for of, count in rated.items() if of[0] == flow_id})[0],
        )
        for flow_id in ids
    ]
    return sorted(compared, key=lambda one: (-one.created, one.title, one.flow_id))


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
