"""What candidates ask for: kept once, granted at once where it costs nobody anything, answered by people."""

import html
import re
import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.audit.words import facts
from app.accounts.models import AuditEntry
from app.candidate_requests import actions
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import MOST_OPEN, CandidateRequest, RequestKind, RequestState
from app.candidate_requests.queries import (
    RequestFilter,
    has_more_time,
    how_many_requests_seen_by,
    marks_of,
    request_to_change,
    requests_of,
    requests_seen_by,
)
from app.core import clock
from app.core.db import db
from app.core.db.row_security import as_chosen
from app.core.errors import Conflict, Forbidden, NotFound, Rejected
from app.interviews import actions as interviews
from app.interviews.models import Interview
from tests.factories import Made, a_flow
from tests.people import Person, person


@pytest.fixture
def interview(owner: Person, make_flow: Made) -> Interview:
    booked = interviews.book(owner.organization, make_flow().id, email="candidate@example.com")
    db.session.commit()
    return booked


def different(choice: str, text: str | None = None, asked: str = "before") -> NewRequest:
    return NewRequest(RequestKind.ACCOMMODATION, text, None, {"choice": choice, "asked": asked})


@pytest.mark.parametrize("choice", ["more_time", "writing"])
def test_what_needs_nobody_is_granted_at_once(interview: Interview, choice: str) -> None:
    candidate_request = actions.ask(interview, different(choice))
    assert (candidate_request.state, candidate_request.decided_by) == (RequestState.GRANTED, None)
    assert candidate_request.decided_at is not None


@pytest.mark.parametrize("choice", ["person", "other"])
def test_what_needs_somebody_waits_until_a_day_is_due(interview: Interview, choice: str) -> None:
    candidate_request = actions.ask(interview, different(choice, "Please call me."))
    assert (candidate_request.state, candidate_request.decided_at) == (RequestState.OPEN, None)
    assert candidate_request.due_at is not None
    assert timedelta(days=2) < candidate_request.due_at - clock.now() <= timedelta(days=3)


def test_a_deletion_is_never_granted_by_the_product_itself(interview: Interview) -> None:
    candidate_request = actions.ask(interview, NewRequest(RequestKind.DELETION, details={"choice": "writing"}))
    assert candidate_request.state is RequestState.OPEN


def test_the_same_request_twice_is_one(interview: Interview) -> None:
    first, again = (actions.ask(interview, different("person", "Hello")) for _ in range(2))
    other = actions.ask(interview, different("person", "Hello again"))
    assert first.id == again.id != other.id
    assert len(requests_of(interview.id)) == 2


def test_the_same_request_at_the_same_moment_is_one(own_app: Flask) -> None:
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        interview_id = interviews.book(owner.organization, a_flow(owner).id).id
        db.session.commit()
    together, wrong = threading.Barrier(6), []

    def ask() -> None:
        with own_app.app_context():
            try:
                together.wait()
                actions.ask(db.session.get_one(Interview, interview_id), different("person", "Hello"))
                db.session.commit()
            except Exception as error:  # noqa: BLE001 - whatever it is, the test must see it
                wrong.append(error)

    threads = [threading.Thread(target=as_chosen(ask)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    with own_app.app_context():
        assert len(requests_of(interview_id)) == 1
        db.session.remove()
        db.engine.dispose()


def test_nothing_is_asked_after_an_erasure(interview: Interview) -> None:
    erased = sa.update(Interview).where(Interview.id == interview.id).values(erased_at=clock.now())
    db.session.execute(erased.execution_options(synchronize_session=False))
    with pytest.raises(Conflict, match="erased"):
        actions.ask(interview, different("person"))
    assert not requests_of(interview.id)


def correction(interview: Interview, first: int, last: int) -> CandidateRequest:
    details = {"segment": 1, "first": first, "last": last, "heard": "a", "suggestion": f"{first}-{last}"}
    return actions.ask(interview, NewRequest(RequestKind.CORRECTION, details=details))


def test_of_corrections_that_share_a_word_the_later_one_is_shown_whole(interview: Interview) -> None:
    correction(interview, 1, 3)
    apart, later = correction(interview, 6, 6), correction(interview, 2, 4)
    assert marks_of(requests_of(interview.id)) == {
        (1, 2): later,
        (1, 3): later,
        (1, 4): later,
        (1, 6): apart,
    }


def test_what_was_settled_may_be_asked_for_anew(interview: Interview, owner: Person) -> None:
    first = actions.ask(interview, different("person"))
    actions.answer(first, state=RequestState.DECLINED, words=None, by=owner.member)
    assert actions.ask(interview, different("person")).id != first.id


def test_nobody_fills_a_recruiters_list(interview: Interview) -> None:
    for number in range(MOST_OPEN):
        actions.ask(interview, different("other", str(number)))
    with pytest.raises(Rejected, match="wait for an answer"):
        actions.ask(interview, different("other", "one more"))


def test_more_time_counts_until_a_person_declines_it(interview: Interview, owner: Person) -> None:
    assert not has_more_time(interview.id)
    actions.ask(interview, different("writing"))
    assert not has_more_time(interview.id)
    candidate_request = actions.ask(interview, different("more_time"))
    assert has_more_time(interview.id)
    actions.answer(
        candidate_request, state=RequestState.DECLINED, words="The exam board sets the time.", by=owner.member
    )
    assert not has_more_time(interview.id)


def test_an_answer_is_kept_with_who_and_when_and_audited(interview: Interview, owner: Person) -> None:
    candidate_request = actions.ask(interview, different("person", "Private words"))
    actions.answer(candidate_request, state=RequestState.GRANTED, words="We call you on Monday.", by=owner.member)
    assert (candidate_request.state, candidate_request.answer, candidate_request.decided_by) == (
        RequestState.GRANTED,
        "We call you on Monday.",
        owner.member,
    )
    entry = db.session.query(AuditEntry).filter_by(action="wish.answered", subject=candidate_request.id).one()
    assert entry.details == {"kind": "accommodation", "from": "open", "to": "granted", "interview": interview.id}


@pytest.mark.parametrize(("kind", "words"), [("deletion", "Kind: erasure"), ("review", "Kind: human review")])
def test_the_audit_log_names_the_kind_as_the_pages_do(kind: str, words: str) -> None:
    assert list(facts({"kind": kind}, {})) == [words]


def test_two_people_never_answer_over_each_other(interview: Interview, owner: Person) -> None:
    candidate_request = actions.ask(interview, different("person"))
    assert candidate_request.state is RequestState.OPEN  # read before the other one answers
    elsewhere = db.session.connection()
    elsewhere.execute(
        CandidateRequest.__table__.update()
        .where(CandidateRequest.id == candidate_request.id)
        .values(state=RequestState.DONE)
    )
    with pytest.raises(Conflict):
        actions.answer(candidate_request, state=RequestState.DECLINED, words=None, by=owner.member)
    assert candidate_request.state is RequestState.DONE


def test_an_answer_is_no_question(interview: Interview, owner: Person) -> None:
    candidate_request = actions.ask(interview, different("person"))
    with pytest.raises(Rejected):
        actions.answer(candidate_request, state=RequestState.OPEN, words=None, by=owner.member)
    with pytest.raises(Rejected):
        actions.answer(candidate_request, state=RequestState.DONE, words="a" * 2001, by=owner.member)


def test_lists_show_members_their_own(interview: Interview, owner: Person, colleague: Person, outsider: Person) -> None:
    candidate_request = actions.ask(interview, different("person"))
    actions.ask(interview, different("writing"))
    everything = RequestFilter()
    for member in (owner.member, colleague.member):
        assert len(requests_seen_by(member, everything, limit=10, offset=0)) == 2
        assert requests_seen_by(member, RequestFilter(state=RequestState.OPEN), limit=10, offset=0) == [
            candidate_request
        ]
        assert how_many_requests_seen_by(member, RequestFilter(state=RequestState.OPEN)) == 1
        assert how_many_requests_seen_by(member, RequestFilter(kind=RequestKind.REVIEW)) == 0
    assert requests_seen_by(outsider.member, everything, limit=10, offset=0) == []
    with pytest.raises(Forbidden):
        request_to_change(outsider.member, candidate_request.id)
    for wrong in ("nope", "\x00", "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"):
        with pytest.raises(NotFound):
            request_to_change(owner.member, wrong)


def test_a_recruiter_answers_on_the_interviews_page(app: Flask, interview: Interview, colleague: Person) -> None:
    candidate_request = actions.ask(interview, different("person", "I <b>stammer</b>."))
    db.session.commit()
    browser = colleague.browser
    page = browser.get(f"/interviews/{interview.id}").get_data(as_text=True)
    assert "A person instead of the agent" in page
    assert "I &lt;b&gt;stammer&lt;/b&gt;." in page
    form = {"state": "granted", "answer": "We will call you."}
    answered = browser.post(f"/requests/{candidate_request.id}/answer", data=form)
    assert (answered.status_code, answered.headers["Location"]) == (303, f"/interviews/{interview.id}#requests")
    page = browser.get(f"/interviews/{interview.id}").get_data(as_text=True)
    assert "We will call you." in page
    assert "Colleague" in page


def test_a_member_cannot_overwrite_a_reply_that_they_have_not_seen(
    interview: Interview, owner: Person, colleague: Person
) -> None:
    candidate_request = actions.ask(interview, different("person"))
    db.session.commit()
    path, mine, theirs = f"/requests/{candidate_request.id}/answer", owner.browser, colleague.browser

    def seen() -> str:
        page = mine.get(f"/interviews/{interview.id}").get_data(as_text=True)
        found = re.search(r'name="seen" value="([^"]*)"', page)
        assert found
        return html.unescape(found[1])

    old = seen()
    theirs.post(path, data={"state": "granted", "answer": "We will call you.", "seen": old})
    # The same status again, with other words: the status alone does not tell that there is a newer reply.
    theirs.post(path, data={"state": "granted", "answer": "We will call you on Monday.", "seen": seen()})
    for stale in (old, "2026-01-01T00:00:00+00:00", "odd"):
        refused = mine.post(path, data={"state": "declined", "answer": "No <b>.", "seen": stale})
        page = refused.get_data(as_text=True)
        assert (refused.status_code, "Your reply was not saved" in page) == (409, True)
        assert "Requested by" in page
        assert "“We will call you on Monday.”" in page
        assert ">No &lt;b&gt;.</textarea>" in page, "what the member wrote is lost"
        assert '<option value="declined" selected>' in page
        assert f'name="seen" value="{seen()}"' in page
        db.session.expire_all()
        assert candidate_request.answer == "We will call you on Monday."
    newest = seen()
    for _ in range(2):  # a double click
        mine.post(path, data={"state": "declined", "answer": "No.", "seen": newest})
        assert "The request is now declined" in mine.get(f"/interviews/{interview.id}").get_data(as_text=True)
    db.session.expire_all()
    assert (candidate_request.state, candidate_request.answer) == (RequestState.DECLINED, "No.")
    assert db.session.query(AuditEntry).filter_by(action="wish.answered", subject=candidate_request.id).count() == 3
    theirs.post(path, data={"state": "done"})  # from a page that was open before the upgrade
    db.session.expire_all()
    assert candidate_request.state is RequestState.DONE


@pytest.mark.parametrize("form", [{"state": "open"}, {"state": ""}, {"state": "done", "answer": "\x00"}, {}])
def test_a_wrong_answer_is_told_and_changes_nothing(
    interview: Interview, colleague: Person, form: dict[str, str]
) -> None:
    candidate_request = actions.ask(interview, different("person"))
    db.session.commit()
    browser = colleague.browser
    assert browser.post(f"/requests/{candidate_request.id}/answer", data=form).status_code == 303
    assert "notice-bad" in browser.get(f"/interviews/{interview.id}").get_data(as_text=True)
    db.session.expire_all()
    assert db.session.get_one(CandidateRequest, candidate_request.id).state is RequestState.OPEN


def test_viewers_only_look(interview: Interview, viewer: Person) -> None:
    candidate_request = actions.ask(interview, different("person"))
    db.session.commit()
    page = viewer.browser.get(f"/interviews/{interview.id}").get_data(as_text=True)
    assert "A person instead of the agent" in page
    assert f"/requests/{candidate_request.id}/answer" not in page
    assert viewer.browser.post(f"/requests/{candidate_request.id}/answer", data={"state": "done"}).status_code == 403
