"""Distributions of scores, reply times and time in each status, for the insights page. Nothing identifies a person."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.candidates.models import Candidate, StatusChange
from app.candidates.overall import overall
from app.candidates.queries import statuses_of
from app.core.db import db, seconds_between
from app.core.rooms import rate_first
from app.flows.criteria import Criterion
from app.flows.models import FlowCriteria
from app.interviews.comparison import LABELS
from app.interviews.insights import Bar, Span, Spread, Tally, bars_of, booked_in, bound, place, sample, spread_of
from app.interviews.models import Interview, InterviewData

HIGHEST = 5
"""Scores go from 0 to 5."""
OF_EACH = 50
"""Results of each flow that are read at least, so that small flows have a median too."""
FEWEST = 5
"""Scores that a figure needs at least, if it includes some that the member does not see yet."""
MEANS = ("Under 1", "1 to under 2", "2 to under 3", "3 to under 4", "4 to 5")
"""The groups of overall scores."""
WAITS = ((0.5, "Up to 0.5 s"), (0.9, "0.5 to 0.9 s"), (1.5, "0.9 to 1.5 s"), (3.0, "1.5 to 3 s"))
"""Upper bounds in seconds of the groups of reply times; the rest took longer."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One criterion: how many results have a score for it and how many do not, and its quartiles.

    ``low`` and ``high`` are the first and third quartile; None where nothing was assessed.
    """

    label: str
    count: int
    without: int
    low: float | None
    median: float | None
    high: float | None
    mean: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of one result, by name, the overall one, and the flow it belongs to.

    ``is_hidden``: the member rates it before they see its scores. ``in_sample``: it belongs to the even sample.
    """

    flow_id: str
    scores: Mapping[str, float | None]
    overall: float | None
    is_hidden: bool = False
    in_sample: bool = True


def results(member: TeamMember, span: Span, counted: Sequence[Tally] = ()) -> list[Result]:
    """The results of the span, without those that may not be looked at any more.

    Where there are many (``counted``), an even sample of them, and beside it some more of flows with few.
    """
    completed = Counter[str]()
    for one in counted:
        completed[one.flow_id] += one.completed
    whole = bound(completed.total())
    bounds = {flow_id: max(whole, bound(count, wanted=OF_EACH)) for flow_id, count in completed.items()}
    asks = rate_first().asks_in_lists(member, span.flow_id)  # seldom, and asked of each result it takes long
    is_hidden = rate_first().is_hidden_from(member) if asks else sa.false()
    columns = Interview.flow_id, InterviewData.scores, InterviewData.criteria_id, is_hidden, place()
    query = booked_in(member, span, *columns).join(InterviewData, InterviewData.interview_id == Interview.id)
    if counted:
        query = query.where(place() < max(bounds.values()), place() < sa.case(bounds, value=Interview.flow_id))
    rows = db.session.execute(query.where(Interview.withdrawn_at.is_(None), Interview.erased_at.is_(None))).all()
    criteria = _criteria({criteria_id for _flow_id, _found, criteria_id, _is_hidden, _at in rows if criteria_id})
    return [
        Result(flow_id, found or {}, overall(found, criteria.get(which, ())), bool(is_hidden), at < whole)
        for flow_id, found, which, is_hidden, at in rows
    ]


def _criteria(ids: Collection[str]) -> dict[str, tuple[Criterion, ...]]:
    """Each version of own criteria, by its id."""
    versions = db.session.scalars(sa.select(FlowCriteria).where(FlowCriteria.id.in_(ids)))
    return {one.id: one.items for one in versions}


def together(found: Sequence[Result], value_of: Callable[[Result], float | None]) -> list[float]:
    """The values of these results for one figure. Of fewer than ``FEWEST``, a figure leaves out those that the member
    does not see yet, because it would show them.
    """
    values = [(value_of(one), one.is_hidden) for one in found]
    given = [(value, is_hidden) for value, is_hidden in values if value is not None]
    return [value for value, is_hidden in given if len(given) >= FEWEST or not is_hidden]


def scores(found: Sequence[Result], own: Sequence[Criterion] = ()) -> tuple[list[Scored], list[Bar]]:
    """Each criterion's quartiles and mean, and the distribution of overall scores, over these results.

    ``own`` are the criteria of the flow that all of them belong to, if it is one.
    """
    found = [one for one in found if one.in_sample]
    labels = {**{one.key: one.name for one in own}, **LABELS}
    means = together(found, lambda one: one.overall)
    spread = [_scored(name, label, found) for name, label in labels.items()]
    counts = Counter(map(_group, means))
    groups = [(label, counts[low]) for low, label in enumerate(MEANS)]
    return [one for one in spread if one.count], bars_of(groups, whole=len(means))


def replies(member: TeamMember, span: Span, *, among: int | None = None) -> tuple[Spread | None, list[Bar]]:
    """Seconds from the end of speech to the first sound of the reply, as measured by the candidates' browsers.

    ``among``: see ``sample``.
    """
    turn = Interview.turns.property.mapper.class_
    query = sample(member, span, turn.heard_ms, among=among).join(Interview.turns).where(turn.heard_ms.is_not(None))
    waits = [ms / 1000 for ms in db.session.scalars(query)]
    if not waits:
        return None, []
    bounds = [-1.0, *(most for most, _ in WAITS)]
    groups = [
        (label, sum(low < wait <= most for wait in waits)) for low, (most, label) in zip(bounds, WAITS, strict=False)
    ]
    groups.append(("More than 3 s", sum(wait > bounds[-1] for wait in waits)))
    return spread_of("Reply", waits), bars_of(groups, whole=len(waits))


def stays(member: TeamMember, span: Span, *, among: int | None = None) -> list[Spread]:
    """Seconds that candidates spent in each status before they left it, in the order of the pipeline.

    ``among``: see ``sample``.
    """
    theirs = sample(member, span, Interview.candidate_id, among=among).where(Interview.candidate_id.is_not(None))
    before = sa.func.lag(StatusChange.at).over(partition_by=StatusChange.candidate_id, order_by=StatusChange.number)
    entered = sa.case((StatusChange.number == 1, Candidate.created_at), else_=before)
    moves = (
        sa.select(StatusChange.previous, seconds_between(entered, StatusChange.at).label("seconds"))
        .join(Candidate, Candidate.id == StatusChange.candidate_id)
        .where(StatusChange.candidate_id.in_(theirs))
        .subquery()
    )
    known = moves.c.seconds.is_not(None)  # else the move before is gone
    lasted: dict[str, list[float]] = defaultdict(list)
    for status, seconds in db.session.execute(sa.select(moves.c.previous, moves.c.seconds).where(known)):
        lasted[status].append(seconds)
    statuses = statuses_of(member.organization)
    order = [*statuses, *sorted(set(lasted) - set(statuses))]
    return [spread_of(status, lasted[status]) for status in order if lasted[status]]


def _scored(name: str, label: str, found: Sequence[Result]) -> Scored:
    values = together(found, lambda one: one.scores.get(name))
    without = sum(one.scores.get(name) is None for one in found)
    if not values:
        return Scored(label, 0, without, None, None, None)
    low, median, high = statistics.quantiles(values, method="inclusive") if len(values) > 1 else 3 * [values[0]]
    return Scored(label, len(values), without, low, median, high, statistics.fmean(values))


def _group(mean: float) -> int:
    return min(int(mean), HIGHEST - 1)
