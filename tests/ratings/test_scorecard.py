"""People rate interviews: beside the machine's scores, each for themselves, and with a reason where they differ."""

import html
import re
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.candidates import actions as candidates
from app.core import clock
from app.core.db import db
from app.core.errors import Conflict, Rejected
from app.flows.flow_script import FlowScript
from app.interviews.analysis.scores import NAMES
from app.interviews.models import Interview, InterviewData
from app.review.ratings import actions, queries
from app.review.ratings.actions import Opinion
from app.review.ratings.models import COMPETENCES, LONGEST_COMMENT, OVERALL, Assessment
from app.review.ratings.queries import scorecard_of
from app.review.share_links import actions as share_links
from tests.factories import Made
from tests.interviews.conftest import book, completed, scripted, submitted  # noqa: F401 - fixtures
from tests.people import Person, person


@pytest.fixture
def interview(completed: Made) -> Interview:  # noqa: F811
    """Processed, with 3.5 for skills and nothing else assessed."""
    found: Interview = completed()
    data = db.session.get_one(InterviewData, found.id)
    data.scores = {**dict.fromkeys(NAMES), "skills": 3.5}
    db.session.commit()
    return db.session.get_one(Interview, found.id, populate_existing=True)


@pytest.fixture
def colleague(owner: Person) -> Person:
    return person(owner.app, "ben@first.example", organization=owner.organization, role="recruiter")


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def rate(who: Person, interview: Interview, **fields: str) -> Any:
    return who.browser.post(f"/interviews/{interview.id}/scorecard", data=fields)


def kept() -> list[tuple[str, str, float | None, str | None]]:
    db.session.expire_all()
    found = db.session.scalars(sa.select(Assessment)).all()
    return sorted(
        ((one.member.email, one.competence, one.value, one.comment) for one in found), key=lambda row: row[:2]
    )


def test_people_rate_what_the_scores_name_and_the_whole() -> None:
    assert tuple(COMPETENCES) == (*NAMES, OVERALL)


def test_a_rating_stands_beside_the_score_with_its_reason(
    owner: Person, colleague: Person, interview: Interview
) -> None:
    browser = owner.browser
    assert "No ratings yet" in words_of(browser.get(f"/interviews/{interview.id}"))
    page = words_of(browser.get(f"/interviews/{interview.id}/scorecard"))
    assert "Score: 3.5 out of 5" in page
    assert "Score: not assessed" in page
    answer = rate(owner, interview, skills_value="5.0", skills_comment="Has led\r\nfive.", overall_comment="Nice")
    assert answer.status_code == 303
    assert answer.location.endswith("#scorecard")
    rate(colleague, interview, skills_value="4.0")
    shown = words_of(browser.get(f"/interviews/{interview.id}"))
    assert "Skills 4.5 out of 5 on average, from 2 ratings · Score: 3.5" in shown
    assert "Has led five." in shown
    assert "Overall Comments only" in shown
    assert interview.data is not None
    assert interview.data.scores is not None
    assert interview.data.scores["skills"] == 3.5, "the machine's score is never touched"
    assert kept() == [
        (colleague.member.email, "skills", 4.0, None),
        (owner.member.email, "overall", None, "Nice"),
        (owner.member.email, "skills", 5.0, "Has led\nfive."),
    ]


@pytest.mark.parametrize(("value", "needs_reason"), [("4.0", False), ("3.0", False), ("4.5", True), ("0.0", True)])
def test_who_differs_from_the_score_says_why(
    owner: Person, interview: Interview, value: str, needs_reason: bool
) -> None:
    answer = rate(owner, interview, skills_value=value, motivation_value="1.0")
    assert answer.status_code == (422 if needs_reason else 303)
    assert (
        "Skills: comment : Explain why your rating differs from the score of 3.5" in words_of(answer)
    ) is needs_reason
    assert ('href="#skills_comment"' in answer.text) is needs_reason
    assert bool(kept()) is not needs_reason, "all of it, or nothing"


def test_what_was_typed_is_not_lost_where_something_is_wrong(owner: Person, interview: Interview) -> None:
    long = "x" * (LONGEST_COMMENT + 1)
    answer = rate(
        owner,
        interview,
        motivation_value="2.5",
        motivation_comment="Kept words",
        skills_value="9",
        overall_comment=long,
        communication_comment="a\x00b",
    )
    assert answer.status_code == 422
    shown = words_of(answer)
    assert "Skills : Choose a rating from 0 to 5 in steps of 0.5" in shown
    assert f"Overall: comment : Comments can have up to {LONGEST_COMMENT} characters" in shown
    assert "Communication: comment : Must not contain the NUL character" in shown
    assert "Kept words" in shown
    assert '<option selected value="2.5">' in answer.text
    assert kept() == []


def test_it_can_be_changed_and_taken_back_and_the_log_knows_numbers_and_no_words(
    owner: Person, interview: Interview
) -> None:
    rate(owner, interview, skills_value="4.0", skills_comment="private words")
    rate(owner, interview, skills_value="4.0", skills_comment="private words")
    assert '<option selected value="4.0">' in owner.browser.get(f"/interviews/{interview.id}/scorecard").text
    rate(owner, interview, skills_value="3.0", skills_comment="private words")
    rate(owner, interview)
    assert kept() == []
    written = [
        entry.details["skills"]
        for entry in db.session.scalars(sa.select(AuditEntry).order_by(AuditEntry.number))
        if entry.action == "interview.assessed"
    ]
    assert written == [
        {"from": None, "to": 4.0, "comment_changed": True},
        {"from": 4.0, "to": 3.0, "comment_changed": False},
        {"from": 3.0, "to": None, "comment_changed": True},
    ]


def test_others_ratings_are_hidden_until_ones_own_is_handed_in(
    owner: Person, colleague: Person, interview: Interview
) -> None:
    rate(colleague, interview, skills_value="4.5", skills_comment="Has led five.")
    candidates.move(interview.candidate, "shortlisted", by=colleague.member)
    db.session.commit()
    rate(owner, interview, overall_comment="Words of my own.")  # a comment is no rating
    browser = owner.browser
    base = f"/interviews/{interview.id}"
    for page in (base, f"{base}/scorecard", f"{base}/report"):
        answer = browser.get(page)
        assert answer.status_code == 200
        assert "Has led five." not in answer.text
        assert "their rating at the time" not in answer.text
        assert "Skills 4.5" not in words_of(answer)
    assert "One member has rated this interview" in words_of(browser.get(base))
    assert "Words of my own." in words_of(browser.get(base))
    assert "Ratings by other members are left out" in words_of(browser.get(f"{base}/report"))
    exported = browser.post(f"{base}/export", data={"format": "json"})
    assert "Has led five." not in exported.text
    assert exported.json["ratings_hidden"] == 1
    rate(owner, interview, skills_value="3.5")
    words = words_of(browser.get(base))
    assert "Has led five." in words
    assert "their rating at the time: 4.5 out of 5" in words
    assert "Has led five." in browser.get(f"{base}/report").text
    assert browser.post(f"{base}/export", data={"format": "json"}).json["ratings_hidden"] == 0


def test_viewers_read_and_nobody_rates_what_they_do_not_see(
    owner: Person, outsider: Person, interview: Interview
) -> None:
    rate(owner, interview, skills_value="4.0")
    viewer = person(owner.app, "vera@first.example", organization=owner.organization, role="viewer")
    assert rate(viewer, interview, skills_value="1.0").status_code == 403
    shown = viewer.browser.get(f"/interviews/{interview.id}")
    assert "Skills 4.0 out of 5" in words_of(shown)
    assert "Rate this interview" not in shown.text
    assert rate(outsider, interview, skills_value="1.0").status_code == 403
    assert [value for _, _, value, _ in kept()] == [4.0]


def test_without_a_result_there_is_nothing_to_rate(owner: Person, book: Made, interview: Interview) -> None:  # noqa: F811
    waiting = book()
    answer = owner.browser.get(f"/interviews/{waiting.id}/scorecard")
    assert answer.status_code == 303
    assert "Team scorecard" not in owner.browser.get(f"/interviews/{waiting.id}").text
    with pytest.raises(Conflict):
        actions.assess(waiting, {"skills": Opinion(3.0)}, by=owner.member)
    rate(owner, interview, skills_value="4.0", skills_comment="withheld words")
    db.session.get_one(Interview, interview.id).withdrawn_at = clock.now()
    db.session.commit()
    assert rate(owner, interview, skills_value="1.0").status_code == 303
    assert "withheld words" not in owner.browser.get(f"/interviews/{interview.id}").text
    assert [value for _, _, value, _ in kept()] == [4.0]


def test_what_another_window_took_back_meanwhile_is_told(
    owner: Person, interview: Interview, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate(owner, interview, skills_value="4.0")

    def just_gone(*asked: Any) -> dict[str, Assessment]:
        found = queries.own_assessments(*asked)
        db.session.execute(sa.delete(Assessment).execution_options(synchronize_session=False))
        return found

    monkeypatch.setattr(actions, "own_assessments", just_gone)
    with pytest.raises(Conflict, match="another window"):
        actions.assess(interview, {"skills": Opinion(3.0)}, by=owner.member)
    db.session.rollback()
    assert [value for _, _, value, _ in kept()] == [4.0]


def test_where_language_is_not_assessed_people_are_not_asked_about_it(owner: Person, interview: Interview) -> None:
    interview.script = replace(interview.script or FlowScript(), assess_language=False)
    db.session.commit()
    assert [row.competence for row in scorecard_of(interview, reader=owner.member)] == [
        "communication",
        "motivation",
        "skills",
        "overall",
    ]
    assert "Language" not in owner.browser.get(f"/interviews/{interview.id}/scorecard").text
    assert rate(owner, interview, language_comprehension_value="1.0", skills_value="3.5").status_code == 303
    assert [name for _, name, _, _ in kept()] == ["skills"]
    with pytest.raises(Rejected) as refused:
        actions.assess(interview, {"language_comprehension": Opinion(1.0)}, by=owner.member)
    assert refused.value.field == "language_comprehension_value"


def test_answers_are_rated_one_by_one(owner: Person, colleague: Person, interview: Interview) -> None:
    base = f"/interviews/{interview.id}"
    form = words_of(owner.browser.get(f"{base}/scorecard"))
    assert "1. Why do you want this job?" in form
    assert "2. Tell me about your last team." in form
    assert rate(colleague, interview, question_2_value="4.5").status_code == 303
    assert "Rated 4.5" not in words_of(owner.browser.get(base)), "others' ratings come after one's own"
    assert "4.5" not in words_of(owner.browser.get(f"{base}/report"))
    hidden = owner.browser.post(f"{base}/export", data={"format": "json"}).json
    assert [one["ratings"] for one in hidden["answers"]] == [[], []]
    assert rate(owner, interview, question_2_value="2.0").status_code == 303
    assert '<option selected value="2.0">' in owner.browser.get(f"{base}/scorecard").text
    assert "Rated 4.5 by Ben, 2.0 by Owner" in words_of(owner.browser.get(base))
    shown = owner.browser.post(f"{base}/export", data={"format": "json"}).json
    assert [one["ratings"] for one in shown["answers"]] == [
        [],
        [{"name": "Ben", "rating": 4.5}, {"name": "Owner", "rating": 2.0}],
    ]
    assert "4.5 out of 5 by Ben" in words_of(owner.browser.get(f"{base}/report"))
    assert kept() == [
        (colleague.member.email, "question_2", 4.5, None),
        (owner.member.email, "question_2", 2.0, None),
    ]
    assert queries.own_ratings(owner.member.id, [interview.candidate_id]) == {interview.candidate_id: 2.0}
    rate(owner, interview, question_2_value="2.0", skills_value="3.0")
    assert queries.own_ratings(owner.member.id, [interview.candidate_id]) == {interview.candidate_id: 3.0}


def test_only_the_answers_of_this_interview_are_rated(owner: Person, interview: Interview) -> None:
    answer = rate(owner, interview, question_1_value="7.5", question_3_value="4.0")
    assert answer.status_code == 422
    assert "1. Why do you want this job? : Choose a rating from 0 to 5" in words_of(answer)
    with pytest.raises(Rejected):
        actions.assess(interview, {"question_3": Opinion(4.0)}, by=owner.member)
    assert kept() == []


def test_a_share_link_has_ratings_of_answers_only_with_the_scorecard(owner: Person, interview: Interview) -> None:
    rate(owner, interview, question_1_value="1.5")
    pages = []
    for parts in (["transcript"], ["transcript", "scorecard"]):
        _link, token = share_links.make(interview, parts, days=7, label=None, by=owner.member)
        db.session.commit()
        pages.append(words_of(owner.app.test_client().get(f"/shared/{token}")))
    assert ["Rated 1.5" in page for page in pages] == [False, True]
