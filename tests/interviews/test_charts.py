"""The charts of the insights page: drawn, in tables and in CSV files with the same figures, for the right people."""

import csv
import html
import io
import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from app.candidates.models import StatusChange
from app.core import clock
from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews import distributions, insights, trends
from app.interviews.insights import Span, tallies
from app.interviews.insights import rated as given
from app.interviews.models import Interview
from app.review.figures import KEYS, ticks
from app.review.ratings.models import Assessment
from app.review.times_to_review import EVERYONE, times_to_review
from tests.factories import Made
from tests.interviews.conftest import NOON, result
from tests.people import Person

MARCH = Span(date(2026, 3, 1), date(2026, 3, 31))
IN_MARCH = "since=2026-03-01&until=2026-03-31"


def moved(interview: Interview, by: Person | None, hours: float) -> None:
    """The candidate moved so many hours after the result."""
    assert interview.completed_at
    assert interview.candidate
    at, number = interview.completed_at + timedelta(hours=hours), interview.candidate.status_changes + 1
    interview.candidate.status_changes = number
    by_id = by.member.id if by else None
    change = {"candidate_id": interview.candidate.id, "number": number, "by_id": by_id}
    db.session.add(StatusChange(previous="interviewed", new="shortlisted", at=at, **change))
    db.session.commit()


def rated(interview: Interview, by: Person, hours: float) -> None:
    assert interview.completed_at
    at = interview.completed_at + timedelta(hours=hours)
    given = {"competence": "overall", "value": 3.0, "changed_at": at}
    ids = {"organization_id": interview.organization_id, "interview_id": interview.id, "member_id": by.member.id}
    db.session.add(Assessment(**ids, **given))
    db.session.commit()


def flows(person: Person) -> list[trends.Compared]:
    results, ratings = distributions.results(person.member, MARCH), given(person.member, MARCH)
    return trends.flows(tallies(person.member, MARCH), results, ratings)


def chart_of(page: str, key: str) -> tuple[str, list[list[str]]]:
    """The drawing of one chart, and the cells of its table."""
    found = re.search(rf'<section[^>]* id="{key}".*?</section>', page, re.DOTALL)
    assert found, key
    drawing, table = found[0].split("<details")
    rows = [re.findall(r"<t[hd] ?[^>]*data-label[^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in table.split("<tr>")]
    return drawing, [[html.unescape(cell.strip()) for cell in row] for row in rows if row]


def bold(drawing: str) -> list[str]:
    return [html.unescape(one.strip()) for one in re.findall(r"<b>(.*?)</b>", drawing, re.DOTALL)]


def sheet_of(person: Person, key: str, query: str = IN_MARCH) -> list[list[str]]:
    answer = person.browser.get(f"/insights/{key}.csv?{query}")
    assert (answer.status_code, answer.mimetype) == (200, "text/csv"), key
    return list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))


@pytest.fixture
def busy(owner: Person, past: Made, make_flow: Made) -> InterviewFlow:
    """Five interviews of one flow and one of another, with everything that the page draws."""
    nurse = past(minutes=5, ready=60, answered=3, rating=5)
    for days, more in ((7, {"minutes": 20, "ready": 90, "answered": 2}), (7, {"answered": 1}), (-7, {"begun": False})):
        past(at=NOON + timedelta(days=days), **more)
    second = past(minutes=9, ready=30, answered=3, rating=4)
    for interview, score in ((nurse, 4.0), (second, 2.0)):
        result(interview, dict.fromkeys(("communication", "motivation", "skills"), score))
        moved(interview, owner, 24 * score)
    past(of=make_flow(title="Cook <b>"), minutes=5, ready=60, rating=2)
    return nurse.flow


def test_weeks_begin_on_monday_and_none_is_left_out(owner: Person, past: Made) -> None:
    monday = NOON.replace(day=9, hour=0)
    for at in (monday - timedelta(seconds=1), monday, monday + timedelta(days=6, hours=23)):
        past(at=at, minutes=5)
    past(at=monday)
    past(at=NOON.replace(day=31))
    weeks = trends.weeks(tallies(owner.member, MARCH), MARCH)
    assert [(one.start.isoformat(), one.created, one.submitted) for one in weeks] == [
        ("2026-02-23", 0, 0),
        ("2026-03-02", 1, 1),
        ("2026-03-09", 3, 2),
        ("2026-03-16", 0, 0),
        ("2026-03-23", 0, 0),
        ("2026-03-30", 1, 0),
    ]


def test_flows_are_compared_with_the_busiest_first(owner: Person, outsider: Person, busy: InterviewFlow) -> None:
    compared = flows(owner)
    assert [(one.title, one.created, one.started, one.submitted, one.score, one.rating) for one in compared] == [
        ("=Nurse", 5, 4, 3, 3.0, 4.5),
        ("Cook <b>", 1, 1, 1, None, 2.0),
    ]
    assert flows(outsider) == []


def test_the_first_review_of_a_result_counts_for_who_made_it(
    owner: Person, colleague: Person, outsider: Person, past: Made
) -> None:
    first, second, third = (past(minutes=5, ready=60) for _ in range(3))
    moved(first, None, 1)  # Parley itself moved the candidate
    moved(first, owner, 5)
    rated(first, colleague, 2)
    moved(second, owner, -1)  # before the result
    moved(second, owner, 4)
    moved(third, owner, 6)
    rated(third, colleague, 8)
    hours = {
        person.member.email: [
            (one.label, one.count, one.median / 3600) for one in times_to_review(person.member, MARCH)
        ]
        for person in (owner, colleague)
    }
    everyone, other, mine = (EVERYONE, 3, 4.0), ("Colleague", 1, 2.0), ("Owner", 2, 5.0)
    assert hours[owner.member.email] == [everyone, other, mine]
    assert hours[colleague.member.email] == [everyone, other]
    assert times_to_review(outsider.member, MARCH) == []


def test_charts_tables_and_files_have_the_same_figures(owner: Person, busy: InterviewFlow) -> None:
    page = owner.browser.get(f"/insights?{IN_MARCH}").text
    tables = {}
    for key in set(KEYS) - {"replies"}:
        drawing, tables[key] = chart_of(page, key)
        assert tables[key], key
        lines = sheet_of(owner, key)
        assert len(lines) == len(tables[key]) + 1, key
        assert [line[0].removeprefix("'") for line in lines[1:]] == [row[0] for row in tables[key]] or key == "weeks"
        if key in {"funnel", "questions", "lengths", "ratings"}:
            numbers = [value for value in bold(drawing) if value.isdigit()]
            assert numbers == [row[1] for row in tables[key]] == [line[1] for line in lines[1:]], key
            for row, line in zip(tables[key], lines[1:], strict=True):
                assert row[2] == f"{100 * float(line[2]):.0f}%"
        if key in {"review", "statuses", "durations", "scores"}:
            assert bold(drawing) == [row[2 if key == "scores" else 1] for row in tables[key]], key
    drawing, rows = chart_of(page, "weeks")
    drawn = re.findall(r"<title>Week of (.*?): (\d+) created, (\d+) submitted</title>", drawing)
    assert [list(week) for week in drawn] == rows
    assert [row[1:] for row in rows] == [line[1:] for line in sheet_of(owner, "weeks")[1:]]
    drawing, rows = chart_of(page, "flows")
    assert bold(drawing) == [value for row in rows for value in (row[3], row[4], row[5])]
    assert sheet_of(owner, "flows")[0] == ["flow", "created", "started", "submitted", "median_score", "average_rating"]
    assert sheet_of(owner, "scores")[0][::5] == ["criterion", "scores"], "files keep their columns"
    drawing, rows = chart_of(page, "overall")
    assert re.findall(r'class="strong"[^>]*>(\d+)<', drawing) == [row[1] for row in rows] == ["0", "0", "1", "0", "1"]
    drawing, rows = chart_of(page, "questions")
    assert [row[1] for row in rows] == ["4", "4", "3", "2"]
    assert re.findall(r'class="mark" width="([\d.]+)%"', drawing) == ["100.00", "100.00", "75.00", "50.00"]
    assert re.findall(r"−(\d)", drawing) == ["1", "1"]


def test_the_drawing_needs_no_script_and_no_inline_style(owner: Person, busy: InterviewFlow) -> None:
    page = owner.browser.get(f"/insights?{IN_MARCH}").text
    assert not re.search(r"\sstyle=|<style|<script(?![^>]* src=)", page)
    assert "Cook <b>" not in page
    assert page.count('class="drawing" aria-hidden="true"') == page.count('<section class="card chart')


def test_an_empty_organization_has_no_charts_and_empty_files(outsider: Person, busy: InterviewFlow) -> None:
    page = outsider.browser.get(f"/insights?{IN_MARCH}").text
    assert "No interviews in this period" in page
    assert "Nurse" not in page
    assert '<section class="card chart' not in page
    for key in KEYS:
        whole = sum(int(value) for row in sheet_of(outsider, key)[1:] for value in row[1:] if value.isdigit())
        assert whole == 0, key
        assert outsider.browser.get(f"/insights/{key}.csv?flow={busy.id}").status_code == 403
    assert outsider.browser.get("/insights/other.csv").status_code == 404


def test_interviews_without_results_are_drawn_too(owner: Person, past: Made) -> None:
    past(at=clock.now() - timedelta(days=1), begun=False)
    page = owner.browser.get("/insights").text
    keys = re.findall(r'<section class="card chart[^>]* id="(\w+)"', page)
    assert keys == ["weeks", "funnel", "flows", "questions"]
    assert chart_of(page, "questions")[1][0] == ["Started", "0", "0%"]


def test_of_many_interviews_an_even_sample_is_looked_at_closely(
    owner: Person, past: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "are based on an evenly spread sample of about 5 interviews. All other figures include every interview."
    monkeypatch.setattr(insights, "SAMPLE", 5)
    for minutes in range(5):
        past(minutes=minutes + 1, ready=60)
    assert sentence not in owner.browser.get(f"/insights?{IN_MARCH}").text
    for minutes in range(15):
        past(minutes=20 + minutes, ready=60)
    page = owner.browser.get(f"/insights?{IN_MARCH}").text
    assert sentence in page
    assert chart_of(page, "funnel")[1][0] == ["Created", "20", "100%"]
    looked_at = insights.times(owner.member, MARCH, among=20)[0]
    assert 2 <= looked_at[1].count <= 9
    assert insights.times(owner.member, MARCH, among=20)[0] == looked_at
    assert insights.times(owner.member, MARCH)[0][1].count == 20


def test_a_sample_is_spread_over_any_order(owner: Person) -> None:
    places = [number * insights._STEP % insights._PLACES for number in range(1, 40_001)]
    for every in (1, 2, 3, 4, 5, 7, 10, 24):
        for first in range(every):
            chosen = [one for one in places[first::every] if one < insights.bound(40_000)]
            assert abs(len(chosen) * every / insights.SAMPLE - 1) < 0.25, (every, first)


def test_a_flow_with_few_results_has_a_median_beside_one_with_many(
    owner: Person, past: Made, make_flow: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = make_flow(title="Few")
    for flow, count, score in ((None, 12, 3.0), (few, 1, 4.0)):
        for _ in range(count):
            result(past(of=flow, minutes=5, ready=60), dict.fromkeys(("communication", "motivation", "skills"), score))
    db.session.commit()
    monkeypatch.setattr(insights, "SAMPLE", 4)
    monkeypatch.setattr(distributions, "OF_EACH", 2)
    counted = tallies(owner.member, MARCH)
    found = distributions.results(owner.member, MARCH, counted)
    assert 2 <= len(found) < 13
    assert {one.title: one.score for one in trends.flows(counted, found, {})}["Few"] == 4.0
    one_of_few = next(one for one in found if one.flow_id == few.id)
    others = [one for one in found if one.in_sample]
    shown = distributions.scores([replace(one_of_few, in_sample=False), *others])[1]
    assert sum(bar.count for bar in shown) == len(others)


def test_three_years_are_drawn_in_weeks(owner: Person, past: Made) -> None:
    past(minutes=5)
    drawing, rows = chart_of(owner.browser.get("/insights?since=2024-01-01&until=2026-12-31").text, "weeks")
    assert len(rows) == 157
    labels = re.findall(r'class="week[^"]*"[^>]*>(.*?)<', drawing)
    assert labels[:2] == ["Jan 2024", "Apr 2024"]
    assert len(labels) == 13


@pytest.mark.parametrize(
    ("highest", "marks"),
    [
        (0, [0, 1]),
        (1, [0, 1]),
        (4, [0, 1, 2, 3, 4]),
        (5, [0, 2, 4, 6]),
        (12, [0, 5, 10, 15]),
        (4001, [0, 2000, 4000, 6000]),
    ],
)
def test_axes_end_at_a_round_value_above_the_highest(highest: int, marks: list[Any]) -> None:
    assert ticks(highest) == marks
