"""New results and this week's figures on the first page: for the right people, over the right days."""

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.candidates import actions as candidates
from app.candidates.overall import COUNTED
from app.core import clock
from app.core.db import db
from app.interviews import actions as interviews
from app.interviews.models import Interview, InterviewData
from app.review.dashboard.queries import Compared, new_results, this_week
from tests.factories import Made
from tests.people import Person, moved_away

WEDNESDAY = datetime(2026, 11, 25, 12, tzinfo=UTC)
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
WEEK = timedelta(days=7)


@pytest.fixture
def booked_at(owner: Person, make_flow: Made) -> Made:
    flow = make_flow()

    def make(at: datetime, **columns: Any) -> Interview:
        interview = interviews.book(owner.organization, flow.id, email=f"{at:%d%H%M%S}@candidate.example")
        assert interview.candidate is not None
        interview.candidate.created_at = at
        for name, value in columns.items():
            setattr(interview, name, value)
        db.session.commit()
        return interview

    return make


def figures(who: Person) -> dict[str, tuple[int, int]]:
    db.session.expire_all()
    with clock.replaced(lambda: WEDNESDAY):
        return {one.label: (one.count, one.before) for one in this_week(who.member)}


def test_a_week_is_compared_with_as_much_of_the_one_before(owner: Person, booked_at: Made) -> None:
    for at in (
        *(MONDAY, WEDNESDAY - timedelta(seconds=1)),  # this week
        *(MONDAY - WEEK, MONDAY - WEEK + timedelta(hours=1), WEDNESDAY - WEEK - timedelta(seconds=1)),
        *(WEDNESDAY - WEEK, MONDAY - timedelta(seconds=1)),  # the rest of last week
        MONDAY - WEEK - timedelta(seconds=1),  # the week before
    ):
        booked_at(at, completed_at=at)
    assert figures(owner) == {"New candidates": (2, 3), "New results": (2, 3), "Decisions": (0, 0)}


def test_an_undone_decision_is_not_counted(owner: Person, booked_at: Made) -> None:
    candidate = booked_at(MONDAY).candidate
    with clock.replaced(lambda: WEDNESDAY - timedelta(hours=1)):
        candidates.move(candidate, "rejected", by=owner.member)
        db.session.commit()
    assert figures(owner)["Decisions"] == (1, 0)
    db.session.execute(sa.text("UPDATE decision_record SET withdrawn_at = at"))
    assert figures(owner)["Decisions"] == (0, 0)


@pytest.mark.parametrize("column", ["is_test", "quarantined_at", "erased_at"])
def test_results_of_tests_and_of_hidden_or_erased_interviews_are_left_out(
    column: str, owner: Person, booked_at: Made
) -> None:
    booked_at(MONDAY, completed_at=MONDAY, **{column: True if column == "is_test" else MONDAY})
    assert new_results(owner.member, limit=8) == []
    assert figures(owner)["New results"] == (0, 0)


def test_new_results_come_first_with_the_score_in_force(
    owner: Person, colleague: Person, outsider: Person, booked_at: Made, completed: Made
) -> None:
    older, newer = completed(first_name="Ann"), completed(first_name="Bea", email="bea@candidate.example")
    older.completed_at, newer.completed_at = MONDAY, WEDNESDAY
    data = db.session.get_one(InterviewData, newer.id)
    data.scores = {**dict.fromkeys(data.scores or {}), **dict.fromkeys(COUNTED, 4.0)}
    db.session.commit()
    found = new_results(colleague.member, limit=8)
    assert [one.interview.interviewee_first_name for one in found] == ["Bea", "Ann"]
    assert found[0].score == 4.0
    assert [one.interview.id for one in new_results(owner.member, limit=1)] == [newer.id]
    assert new_results(outsider.member, limit=8) == []
    moved_away(colleague)
    db.session.expire_all()
    assert new_results(colleague.member, limit=8) == []


def test_the_page_says_more_fewer_and_the_same(owner: Person, make_flow: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    make_flow()
    counted = [Compared("New candidates", 3, 1), Compared("New results", 1, 2), Compared("Decisions", 2, 2)]
    monkeypatch.setattr("app.review.dashboard.pages.tasks.this_week", lambda _member: counted)
    text = html.unescape(re.sub(r"<[^>]+>", " ", owner.browser.get("/dashboard").text))
    words = re.sub(r"\s+", " ", text)
    for expected in ("New candidates 3 ↑ 2 more", "New results 1 ↓ 1 fewer", "Decisions 2 the same"):
        assert expected in words
    assert "No results yet." in words
