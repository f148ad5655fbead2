"""The recruiters' list of requests: what is overdue on top, a count in the navigation, days that can be changed."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from app.accounts.models import AuditEntry
from app.candidate_requests import actions
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import CandidateRequest, RequestKind, RequestState
from app.core import clock
from app.core.db import db
from app.interviews import actions as interviews
from app.interviews.models import Interview
from tests.factories import Made
from tests.people import Person


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


@pytest.fixture
def interview(owner: Person, make_flow: Made) -> Interview:
    booked = interviews.book(owner.organization, make_flow().id, email="candidate@example.com", first_name="Ada")
    db.session.commit()
    return booked


def ask(interview: Interview, kind: RequestKind, text: str | None = None) -> CandidateRequest:
    candidate_request = actions.ask(interview, NewRequest(kind, text))
    db.session.commit()
    return candidate_request


def test_the_list_shows_what_is_open_with_what_is_overdue_on_top(owner: Person, interview: Interview) -> None:
    ask(interview, RequestKind.DELETION)
    ask(interview, RequestKind.REVIEW)
    done = ask(interview, RequestKind.WITHDRAWAL)
    actions.answer(done, state=RequestState.DONE, words=None, by=owner.member)
    db.session.commit()
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(days=15)):
        shown = words_of(owner.browser.get("/requests"))
    assert shown.index("Human review Ada") < shown.index("Erasure Ada")
    assert shown.count("Overdue") == 1
    assert "Withdrawal of consent Ada" not in shown
    everything = words_of(owner.browser.get("/requests?state=all"))
    assert "Withdrawal of consent Ada Nurse Done – Owner" in everything
    assert "Human review Ada" not in words_of(owner.browser.get("/requests?kind=deletion"))


def test_nothing_to_do_is_said(owner: Person) -> None:
    assert "No open requests" in words_of(owner.browser.get("/requests"))
    assert "No requests match" in words_of(owner.browser.get("/requests?kind=review&state=done"))
    assert owner.browser.get("/requests?kind=%00&state=odd&offset=x").status_code == 200


def test_the_navigation_counts_what_is_open(owner: Person, outsider: Person, interview: Interview) -> None:
    assert "open request" not in words_of(owner.browser.get("/dashboard"))
    candidate_request = ask(interview, RequestKind.DELETION)
    assert "1 open request" in words_of(owner.browser.get("/dashboard"))
    assert "open request" not in words_of(outsider.browser.get("/dashboard"))
    actions.answer(candidate_request, state=RequestState.DECLINED, words="We may keep it.", by=owner.member)
    db.session.commit()
    assert "open request" not in words_of(owner.browser.get("/dashboard"))


def test_an_administrator_sets_the_days_for_answers(owner: Person, colleague: Person, interview: Interview) -> None:
    assert colleague.browser.get("/requests/deadlines").status_code == 403
    browser = owner.browser
    assert 'value="30"' in browser.get("/requests/deadlines").text
    given = {"accommodation": "2", "correction": "14", "review": "10", "withdrawal": "7", "deletion": "20"}
    assert browser.post("/requests/deadlines", data=given).status_code == 303
    candidate_request = ask(interview, RequestKind.DELETION)
    assert candidate_request.due_at is not None
    assert (candidate_request.due_at - candidate_request.created_at).days == 20
    entry = db.session.query(AuditEntry).filter_by(action="organization.answer_days").one()
    assert entry.details["deletion"] == 20


@pytest.mark.parametrize("days", ["0", "366", "soon", ""])
def test_days_that_cannot_be_name_the_field(owner: Person, days: str) -> None:
    given = {"accommodation": "2", "correction": "14", "review": "10", "withdrawal": "7", "deletion": days}
    answer = owner.browser.post("/requests/deadlines", data=given)
    assert answer.status_code == 422
    assert "Erasure" in words_of(answer)
    db.session.refresh(owner.organization)
    assert owner.organization.answer_days is None
