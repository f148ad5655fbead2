"""Interviews in numbers: counted rightly, for the right people, over the right days."""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta

import pytest

from app.accounts.models import Team
from app.candidates.models import StatusChange
from app.conversation.models import Sitting, Turn
from app.core import clock
from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews import distributions as spreads
from app.interviews import insights, numbers
from app.interviews.insights import Bar, Span
from app.interviews.models import Interview, Stage
from app.interviews.recordings.models import Media, Recording
from tests.factories import Made
from tests.interviews.conftest import NOON, result
from tests.people import Person
from tests.statements import sent

MARCH = Span(date(2026, 3, 1), date(2026, 3, 31))


def talked(interview: Interview, heard: list[int | None]) -> None:
    """Turns after whose replies the candidate's browser told how many milliseconds they took to be heard."""
    sitting = Sitting(interview_id=interview.id, place={})
    db.session.add(sitting)
    db.session.flush()
    for number, wait in enumerate(heard, start=1):
        db.session.add(Turn(sitting_id=sitting.id, number=number, kind="answer", heard_ms=wait))


def counts(bars: list[Bar]) -> dict[str, int]:
    return {bar.label: bar.count for bar in bars}


def test_the_funnel_counts_how_far_interviews_get(owner: Person, past: Made) -> None:
    past(begun=False)
    past(begun=False, declined_at=NOON)
    past(stage=Stage.ABANDONED, declined_at=NOON)
    past(minutes=12)
    past(minutes=8, ready=90)
    past(at=NOON - timedelta(days=30))
    bars = insights.funnel(insights.tallies(owner.member, MARCH))
    assert counts(bars) == {"Created": 5, "Started": 3, "Submitted": 2, "Result ready": 1}
    assert [round(bar.share, 2) for bar in bars] == [1, 0.6, 0.4, 0.2]
    assert insights.left(insights.tallies(owner.member, MARCH)) == {"Declined by candidates": 1, "Left early": 1}


def test_both_ends_of_the_span_count_and_nothing_beyond(owner: Person, past: Made) -> None:
    for at in (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC)):
        past(at=at)
    for at in (datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)):
        past(at=at)
    assert counts(insights.funnel(insights.tallies(owner.member, MARCH)))["Created"] == 2


def test_many_interviews_are_found_by_their_numbers(owner: Person, past: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    first, after = MARCH.start, MARCH.end
    for at in (
        *(first - timedelta(days=days) for days in range(40, 0, -8)),
        *(first - timedelta(seconds=1), first),  # as calls side by side commit: in the order of their numbers or not
        *(first + timedelta(hours=hours) for hours in range(0, 24 * 31, 24)),
        *(after, after - timedelta(seconds=1)),
        *(after + timedelta(days=days) for days in range(5)),
    ):
        past(at=at)
    assert insights.narrowed(owner.member, MARCH).numbers is None
    monkeypatch.setattr(numbers, "FEW", 0)
    assert insights.narrowed(owner.member, MARCH).numbers == (0, 45)
    monkeypatch.setattr(numbers, "NEAR", 0)
    span = insights.narrowed(owner.member, MARCH)
    assert counts(insights.funnel(insights.tallies(owner.member, span))) == counts(
        insights.funnel(insights.tallies(owner.member, MARCH))
    )
    assert counts(insights.funnel(insights.tallies(owner.member, span)))["Created"] == 33
    assert span.numbers == (5, 41)
    empty = Span(date(2025, 1, 1), date(2025, 1, 31))
    assert insights.narrowed(owner.member, empty).numbers == (0, 0)


def test_each_question_tells_how_many_answered_it(owner: Person, past: Made, flow: InterviewFlow) -> None:
    for answered in (3, 2, 2, 1, 0):
        past(answered=answered)
    past(begun=False)
    past(answered=3, erased_at=NOON)
    bars = insights.by_question(owner.member, Span(MARCH.since, MARCH.until, flow.id), flow)
    assert counts(bars) == {"Started": 5, "Why?": 4, "How?": 3, "When?": 1}
    assert bars[3].share == 0.2


def test_times_are_told_as_the_middle_and_the_long_end(owner: Person, past: Made) -> None:
    for minutes in (4, 5, 11, 59, 200):
        past(minutes=minutes, ready=60 * minutes)
    past()
    spreads, lengths = insights.times(owner.member, MARCH)
    waited, talk, result = spreads
    assert (waited.label, waited.median, waited.most) == ("From creation to start", 7200, 7200)
    assert (talk.count, talk.median, talk.most) == (5, 660, 12000)
    assert result.median == 660
    assert {label: n for label, n in counts(lengths).items() if n} == {
        "Up to 5 minutes": 2,
        "10 to 15 minutes": 1,
        "45 to 60 minutes": 1,
        "More than 60 minutes": 1,
    }


def test_ratings_are_a_mean_and_a_spread(owner: Person, past: Made) -> None:
    assert insights.ratings(insights.rated(owner.member, MARCH))[0] is None
    for rating in (5, 5, 4, 2):
        past(minutes=5, rating=rating)
    mean, bars = insights.ratings(insights.rated(owner.member, MARCH))
    assert mean == 4.0
    assert counts(bars) == {"5 out of 5": 2, "4 out of 5": 1, "3 out of 5": 0, "2 out of 5": 1, "1 out of 5": 0}
    assert bars[0].share == 0.5


def test_use_is_told_by_month_and_flow_and_as_csv(owner: Person, past: Made, make_flow: Made) -> None:
    other = make_flow(title="Cook")
    for at, of, seconds in (
        (NOON, None, 90.0),
        (NOON, None, 30.0),
        (NOON, other, None),
        (NOON - timedelta(30), None, 60),
    ):
        interview = past(at=at, of=of, minutes=5)
        if seconds:
            db.session.add(
                Recording(
                    organization_id=interview.organization_id,
                    interview_id=interview.id,
                    media=Media.AUDIO,
                    size=1,
                    content_type="audio/mp4",
                    storage_key=interview.id,
                    sha256="0" * 64,
                    blocks=b"",
                    duration=seconds,
                )
            )
    db.session.commit()
    used = insights.usage(owner.member, Span(date(2026, 2, 1), MARCH.until))
    assert [(one.month, one.title, one.interviews, one.minutes) for one in used] == [
        ("2026-03", "=Nurse", 2, 2.0),
        ("2026-03", "Cook", 1, 0.0),
        ("2026-02", "=Nurse", 1, 1.0),
    ]
    answer = owner.browser.get("/insights/usage.csv?since=2026-02-01&until=2026-03-31")
    assert answer.mimetype == "text/csv"
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert rows[0] == ["month", "flow", "title", "interviews", "minutes"]
    assert rows[1][2:] == ["'=Nurse", "2", "2.0"]  # no spreadsheet runs it


def test_a_recruiter_sees_numbers_of_their_teams_only(
    owner: Person, colleague: Person, outsider: Person, past: Made, make_flow: Made
) -> None:
    team = Team(organization_id=owner.organization.id, name="Other")
    db.session.add(team)
    db.session.flush()
    hidden = make_flow(team_id=team.id, title="Hidden")
    past(minutes=5, rating=1, answered=1)
    past(of=hidden, minutes=5, rating=5, answered=1)
    assert counts(insights.funnel(insights.tallies(owner.member, MARCH)))["Created"] == 2
    assert counts(insights.funnel(insights.tallies(colleague.member, MARCH)))["Created"] == 1
    assert insights.ratings(insights.rated(colleague.member, MARCH))[0] == 1.0
    assert [one.title for one in insights.usage(colleague.member, MARCH)] == ["=Nurse"]
    assert insights.times(colleague.member, MARCH)[0][0].count == 1
    assert counts(insights.funnel(insights.tallies(outsider.member, MARCH)))["Created"] == 0
    assert insights.usage(outsider.member, MARCH) == []
    assert colleague.browser.get(f"/insights?flow={hidden.id}").status_code == 403


def test_the_page_shows_every_chart_with_its_numbers(owner: Person, past: Made, flow: InterviewFlow) -> None:
    yesterday = clock.now() - timedelta(days=1)
    past(at=yesterday, minutes=8, ready=30, rating=4, answered=2)
    past(at=yesterday)
    page = owner.browser.get(f"/insights?flow={flow.id}").text
    for words in ("Funnel", "Why?", "Length of interviews", "Usage by month", "4 out of 5", "50%", "8 min"):
        assert words in page, words
    assert page.count('<section class="card chart') == 7
    assert "/insights/usage.csv?flow=" in page


def test_a_flow_shows_its_own_figures(owner: Person, past: Made, flow: InterviewFlow, make_flow: Made) -> None:
    lately = clock.now() - timedelta(days=2)
    past(at=lately, minutes=5, ready=9, rating=4)
    past(at=lately, begun=False)
    past(at=lately - timedelta(days=100))
    past(at=lately, of=make_flow(title="Cook"), minutes=5)
    page = owner.browser.get(f"/flows/{flow.id}").text
    shown = re.findall(r"<dt>([\w ]+)</dt><dd>([\d.]+)</dd>", page[page.index('id="figures"') :])
    assert shown[:4] == [("Created", "2"), ("Started", "1"), ("Submitted", "1"), ("Result ready", "1")]
    assert "<dd>4.0</dd>" in page
    assert f"/insights?flow={flow.id}" in page


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("since=yesterday", "Enter a date such as 2026-01-31."),
        ("until=99999-01-01", "Enter a date such as 2026-01-31."),
        ("since=2026-03-02&until=2026-03-01", "This day must not be after the last day"),
        ("since=2001-01-01&until=2026-03-01", "This day must not be after the last day"),
        ("since=0001-01-01", "Enter a date"),
    ],
)
def test_days_that_make_no_span_are_named_and_the_usual_ones_shown(owner: Person, query: str, said: str) -> None:
    answer = owner.browser.get(f"/insights?{query}")
    assert answer.status_code == 200
    assert said in answer.text
    assert owner.browser.get(f"/insights/usage.csv?{query}").status_code == 200


def test_the_page_asks_a_fixed_number_of_questions_of_the_database(owner: Person, past: Made) -> None:
    browser, counts = owner.browser, []
    for _ in range(2):
        for _ in range(3):
            past(at=clock.now(), minutes=5, rating=3, answered=1)
        with sent() as asked:
            browser.get("/insights")
        counts.append(len(asked))
    assert counts[0] == counts[1]
    assert 0 < counts[0] < 40


def test_scores_replies_and_stays_are_told_as_spreads(
    owner: Person, colleague: Person, outsider: Person, past: Made, flow: InterviewFlow
) -> None:
    for place, (score, wait, days) in enumerate([(2.0, 400, 1), (3.0, 800, 3), (4.0, 1400, 5), (None, 9000, None)]):
        interview = past(minutes=5, ready=9)
        result(interview, {"communication": score, "motivation": 4.0 if score else None})
        talked(interview, heard=[wait, None])
        if days:
            candidate = interview.candidate
            assert candidate is not None
            candidate.created_at = NOON
            for number, (old, new, at) in enumerate(
                [
                    ("invited", "interviewed", NOON + timedelta(days=days)),
                    ("interviewed", "rejected", NOON + timedelta(days=days, hours=2)),
                ],
                start=1,
            ):
                db.session.add(StatusChange(candidate_id=candidate.id, number=number, previous=old, new=new, at=at))
        if place == 2:
            interview.withdrawn_at = NOON
    db.session.commit()
    for member in (owner.member, colleague.member):
        spread, means = spreads.scores(spreads.results(member, MARCH))
        assert [(one.label, one.count, one.without, one.low, one.median, one.high) for one in spread] == [
            ("Communication", 2, 1, 2.25, 2.5, 2.75),
            ("Motivation", 2, 1, 4.0, 4.0, 4.0),
        ]
        assert {label: n for label, n in counts(means).items() if n} == {"3 to under 4": 2}
        reply, waits = spreads.replies(member, MARCH)
        assert reply is not None
        assert (reply.count, reply.median, reply.most) == (4, 1.1, 9.0)
        assert list(counts(waits).values()) == [1, 1, 1, 0, 1]
        assert [(one.label, one.count, one.median, one.most) for one in spreads.stays(member, MARCH)] == [
            ("invited", 3, 3 * 86400, 5 * 86400),
            ("interviewed", 3, 7200, 7200),
        ]
    assert spreads.results(outsider.member, MARCH) == []
    assert spreads.replies(outsider.member, MARCH) == (None, [])
    assert spreads.stays(outsider.member, MARCH) == []
    page = owner.browser.get("/insights?since=2026-03-01&until=2026-03-31").text
    for words in ("Score spread", "2.2–2.8", "Agent reply time", "Time in each status"):
        assert words in page, words


def test_a_move_whose_former_one_is_gone_has_no_length(owner: Person, past: Made) -> None:
    interview = past()
    row = {"candidate_id": interview.candidate_id, "number": 2, "previous": "invited", "new": "rejected", "at": NOON}
    db.session.add(StatusChange(**row))
    db.session.flush()
    assert spreads.stays(owner.member, MARCH) == []
