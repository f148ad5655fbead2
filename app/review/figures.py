"""The figures behind each chart of the insights page. Its table and its CSV file have the same rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from app.accounts.models import TeamMember
from app.flows.models import InterviewFlow
from app.flows.queries import criteria_of, flow_seen_by
from app.interviews import distributions, insights, trends
from app.interviews.insights import Span
from app.review.times_to_review import times_to_review

KEYS = (
    *("weeks", "funnel", "flows", "questions", "scores", "overall"),
    *("review", "ratings", "statuses", "durations", "lengths", "replies"),
)
"""Charts by their attribute of ``Figures``, which is the name of the CSV file too. Usage has a file of its own."""
STEPS = (1, 2, 5)
MOST_TICKS = 4
"""Lines of an axis above zero."""


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of the rows, its heading, and the unit of its values.

    ``file_title``: the heading in a CSV file, where it is another one than on the page. Programs read the files.

    Units: ``count``, ``score`` (0 to 5), ``share`` (0 to 1), ``seconds``, ``week`` (the date of its Monday), ``month``
    (2026-01), or "" for text.
    """

    name: str
    heading: str
    unit: str = ""
    file_title: str = ""

    @property
    def title(self) -> str:
        """The heading in a CSV file, with the unit: ``median_seconds``."""
        words = self.file_title or self.heading.lower().replace(" ", "_")
        return f"{words}_{self.unit}" if self.unit == "seconds" else words


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of one chart."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Any]

    def lines(self) -> Iterator[list[Any]]:
        """The lines of a CSV file, with the headings; numbers as they are."""
        yield [column.title for column in self.columns]
        for row in self.rows:
            values = (getattr(row, column.name) for column in self.columns)
            yield [round(value, 3) if isinstance(value, float) else value for value in values]


class Figures:
    """All charts for one member and span. Each is read when it is first asked for."""

    def __init__(self, member: TeamMember, span: Span, flow: InterviewFlow | None) -> None:
        self._member, self._span, self.flow = member, span, flow

    @cached_property
    def weeks(self) -> Sheet:
        """Interviews by the week in which they were created."""
        columns = (
            Column("start", "Week of", "week"),
            Column("created", "Created", "count"),
            Column("submitted", "Submitted", "count"),
        )
        return Sheet("weeks", "Interviews by week", columns, trends.weeks(self.tallies, self._span))

    @cached_property
    def funnel(self) -> Sheet:
        """How far interviews get."""
        return _bars("funnel", "Funnel", insights.funnel(self.tallies), headings=("Step", "Interviews"))

    @cached_property
    def flows(self) -> Sheet:
        """The flows beside each other."""
        columns = (
            Column("title", "Flow"),
            Column("created", "Created", "count"),
            Column("started", "Started", "count"),
            Column("submitted", "Submitted", "count"),
            Column("score", "Median overall score", "score", file_title="median_score"),
            Column("rating", "Average rating", "score"),
        )
        return Sheet("flows", "Flows compared", columns, trends.flows(self.tallies, self._results, self._rated))

    @cached_property
    def asked(self) -> InterviewFlow | None:
        """The flow whose questions are shown: the chosen one, else the one with the most interviews."""
        most = self.flows.rows[0].flow_id if self.flow is None and self.flows.rows else None
        return flow_seen_by(self._member, most) if most else self.flow

    @cached_property
    def questions(self) -> Sheet:
        """At which question candidates leave."""
        flow = self.asked
        span = replace(self._span, flow_id=flow.id) if flow else self._span
        bars = insights.by_question(self._member, span, flow, among=self._number("started", flow)) if flow else []
        return _bars("questions", "Drop-off by question", bars, headings=("Question", "Answered"))

    @cached_property
    def scores(self) -> Sheet:
        """The quartiles of each score."""
        columns = (
            Column("label", "Score", file_title="criterion"),
            Column("low", "First quartile", "score"),
            Column("median", "Median", "score"),
            Column("high", "Third quartile", "score"),
            Column("mean", "Average", "score"),
            Column("count", "Assessed", "count", file_title="scores"),
            Column("without", "Not assessed", "count"),
        )
        return Sheet("scores", "Score spread", columns, self._scores[0])

    @cached_property
    def overall(self) -> Sheet:
        """Results by their overall score."""
        return _bars("overall", "Overall scores", self._scores[1], headings=("Overall score", "Results"))

    @cached_property
    def review(self) -> Sheet:
        """Time from a result to its first review."""
        return _spreads(
            "review",
            "Time to review",
            times_to_review(self._member, self._span, among=self._number("completed")),
            headings=("Recruiter", "Results"),
        )

    @cached_property
    def ratings(self) -> Sheet:
        """What candidates say about the interview."""
        return _bars("ratings", "Candidate rating", self._ratings[1], headings=("Rating", "Candidates"))

    @cached_property
    def statuses(self) -> Sheet:
        """How long candidates spend in each status."""
        stays = distributions.stays(self._member, self._span, among=self._number("created"))
        stays = [replace(one, label=one.label[:1].upper() + one.label[1:]) for one in stays]
        return _spreads("statuses", "Time in each status", stays, headings=("Status", "Candidates"))

    @cached_property
    def durations(self) -> Sheet:
        """How long each part of an interview takes."""
        return _spreads("durations", "Durations", self._times[0], headings=("Step", "Interviews"))

    @cached_property
    def lengths(self) -> Sheet:
        """Interviews by length."""
        return _bars("lengths", "Length of interviews", self._times[1], headings=("Length", "Interviews"))

    @cached_property
    def replies(self) -> Sheet:
        """Replies by the time until they are heard."""
        return _bars("replies", "Agent reply time", self._replies[1], headings=("Wait", "Replies"))

    @cached_property
    def usage(self) -> Sheet:
        """Interviews submitted and minutes recorded, by month and flow."""
        columns = (
            Column("month", "Month", "month"),
            Column("title", "Flow"),
            Column("interviews", "Interviews", "count"),
            Column("minutes", "Minutes", "count"),
        )
        return Sheet("usage", "Usage by month", columns, insights.usage(self._member, self._span))

    @property
    def rating(self) -> float | None:
        """The candidates' average rating, 1 to 5; None without any."""
        return self._ratings[0]

    @property
    def reply(self) -> insights.Spread | None:
        """Median and 90th percentile of the reply time; None where nothing was measured."""
        return self._replies[0]

    @property
    def hides_scores(self) -> bool:
        """Whether results count whose scores the member does not see yet, and which small figures leave out."""
        return any(one.is_hidden for one in self._results)

    @property
    def is_sampled(self) -> bool:
        """Whether some figures are those of an even sample of the interviews."""
        return self._number("created") > insights.SAMPLE

    def _number(self, reached: str, flow: InterviewFlow | None = None) -> int:
        """How many interviews, of this flow if one is given, reached this step: an attribute of a tally."""
        return sum(getattr(one, reached) for one in self.tallies if flow is None or one.flow_id == flow.id)

    @cached_property
    def tallies(self) -> list[insights.Tally]:
        """What the figures that count are made of."""
        return insights.tallies(self._member, self._span)

    @cached_property
    def _rated(self) -> dict[tuple[str, int], int]:
        return insights.rated(self._member, self._span)

    @cached_property
    def _results(self) -> list[distributions.Result]:
        return distributions.results(self._member, self._span, self.tallies)

    @cached_property
    def _scores(self) -> tuple[list[distributions.Scored], list[insights.Bar]]:
        return distributions.scores(self._results, criteria_of(self.flow) if self.flow else ())

    @cached_property
    def _ratings(self) -> tuple[float | None, list[insights.Bar]]:
        return insights.ratings(self._rated)

    @cached_property
    def _times(self) -> tuple[list[insights.Spread], list[insights.Bar]]:
        return insights.times(self._member, self._span, among=self._number("submitted"))

    @cached_property
    def _replies(self) -> tuple[insights.Spread | None, list[insights.Bar]]:
        return distributions.replies(self._member, self._span, among=self._number("started"))


def ticks(highest: int) -> list[int]:
    """Round values for an axis from 0 to ``highest`` or just above it: [0, 5, 10, 15] for 12."""
    scale = 1
    while True:
        for step in (scale * one for one in STEPS):
            if step * MOST_TICKS >= highest:
                return list(range(0, max(highest, 1) + step, step))
        scale *= 10


def _bars(key: str, title: str, bars: Sequence[insights.Bar], *, headings: tuple[str, str]) -> Sheet:
    first, second = headings
    columns = (Column("label", first), Column("count", second, "count"), Column("share", "Share", "share"))
    return Sheet(key, title, columns, bars)


def _spreads(key: str, title: str, spreads: Sequence[insights.Spread], *, headings: tuple[str, str]) -> Sheet:
    first, second = headings
    columns = (
        Column("label", first),
        Column("median", "Median", "seconds"),
        Column("most", "90th percentile", "seconds"),
        Column("count", second, "count"),
    )
    return Sheet(key, title, columns, spreads)
