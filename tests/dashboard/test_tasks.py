"""The top of the dashboard: what waits for the member, counted for the right people, in a handful of statements."""

import html
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import RequestKind
from app.candidates.models import Candidate
from app.core import clock
from app.core.db import db, new_id
from app.interviews import actions as interviews
from app.interviews.models import Interview, Stage, VideoStage
from app.review.dashboard.queries import tasks_of
from app.webhooks import actions as webhooks
from app.webhooks.models import DeliveryState, DisabledBy
from tests.factories import Made
from tests.people import Person, moved_away

LINK_DAYS = 30


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


def counts(who: Person) -> dict[str, int]:
    db.session.expire_all()
    return {task.kind: task.count for task in tasks_of(who.member, link_days=LINK_DAYS)}


@pytest.fixture
def flow(make_flow: Made) -> Any:
    return make_flow(webhook_url="https://receiver.example.com/hook")


@pytest.fixture
def book(owner: Person, flow: Any) -> Made:
    def make(email: str | None = "mary@candidate.example", **columns: Any) -> Interview:
        interview = interviews.book(owner.organization, flow.id, email=email, first_name="Mary")
        for name, value in columns.items():
            setattr(interview, name, value)
        db.session.commit()
        return interview

    return make


def with_result(interview: Interview, at: datetime, recruiter: Person | None = None) -> Candidate:
    candidate = interview.candidate
    assert candidate is not None
    candidate.interviewed_at = at
    candidate.assigned_recruiter_id = recruiter.member.id if recruiter else None
    db.session.commit()
    return candidate


def test_an_empty_organization_has_nothing_waiting(owner: Person, book: Made) -> None:
    book()
    assert counts(owner) == {}
    page = owner.browser.get("/dashboard")
    assert "You have no tasks." in words_of(page)


def test_results_are_counted_until_somebody_judges_them(owner: Person, colleague: Person, book: Made) -> None:
    now = clock.now()
    mine = with_result(book("a@candidate.example"), now - timedelta(days=9), colleague)
    with_result(book("b@candidate.example"), now)
    assert counts(colleague) == {"my_results": 1, "results": 2}
    assert counts(owner) == {"results": 2}
    page = colleague.browser.get("/dashboard")
    assert f"/candidates?recruiter={colleague.member.id}&amp;unreviewed=yes&amp;order=oldest" in page.text
    mine.reviewed_at = now
    db.session.commit()
    assert counts(colleague) == {"results": 1}


def test_requests_come_by_kind_with_the_next_date_and_what_is_overdue(owner: Person, book: Made) -> None:
    for email, kind in (("a@x.example", "deletion"), ("b@x.example", "deletion"), ("c@x.example", "review")):
        candidate_requests.ask(book(email), NewRequest(RequestKind(kind)))
    db.session.commit()
    assert counts(owner) == {"review": 1, "deletion": 2}
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(days=15)):
        page = owner.browser.get("/dashboard")
        tasks = {task.kind: task for task in tasks_of(owner.member, link_days=LINK_DAYS)}
    assert (tasks["review"].late, tasks["deletion"].late) == (1, 0)
    assert tasks["deletion"].at is not None
    assert (tasks["deletion"].at - now).days == 29
    assert "/requests?kind=deletion" in page.text
    assert "1 overdue" in words_of(page)


def test_invitations_about_to_end_lead_to_exactly_those(owner: Person, book: Made) -> None:
    now = clock.now()
    book("ending@x.example", created_at=now - timedelta(days=28))
    book("fresh@x.example", created_at=now - timedelta(days=20))
    book("over@x.example", created_at=now - timedelta(days=31))
    book("begun@x.example", created_at=now - timedelta(days=28), stage=Stage.RUNNING)
    book("no@x.example", created_at=now - timedelta(days=28), declined_at=now)
    assert counts(owner) == {"ending": 1}
    shown = owner.browser.get("/interviews?waiting=ending").text
    assert shown.count('data-label="Candidate"') == 1
    assert "waiting=ending" in owner.browser.get("/dashboard").text


def test_what_is_stuck_is_counted_and_listed_with_and_without_an_address(owner: Person, book: Made) -> None:
    now = clock.now()
    failed = book(None, stage=Stage.PROCESSING_FAILED, failure="the disk is full")
    late = book("late@x.example", stage=Stage.SUBMITTED, due_at=now - timedelta(minutes=16))
    book("soon@x.example", stage=Stage.SUBMITTED, due_at=now - timedelta(minutes=14))
    held = {"lease_until": now + timedelta(minutes=1)}
    book("held@x.example", stage=Stage.PROCESSING, due_at=now - timedelta(hours=1), **held)
    book("film@x.example", stage=Stage.COMPLETED, video_stage=VideoStage.FAILED)
    book("gone@x.example", stage=Stage.PROCESSING_FAILED, withdrawn_at=now)
    assert counts(owner) == {"stuck": 3}
    shown = owner.browser.get("/interviews?waiting=stuck").text
    assert shown.count('data-label="Candidate"') == 3
    assert failed.id in shown
    assert late.id in shown


def test_webhooks_that_failed_and_receivers_that_take_nothing(owner: Person, flow: Any) -> None:
    payload = {
        "event_type": "candidate_status_updated",
        "interview_flow_id": flow.id,
        "interview_flow_name": flow.title,
        "interviewee_email": "a@x.example",
        "previous_status": "invited",
        "new_status": "rejected",
    }
    made = webhooks.announce(flow, event_type=payload["event_type"], payload=payload, subject=new_id(), sequence=1)
    assert made is not None
    made.state, made.finished_at = DeliveryState.EXHAUSTED, clock.now() - timedelta(days=2)
    made.endpoint.failing_since = clock.now()
    db.session.commit()
    assert counts(owner) == {"undelivered": 1, "failing": 1}
    webhooks.disable(made.endpoint, because=DisabledBy.FAILING)
    made.finished_at = clock.now() - timedelta(days=31)
    db.session.commit()
    assert counts(owner) == {"disabled": 1}


def test_nothing_of_others_is_counted(
    owner: Person, colleague: Person, viewer: Person, outsider: Person, book: Made
) -> None:
    now = clock.now()
    stuck = book("a@x.example", stage=Stage.PROCESSING_FAILED)
    with_result(stuck, now)
    candidate_requests.ask(stuck, NewRequest(RequestKind.DELETION))
    book("b@x.example", created_at=now - timedelta(days=28))
    everything = {"deletion": 1, "results": 1, "stuck": 1, "ending": 1}
    assert counts(colleague) == everything
    assert counts(outsider) == {}
    assert counts(viewer) == {}
    assert "waits for you" not in viewer.browser.get("/dashboard").text
    moved_away(colleague)
    assert counts(colleague) == {}
    assert counts(owner) == everything


def test_the_number_of_statements_does_not_grow(owner: Person, book: Made) -> None:
    now = clock.now()
    member = owner.member

    def asked() -> int:
        seen: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            seen.append(statement)

        _ = member.organization_id
        event.listen(db.session.get_bind(), "before_cursor_execute", note)
        try:
            tasks_of(member, link_days=LINK_DAYS)
        finally:
            event.remove(db.session.get_bind(), "before_cursor_execute", note)
        return len(seen)

    empty = asked()
    for number in range(12):
        interview = book(f"{number}@x.example", stage=Stage.PROCESSING_FAILED)
        with_result(interview, now)
        candidate_requests.ask(interview, NewRequest(RequestKind.DELETION))
    db.session.commit()
    _ = member.role, member.id
    assert asked() == empty <= 10
