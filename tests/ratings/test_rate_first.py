"""Rate first: who sees the scores of a result, from when on, and what a list does until then."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db
from app.flows.models import InterviewFlow
from app.interviews import distributions, insights, trends
from app.interviews.analysis.scores import NAMES
from app.interviews.insights import Span
from app.interviews.models import Interview, InterviewData
from app.review.rate_first import queries as rate_first
from app.review.rate_first.models import ScoreReveal
from app.review.ratings import actions
from app.review.ratings.models import Assessment
from tests.factories import Made, a_flow
from tests.interviews.conftest import book, completed, scripted, submitted  # noqa: F401 - fixtures
from tests.people import Person
from tests.ratings.test_scorecard import rate, words_of
from tests.statements import sent

Scored = Callable[..., Interview]
LIST = "/candidates?order=score"


@pytest.fixture
def scored(owner: Person, completed: Made) -> Scored:  # noqa: F811
    """``scored(3.5, flow, **values)``: a result with this score, in an organization that rates first."""
    owner.organization.rates_first = True

    def make(value: float = 3.5, flow: InterviewFlow | None = None, **values: Any) -> Interview:
        found: Interview = completed(flow, **values)
        data = db.session.get_one(InterviewData, found.id)
        data.scores = dict.fromkeys(NAMES, value)
        db.session.execute(sa.update(Candidate).where(Candidate.id == found.candidate_id).values(score=value))
        db.session.commit()
        return db.session.get_one(Interview, found.id, populate_existing=True)

    return make


def noted(action: str) -> list[str | None]:
    found = sa.select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.number)
    return [one.member_id for one in db.session.scalars(found)]


def names_in(page: str, *names: str) -> list[str]:
    """The names in the order in which the list shows them."""
    return sorted((one for one in names if f">{one}</a>" in page), key=lambda one: page.index(f">{one}</a>"))


@pytest.mark.parametrize(
    ("of_organization", "of_flow", "hides"),
    [(False, None, False), (True, None, True), (True, False, False), (False, True, True)],
)
def test_the_flow_says_it_or_else_the_organization(
    owner: Person, scored: Scored, of_organization: bool, of_flow: bool | None, hides: bool
) -> None:
    interview = scored()
    owner.organization.rates_first, interview.flow.rates_first = of_organization, of_flow
    db.session.commit()
    assert rate_first.are_hidden(owner.member, interview) is hides
    assert bool(rate_first.hidden_candidates(owner.member, [interview.candidate])) is hides
    assert rate_first.asks_in_lists(owner.member) is hides
    assert ("Rate first" in owner.browser.get(f"/interviews/{interview.id}").text) is hides
    api = owner.api("GET", f"/v1/interviews/{interview.id}").json
    assert api["interview_data"]["scores"]["skills"] == 3.5, "the customer's systems see what they saw"


def test_one_press_rates_and_shows_the_scores(owner: Person, colleague: Person, scored: Scored) -> None:
    interview = scored()
    base = f"/interviews/{interview.id}"
    rate(owner, interview, overall_comment="A comment is no rating.")
    page = owner.browser.get(base)
    assert "3.5" not in words_of(page)
    assert 'data-key="4"' in page.text
    answer = owner.browser.post(
        f"{base}/rating", data={"value": "4.0", "next": f"/candidates/{interview.candidate_id}"}
    )
    assert answer.location == f"/candidates/{interview.candidate_id}"
    assert "Skills 3.5 out of 5" in words_of(owner.browser.get(base))
    row = db.session.scalars(sa.select(Assessment)).one()
    assert (row.competence, row.value, row.comment) == ("overall", 4.0, "A comment is no rating.")
    assert "3.5 out of 5" not in words_of(colleague.browser.get(base)), "each member rates for themselves"


@pytest.mark.parametrize("value", ["", "6.0", "x", "4.25"])
def test_a_press_without_a_rating_shows_nothing(owner: Person, scored: Scored, value: str) -> None:
    interview = scored()
    answer = owner.browser.post(f"/interviews/{interview.id}/rating", data={"value": value}, follow_redirects=True)
    assert "Choose a rating from 0 to 5" in words_of(answer)
    assert rate_first.are_hidden(owner.member, interview)


def test_scores_can_be_shown_without_rating_which_is_recorded_once(
    owner: Person, viewer: Person, scored: Scored
) -> None:
    interview = scored()
    base = f"/interviews/{interview.id}"
    page = words_of(viewer.browser.get(base))
    assert "You cannot rate it" in page
    assert "3.5" not in page
    for _ in range(2):
        answer = viewer.browser.post(f"{base}/show-scores", data={"next": "//evil.example"})
        assert answer.location.endswith(base)
    assert "Skills 3.5 out of 5" in words_of(viewer.browser.get(base))
    assert noted("scores.shown_unrated") == [viewer.member.id]
    rate(owner, interview, overall_value="4.0")
    assert "Viewer chose “Show scores without rating”" in words_of(owner.browser.get(base))
    exported = owner.browser.post(f"{base}/export", data={"format": "json"}).json
    assert [one["name"] for one in exported["scores_shown_unrated"]] == ["Viewer"]
    assert actions.erase(interview.id) == 1
    assert db.session.scalars(sa.select(ScoreReveal)).all() == []


def test_a_rating_that_no_one_can_compare_needs_no_reason_yet(owner: Person, scored: Scored) -> None:
    interview = scored()
    page = words_of(owner.browser.get(f"/interviews/{interview.id}/scorecard"))
    assert "You will see the scores after you save a rating" in page
    assert rate(owner, interview, skills_value="0.5").status_code == 303
    assert "explain why" in words_of(owner.browser.get(f"/interviews/{interview.id}/scorecard"))
    assert rate(owner, interview, skills_value="0.5").status_code == 422, "now the score can be read"


def test_a_list_by_score_asks_once_for_each_visit(owner: Person, scored: Scored) -> None:
    flow = a_flow(owner)
    scored(4.5, flow, email="a@x.example", first_name="High", last_name=None)
    scored(1.5, flow, email="b@x.example", first_name="Low", last_name=None)
    browser = owner.browser
    for query in ("order=score", "order=score%20", "score_from=4", "order=score&flow=%00"):
        page = browser.get(f"/candidates?{query}")
        assert "Show scores in lists" in page.text, query
        assert names_in(page.text, "High", "Low") == ["Low", "High"], query  # the newest first
        assert "4.5" not in words_of(page)
    board = browser.get("/candidates/board?score_from=4").text
    assert "Show scores in lists" in board
    assert ">Low</a>" in board
    # A page from before: its selection by score would now mean everyone.
    stale = browser.post("/candidates/bulk?score_from=4", data={"all": "yes", "kind": "reviewed", "sure": "yes"})
    assert stale.status_code == 422
    assert browser.post("/candidates/export?score_from=4").status_code == 422
    answer = browser.post("/candidates/show-scores", data={"next": LIST})
    assert answer.location == LIST
    browser.post("/candidates/show-scores")
    page = browser.get(LIST)
    assert names_in(page.text, "High", "Low") == ["High", "Low"]
    assert "4.5" in words_of(page)
    assert "Show scores in lists" not in page.text
    assert names_in(browser.get("/candidates?score_from=4").text, "High", "Low") == ["High"]
    assert noted("scores.shown_in_lists") == [owner.member.id]
    assert "Show scores in lists" in owner.browser.get(LIST).text, "another visit asks again"


def test_without_the_switch_no_list_asks(owner: Person, scored: Scored) -> None:
    scored()
    owner.organization.rates_first = False
    db.session.commit()
    page = owner.browser.get(LIST)
    assert "Show scores in lists" not in page.text
    assert "3.5" in words_of(page)


def test_the_file_of_a_list_has_what_the_list_shows(owner: Person, scored: Scored) -> None:
    interview = scored(4.5)
    browser = owner.browser

    def scores() -> list[str]:
        text = browser.post("/candidates/export").get_data().decode("utf-8-sig")
        return [row["score"] for row in csv.DictReader(io.StringIO(text))]

    assert scores() == ["Rate first"]
    browser.post("/candidates/show-scores")
    assert scores() == ["4.5"]
    assert rate_first.are_hidden(owner.member, interview), "the page of the result still asks"


def test_triage_rates_in_place(owner: Person, scored: Scored) -> None:
    interview = scored()
    browser = owner.browser
    page = words_of(browser.get("/candidates/triage"))
    assert "Rate first" in page
    assert "3.5" not in page
    here = f"/candidates/triage?at={interview.candidate_id}"
    assert f'value="{here}"' in browser.get("/candidates/triage").text
    shown = browser.post(
        f"/interviews/{interview.id}/rating", data={"value": "3.0", "next": here}, follow_redirects=True
    )
    assert "3.5 out of 5 overall" in words_of(shown)


def test_figures_of_few_results_leave_out_what_is_not_seen_yet(owner: Person, scored: Scored) -> None:
    flow = a_flow(owner)
    today = clock.now().date()
    span = Span(today - timedelta(days=1), today + timedelta(days=1))
    made = [scored(value, flow, email=f"{value}@x.example") for value in (1.0, 2.0, 3.0, 4.0)]

    def figures() -> tuple[float | None, dict[str, float | None], int]:
        found = distributions.results(owner.member, span)
        spread, bars = distributions.scores(found)
        medians = {one.label: one.median for one in spread}
        return (
            trends.flows(insights.tallies(owner.member, span), found, {})[0].score,
            medians,
            sum(bar.count for bar in bars),
        )

    assert figures() == (None, {}, 0)
    assert "Figures based on fewer than 5 scores leave those results out" in words_of(owner.browser.get("/insights"))
    rate(owner, made[3], overall_value="4.0")
    assert figures()[0] == 4.0
    assert figures()[1]["Skills"] == 4.0
    scored(5.0, flow, email="5@x.example")
    assert figures()[0] == 3.0, "five say nothing about one of them"
    assert figures()[2] == 5


def test_a_longer_list_costs_no_more_statements(owner: Person, scored: Scored) -> None:
    flow, counts = a_flow(owner), []
    for number in (2, 9):
        for at in range(number):
            scored(3.0, flow, email=f"{number}-{at}@x.example")
        browser = owner.browser
        for path in ("/candidates", "/candidates/board", "/dashboard"):
            browser.get(path)
            db.session.expire_all()
            counts.append(_statements(lambda: browser.get(path)))  # noqa: B023 - called at once
    assert counts[:3] == counts[3:]


def _statements(work: Callable[[], Any]) -> int:
    with sent() as seen:
        assert work().status_code == 200
    assert seen
    return len(seen)


def test_the_first_steps_offer_it_to_administrators(owner: Person, colleague: Person) -> None:
    assert "Hide scores until members have rated" not in colleague.browser.get("/dashboard").text
    assert colleague.browser.post("/first-steps/rate-first").status_code == 403
    assert "Hide scores until members have rated" in owner.browser.get("/dashboard").text
    page = owner.browser.post("/first-steps/rate-first", follow_redirects=True)
    assert "Rate first is on" in words_of(page)
    assert "Hide scores until members have rated" not in page.text
    assert owner.organization.rates_first is True
    assert noted("organization.rates_first") == [owner.member.id]


def test_the_switch_is_in_the_settings_and_in_the_form_of_a_flow(owner: Person, make_flow: Made) -> None:
    owner.browser.post("/settings", data={"assess_language": "y", "rates_first": "y"})
    assert owner.organization.rates_first is True
    flow = make_flow()
    assert "on (organization default)" in words_of(owner.browser.get(f"/flows/{flow.id}"))
    form = {
        "title": "Nurse",
        "org_name": "First Ltd",
        "team_id": owner.team.id,
        "interview_type": "recruitment",
        "questions-0": "Why?",
        "language": "en-US",
        "voice_id": "vendora-Kate",
        "follow_up_limit": "1",
        "rates_first": "no",
    }
    assert owner.browser.post(f"/flows/{flow.id}/edit", data=form).status_code in {302, 303}
    db.session.refresh(flow)
    assert flow.rates_first is False
    assert '<option selected value="no">No</option>' in owner.browser.get(f"/flows/{flow.id}/edit").text
    assert "rates_first" not in owner.api("GET", f"/v1/interview-flows/{flow.id}").text


def test_a_difference_is_explained_after_both_are_known(owner: Person, viewer: Person, scored: Scored) -> None:
    interview = scored(3.5)
    base = f"/interviews/{interview.id}"
    assert "differ from the score" not in owner.browser.get(base).text
    rate(owner, interview, skills_value="5.0", motivation_value="4.0", overall_value="1.0")
    page = owner.browser.get(base)
    assert "Why do your ratings differ from the scores?" in words_of(page)
    assert 'name="skills_reason"' in page.text
    assert 'name="overall_reason"' in page.text
    assert 'name="motivation_reason"' not in page.text, "half a point is rounding"
    given = {"skills_reason": "Led\r\nfive people.", "motivation_reason": "x", "overall_reason": ""}
    assert owner.browser.post(f"{base}/reasons", data=given).location.endswith("#scorecard")
    shown = owner.browser.get(base)
    assert "Why this rating differs from the score: Led five people." in words_of(shown)
    assert '<details class="differences" open>' in shown.text, "one is still missing"
    reasons = {row.competence: row.reason for row in db.session.scalars(sa.select(Assessment))}
    assert reasons == {"skills": "Led\nfive people.", "motivation": None, "overall": None}
    exported = owner.browser.post(f"{base}/export", data={"format": "json"}).json
    people = {row["competence"]: row["people"][0]["reason_for_difference"] for row in exported["scorecard"]}
    assert people["skills"] == "Led\nfive people."
    assert "Led" in owner.browser.get(f"{base}/report").text
    assert "Led" not in viewer.browser.get(base).text, "a reason may name the score"
    assert rate(owner, interview, skills_value="4.5", overall_comment="No").status_code == 303, "it has its reason"
    owner.browser.post(f"{base}/reasons", data={"skills_reason": "Other words."})
    assert "Other words." in owner.browser.get(base).text
    rate(owner, interview, skills_value="4.0")
    page = words_of(owner.browser.get(base))
    assert "differ from the score" not in page
    assert "Other words." not in page, "it no longer differs"


@pytest.mark.parametrize(
    ("reason", "says"), [("x" * 2001, "Reasons can have up to 2000 characters"), ("a\x00b", "must not contain the NUL")]
)
def test_a_reason_that_cannot_be_kept_says_why(owner: Person, scored: Scored, reason: str, says: str) -> None:
    interview = scored(3.5)
    rate(owner, interview, skills_value="5.0")
    posted = {"skills_reason": reason}
    page = owner.browser.post(f"/interviews/{interview.id}/reasons", data=posted, follow_redirects=True)
    assert says.lower() in words_of(page).lower()
    assert db.session.scalars(sa.select(Assessment.reason)).all() == [None]


def test_where_scores_are_seen_first_nothing_is_asked_afterwards(owner: Person, scored: Scored) -> None:
    interview = scored(3.5)
    owner.organization.rates_first = False
    db.session.commit()
    rate(owner, interview, skills_value="5.0", skills_comment="Led five people.", overall_value="1.0")
    assert "differ from the score" not in owner.browser.get(f"/interviews/{interview.id}").text
