"""What candidates think: theirs alone to say, changed once at most, seen by recruiters, and in no result."""

from typing import Any

import pytest

from app.core.db import db
from app.interviews.feedback import ratings_seen_by
from app.interviews.models import Feedback
from app.operations.demo.candidate import Candidate
from tests.factories import Made
from tests.people import Person

from .conftest import Candidates, interview_of


@pytest.fixture
def finished(candidates: Candidates, book: Made) -> Candidate:
    candidate = candidates(book(redirect_url="https://example.com/next"))
    candidate.start("text")
    candidate.write(["One.", "Two."])
    return candidate


def send(candidate: Candidate, **typed: str) -> Any:
    return candidate.ask("POST", "/feedback", data=typed)


def kept(candidate: Candidate) -> Feedback | None:
    db.session.expire_all()
    return interview_of(candidate).feedback


def test_the_page_asks_and_a_plain_form_is_enough(finished: Candidate) -> None:
    page = finished.open()
    assert 'action="' in page
    assert "/feedback" in page
    assert page.count('name="rating"') == 5
    answer = send(finished, rating="4", comment="  Calm and clear.\r\nThank you. ")
    assert (answer.status_code, answer.headers["Location"].endswith("?feedback=sent")) == (303, True)
    row = kept(finished)
    assert row is not None
    assert (row.rating, row.comment, row.revision) == (4, "Calm and clear.\nThank you.", 1)


def test_the_asking_company_s_logo_stays_on_top_to_the_end(candidates: Candidates, book: Made) -> None:
    asking = book(logo_key="logos/own.png", org_name="Willow")
    candidate = candidates(asking)
    candidate.start("text")
    candidate.write(["One.", "Two."])
    assert f'src="/flows/{asking.flow_id}/logo"' in candidate.open()
    assert f'src="/flows/{asking.flow_id}/logo"' in candidate.ask("GET", "/own").content.decode()


def test_the_way_on_is_counted_down_whether_or_not_feedback_was_sent(finished: Candidate) -> None:
    assert 'data-seconds="30"' in finished.open()
    send(finished, rating="5")
    assert 'data-seconds="30"' in finished.ask("GET", "?feedback=sent").content.decode()


def test_it_may_be_changed_once_and_sending_the_same_again_is_no_change(finished: Candidate) -> None:
    for _ in range(3):
        assert "feedback=sent" in send(finished, rating="2").headers["Location"]
    assert "feedback=sent" in send(finished, rating="3", comment="Better in the end").headers["Location"]
    assert "feedback=final" in send(finished, rating="1").headers["Location"]
    row = kept(finished)
    assert row is not None
    assert (row.rating, row.comment, row.revision) == (3, "Better in the end", 2)
    assert 'name="rating"' not in finished.open()


@pytest.mark.parametrize(
    "typed",
    [
        {},
        {"rating": "6"},
        {"rating": "0"},
        {"rating": "five"},
        {"comment": "   "},
        {"comment": "x" * 2001},
        {"comment": "a\x00b"},
    ],
)
def test_what_cannot_be_kept_is_said_and_what_was_typed_is_shown_again(
    finished: Candidate, typed: dict[str, str]
) -> None:
    answer = send(finished, **typed)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'role="alert"' in page
    assert kept(finished) is None


def test_nobody_else_and_nobody_earlier_may_rate(candidate: Candidate, candidates: Candidates) -> None:
    assert send(candidate, rating="5").status_code == 303  # back to the talk: nothing is kept
    candidate.write(["One.", "Two."])
    other = candidates(interview_of(candidate))
    other.open()
    assert send(other, rating="1").status_code == 409
    assert kept(candidate) is None


def test_recruiters_of_the_team_see_it_and_others_do_not(
    finished: Candidate, owner: Person, colleague: Person, outsider: Person
) -> None:
    send(finished, rating="4", comment="Good questions")
    for person in (owner, colleague):
        seen = ratings_seen_by(person.member)
        assert (seen.count, seen.average, [said.text for said in seen.comments]) == (1, 4.0, ["Good questions"])
        assert [(flow.count, flow.average) for flow in seen.flows] == [(1, 4.0)]
    foreign = ratings_seen_by(outsider.member)
    assert (foreign.count, foreign.average, foreign.flows, foreign.comments) == (0, None, (), ())


def test_it_is_in_no_published_result(finished: Candidate, owner: Person) -> None:
    send(finished, rating="1", comment="unmistakable words")
    interview = interview_of(finished)
    answer = owner.api("GET", f"/v1/interviews/{interview.id}")
    assert "unmistakable" not in answer.get_data(as_text=True)
    page = owner.browser.get(f"/interviews/{interview.id}").get_data(as_text=True)
    assert "unmistakable words" in page
    assert "unmistakable words" in owner.browser.get("/dashboard").get_data(as_text=True)
