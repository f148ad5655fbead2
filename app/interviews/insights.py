"""Figures about interviews that a member may see: how far they get, how long they take, how much is used.

All figures cover interviews created in a span of days, without tests. Nothing here identifies a person.
"""

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.accounts.models import TeamMember
from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db, month_of, seconds_between
from app.flows.models import InterviewFlow
from app.flows.queries import reach
from app.interviews.models import Feedback, Interview, Role, Stage, Utterance
from app.interviews.numbers import numbers_between
from app.interviews.recordings.models import Media, Recording

USUAL_DAYS = 90
SAMPLE = 500
"""About as many interviews of a kind are looked at closely: enough for medians, and the same work for everyone."""
WEEK = timedelta(days=7)
_STEP, _PLACES = 611_953, 10_007  # both prime
LENGTHS = (5, 10, 15, 20, 30, 45, 60)
"""Upper bounds in minutes of the groups of interview lengths."""


@dataclass(frozen=True, slots=True)
class Span:
    """Interviews created from ``since`` to ``until``, both days included (UTC), of one flow or of all ("").

    ``numbers``: what ``narrowed`` found, so that no figure looks at interviews of other days.
    """

    since: date
    until: date
    flow_id: str = ""
    numbers: tuple[int, int] | None = None

    @property
    def start(self) -> datetime:
        """The first moment of the first day."""
        return datetime(self.since.year, self.since.month, self.since.day, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The first moment after the last day."""
        return datetime(self.until.year, self.until.month, self.until.day, tzinfo=UTC) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart: a count, and its share (0 to 1) of the whole."""

    label: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Tally:
    """The interviews of one flow that were created in one week (``week`` is its Monday): how far they got.

    ``declined``: the candidate declined and never started. ``abandoned``: they started and did not come back in time.
    """

    week: date
    flow_id: str
    created: int
    started: int
    submitted: int
    completed: int
    declined: int
    abandoned: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How long something took, in seconds: the median and the 90th percentile (``most``) of ``count`` cases."""

    label: str
    count: int
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Used:
    """What one flow used in one month (``2026-01``): interviews submitted, and minutes recorded."""

    month: str
    flow_id: str
    title: str
    interviews: int
    minutes: float


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """A flow's interviews as the platform lists them (recruitment, with an email address), and results to review."""

    invited: int = 0
    started: int = 0
    completed: int = 0
    to_review: int = 0


def narrowed(member: TeamMember, span: Span) -> Span:
    """The span with the numbers of its interviews, for many figures of the same span."""
    return replace(span, numbers=numbers_between(member.organization, span.start, span.end))


def last_days(*, flow_id: str = "") -> Span:
    """The last ``USUAL_DAYS`` days, today included."""
    today = clock.now().date()
    return Span(today - timedelta(days=USUAL_DAYS - 1), today, flow_id)


def counts_of(flows: Collection[InterviewFlow]) -> dict[str, FlowCounts]:
    """The counts of each of these flows, which the caller may see. Without test interviews and the quarantine."""
    flow_ids = [flow.id for flow in flows]
    shown = (Interview.candidate_id.is_not(None), Interview.is_test.is_(False), Interview.quarantined_at.is_(None))
    by_stage = (
        sa.select(Interview.flow_id, Interview.stage, sa.func.count())
        .where(Interview.flow_id.in_(flow_ids), *shown)
        .group_by(Interview.flow_id, Interview.stage)
    )
    stages: dict[str, dict[Stage, int]] = {flow_id: {} for flow_id in flow_ids}
    for flow_id, stage, number in db.session.execute(by_stage):
        stages[flow_id][stage] = number
    unreviewed = (
        sa.select(Candidate.flow_id, sa.func.count())
        .where(
            Candidate.organization_id.in_({flow.organization_id for flow in flows}),  # leads to its index
            Candidate.flow_id.in_(flow_ids),
            Candidate.interviewed_at.is_not(None),
            Candidate.reviewed_at.is_(None),
            Candidate.is_test.is_(False),
            Candidate.quarantined_at.is_(None),
        )
        .group_by(Candidate.flow_id)
    )
    waiting = {row[0]: row[1] for row in db.session.execute(unreviewed)}
    return {
        flow_id: FlowCounts(
            sum(found.values()),
            sum(found.values()) - found.get(Stage.CREATED, 0),
            found.get(Stage.COMPLETED, 0),
            waiting.get(flow_id, 0),
        )
        for flow_id, found in stages.items()
    }


def tallies(member: TeamMember, span: Span) -> list[Tally]:
    """How far the span's interviews got, by week and flow: one look at each interview for all figures that count."""
    starts = weeks_of(span)
    week = sa.case(*((Interview.created_at < start + WEEK, number) for number, start in enumerate(starts)))
    declined = sa.and_(Interview.declined_at.is_not(None), Interview.stage == Stage.CREATED)
    each = booked_in(
        member,
        span,
        week.label("week"),
        Interview.flow_id,
        Interview.started_at,
        Interview.submitted_at,
        Interview.completed_at,
        sa.case((declined, 1)).label("declined"),
        sa.case((Interview.stage == Stage.ABANDONED, 1)).label("left"),
    ).subquery()  # because PostgreSQL takes two copies of an expression with parameters for different ones
    one = each.c
    reached = (one.started_at, one.submitted_at, one.completed_at, one.declined, one.left)
    counts = (sa.func.count(), *(sa.func.count(column) for column in reached))
    counted = sa.select(one.week, one.flow_id, *counts).group_by(one.week, one.flow_id)
    return [Tally(starts[number].date(), flow_id, *found) for number, flow_id, *found in db.session.execute(counted)]


def weeks_of(span: Span) -> list[datetime]:
    """The first moments (UTC) of the weeks that the span touches, each a Monday."""
    monday = span.start - timedelta(days=span.since.weekday())
    return [monday + number * WEEK for number in range((span.end - monday - timedelta(days=1)).days // 7 + 1)]


def funnel(counted: Sequence[Tally]) -> list[Bar]:
    """How many interviews reached each step, from creation to result."""
    return bars_of(
        [
            ("Created", sum(one.created for one in counted)),
            ("Started", sum(one.started for one in counted)),
            ("Submitted", sum(one.submitted for one in counted)),
            ("Result ready", sum(one.completed for one in counted)),
        ]
    )


def left(counted: Sequence[Tally]) -> dict[str, int]:
    """How many candidates declined and never started, and how many started but did not come back in time."""
    return {
        "Declined by candidates": sum(one.declined for one in counted),
        "Left early": sum(one.abandoned for one in counted),
    }


def by_question(member: TeamMember, span: Span, flow: InterviewFlow, *, among: int | None = None) -> list[Bar]:
    """For each question that ``flow`` asks now: how many of those who started answered it.

    ``among``: see ``sample``.
    """
    begun = sample(member, span, Interview.id, among=among)
    ids = begun.where(Interview.started_at.is_not(None), Interview.erased_at.is_(None)).subquery()
    answered = (
        sa.select(Utterance.question_index, sa.func.count(sa.distinct(Utterance.interview_id)))
        .where(
            Utterance.interview_id.in_(sa.select(ids.c.id)), Utterance.role == Role.USER, Utterance.obeyed.is_(False)
        )
        .group_by(Utterance.question_index)
    )
    counts = {row[0]: row[1] for row in db.session.execute(answered)}
    pairs = [(text, counts.get(place, 0)) for place, text in enumerate(flow.questions)]
    started = db.session.scalar(sa.select(sa.func.count()).select_from(ids)) or 0
    return bars_of([("Started", started), *pairs])


def times(member: TeamMember, span: Span, *, among: int | None = None) -> tuple[list[Spread], list[Bar]]:
    """Seconds from creation to start, of the interview, and to the result; and the distribution of lengths.

    ``among``: see ``sample``.
    """
    columns = (
        seconds_between(Interview.created_at, Interview.started_at),
        seconds_between(Interview.started_at, Interview.submitted_at),
        seconds_between(Interview.submitted_at, Interview.completed_at),
    )
    submitted = sample(member, span, *columns, among=among).where(Interview.submitted_at.is_not(None))
    rows = db.session.execute(submitted).all()
    waits, talks, works = ([row[at] for row in rows if row[at] is not None] for at in range(len(columns)))
    spreads = [
        spread_of("From creation to start", waits),
        spread_of("Interview", talks),
        spread_of("From submission to result", works),
    ]
    minutes = [max(0.0, talk) / 60 for talk in talks]
    groups = [(_length(low, most), sum(low < one <= most for one in minutes)) for low, most in _groups()]
    groups.append((f"More than {LENGTHS[-1]} minutes", sum(one > LENGTHS[-1] for one in minutes)))
    return [spread for spread in spreads if spread.count], bars_of(groups, whole=len(minutes))


def rated(member: TeamMember, span: Span) -> dict[tuple[str, int], int]:
    """How often candidates gave each rating (1 to 5) to interviews of each flow."""
    query = (
        booked_in(member, span, Interview.flow_id, Feedback.rating, sa.func.count())
        .join(Feedback, Feedback.interview_id == Interview.id)
        .where(Feedback.rating.is_not(None))
        .group_by(Interview.flow_id, Feedback.rating)
    )
    return {(flow_id, rating): count for flow_id, rating, count in db.session.execute(query)}


def ratings(given: Mapping[tuple[str, int], int]) -> tuple[float | None, list[Bar]]:
    """The average of the candidates' ratings (1 to 5), None without any, and the count of each rating."""
    counts = Counter[int]()
    for (_flow_id, rating), count in given.items():
        counts[rating] += count
    whole = counts.total()
    mean = sum(rating * count for rating, count in counts.items()) / whole if whole else None
    return mean, bars_of([(f"{n} out of 5", counts[n]) for n in range(5, 0, -1)], whole=whole)


def usage(member: TeamMember, span: Span) -> list[Used]:
    """Interviews submitted in the span, and minutes recorded, by month and flow, the newest month first."""
    handed_in = (
        sa.select(
            month_of(Interview.submitted_at).label("month"), InterviewFlow.id, InterviewFlow.title, Recording.duration
        )
        .select_from(Interview)
        .join(InterviewFlow, InterviewFlow.id == Interview.flow_id)
        .outerjoin(Recording, sa.and_(Recording.interview_id == Interview.id, Recording.media == Media.AUDIO))
        .where(*_seen(member, span), *_within(Interview.submitted_at, span))
        .subquery()
    )
    one = handed_in.c
    minutes = sa.func.coalesce(sa.func.sum(one.duration), 0.0) / 60
    totals = (
        sa.select(one.month, one.id, one.title, sa.func.count(), minutes)
        .group_by(one.month, one.id, one.title)
        .order_by(one.month.desc(), one.title, one.id)
    )
    return [Used(month, id_, title, n, round(spent, 1)) for month, id_, title, n, spent in db.session.execute(totals)]


def booked_in(member: TeamMember, span: Span, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    """``columns`` of the interviews of the span that the member may see, without tests."""
    chosen = sa.select(*columns).select_from(Interview)
    if span.numbers:
        chosen = chosen.where(Interview.org_seq > span.numbers[0], Interview.org_seq <= span.numbers[1])
    return chosen.where(*_seen(member, span), *_within(Interview.created_at, span))


def sample(member: TeamMember, span: Span, *columns: Any, among: int | None = None) -> sa.Select[*tuple[Any, ...]]:
    """``columns`` of about ``SAMPLE`` of the ``among`` interviews of a kind, spread evenly over the span.

    All of them where there are few, or ``among`` is None. The same ones each time.
    """
    chosen = booked_in(member, span, *columns)
    return chosen if among is None or among <= SAMPLE else chosen.where(place() < bound(among))


def place() -> sa.ColumnElement[int]:
    """A number below ``_PLACES`` for each interview, spread evenly, whatever order interviews come in."""
    return sa.cast(Interview.org_seq, sa.BigInteger) * _STEP % _PLACES


def bound(among: int, *, wanted: int | None = None) -> int:
    """The bound of ``place`` below which about ``wanted`` (``SAMPLE``) of ``among`` interviews lie."""
    wanted = SAMPLE if wanted is None else wanted
    return _PLACES if among <= wanted else round(_PLACES * wanted / among)


def _seen(member: TeamMember, span: Span) -> list[sa.ColumnElement[bool]]:
    seen = [*reach(member, Interview), Interview.is_test.is_(False)]
    if span.flow_id:
        seen.append(Interview.flow_id == span.flow_id)
    return seen


def _within(column: Any, span: Span) -> tuple[sa.ColumnElement[bool], ...]:
    return column >= span.start, column < span.end


def _groups() -> Iterable[tuple[int, int]]:
    return zip((-1, *LENGTHS), LENGTHS, strict=False)


def _length(low: int, most: int) -> str:
    return f"Up to {most} minutes" if low < 0 else f"{low} to {most} minutes"


def bars_of(pairs: Iterable[tuple[str, int]], *, whole: int | None = None) -> list[Bar]:
    """A bar for each (label, count), as a share of ``whole``, or of the first count."""
    counted = list(pairs)
    of = whole if whole is not None else counted[0][1]
    return [Bar(label, count, count / of if of else 0.0) for label, count in counted]


def spread_of(label: str, seconds: list[float]) -> Spread:
    """The median and the 90th percentile of ``seconds``, in any order. Less than 0 counts as 0: the clocks of two
    machines may differ.
    """
    ordered = sorted(max(0.0, one) for one in seconds)
    if not ordered:
        return Spread(label, 0, 0.0, 0.0)
    most = ordered[min(len(ordered) - 1, int(len(ordered) * 0.9))]
    return Spread(label, len(ordered), statistics.median(ordered), most)
