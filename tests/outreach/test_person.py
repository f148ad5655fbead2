"""The menu of a row: a link is extended or a candidate invited again, only where that makes sense."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.accounts.models import AuditEntry
from app.core import clock
from app.core.db import db
from app.flows.models import FlowStatus
from app.interviews import actions as interviews
from app.interviews.models import Interview, Stage
from app.interviews.pending import Waiting, condition
from app.outreach.jobs import sweep
from tests.factories import Made
from tests.mailing import Postbox, send_due
from tests.people import Person

DAYS = 30


@pytest.fixture
def ada(owner: Person, make_flow: Made) -> Interview:
    interview = interviews.book(owner.organization, make_flow().id, email="ada@c.example", first_name="Ada")
    db.session.commit()
    return interview


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


def in_days(number: float) -> Any:
    then = clock.now() + timedelta(days=number)
    return clock.replaced(lambda: then)


def opens(person: Person, interview: Interview) -> bool:
    page = person.app.test_client().get(f"/interview/api/{interview.flow_id}/{interview.id}", follow_redirects=True)
    return page.status_code == 200


def test_the_list_leads_to_what_can_be_done(owner: Person, viewer: Person, ada: Interview) -> None:
    href = f'href="/candidates/{ada.candidate_id}/actions?order=newest"'
    assert href in owner.browser.get("/candidates").text
    assert href not in viewer.browser.get("/candidates").text
    page = owner.browser.get(f"/candidates/{ada.candidate_id}/actions?order=newest").text
    assert f'href="/candidates/message?id={ada.candidate_id}"' in page
    assert f"/interview/api/{ada.flow_id}/{ada.id}" in page
    assert "Extend link" in page
    assert "You cannot invite this candidate again. The candidate&#39;s link still works." in page


def test_an_extended_link_works_and_the_notice_follows_it(owner: Person, ada: Interview, postbox: Postbox) -> None:
    browser = owner.browser
    browser.post(f"/interviews/{ada.id}/mail", data={"step": "invitation"})
    send_due()
    with in_days(DAYS - 1):
        assert db.session.scalar(sa.select(sa.func.count()).where(condition(Waiting.ENDING, link_days=DAYS))) == 1
        answer = owner.browser.post(
            f"/candidates/{ada.candidate_id}/extend?order=newest", data={"days": "14"}, follow_redirects=True
        )
        assert "Ada&#39;s link works until" in words_of(answer)
        assert db.session.scalar(sa.select(sa.func.count()).where(condition(Waiting.ENDING, link_days=DAYS))) == 0
    with in_days(DAYS + 5):
        db.session.expire_all()
        assert opens(owner, ada)
    with in_days(DAYS + 12):
        assert sweep() == 1
        send_due()
        assert "expires soon" in postbox.mails[-1].subject, "the notice comes two days before the new end"
    with in_days(DAYS + 14):
        assert not opens(owner, ada)
    entry = db.session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "interview.link_extended")).one()
    assert (entry.subject, entry.details) == (ada.id, {"days": 14})


@pytest.mark.parametrize(
    ("days", "words"),
    [
        ("0", "Enter 1 to 90 days."),
        ("91", "Enter 1 to 90 days."),
        ("-1", "whole number"),
        ("7", "already works longer"),
    ],
)
def test_days_that_do_not_extend_are_refused(owner: Person, ada: Interview, days: str, words: str) -> None:
    answer = owner.browser.post(f"/candidates/{ada.candidate_id}/extend", data={"days": days}, follow_redirects=True)
    assert words in words_of(answer)
    db.session.expire_all()
    assert ada.link_since is None


@pytest.mark.parametrize("stage", [Stage.SUBMITTED, Stage.PROCESSING, Stage.COMPLETED])
def test_a_finished_interview_is_not_extended(owner: Person, ada: Interview, stage: Stage) -> None:
    ada.stage = stage
    db.session.commit()
    path = f"/candidates/{ada.candidate_id}"
    assert "Extend link" not in owner.browser.get(f"{path}/actions").text
    answer = owner.browser.post(f"{path}/extend", data={"days": "60"}, follow_redirects=True)
    assert "The candidate has finished the interview." in words_of(answer)


def test_someone_who_has_finished_is_invited_to_another_interview(
    owner: Person, ada: Interview, postbox: Postbox
) -> None:
    path = f"/candidates/{ada.candidate_id}/invite-again"
    assert "No one was invited." in words_of(owner.browser.post(path, follow_redirects=True))
    ada.stage = Stage.COMPLETED
    db.session.commit()
    browser = owner.browser
    for words in ("Ada was invited again by email.", "No one was invited."):  # once: then the new link works
        assert words in words_of(browser.post(path, follow_redirects=True))
    send_due()
    (mail,) = postbox.mails
    newest = db.session.scalars(sa.select(Interview).order_by(Interview.org_seq.desc())).first()
    assert newest is not None
    assert (newest.candidate_id, newest.id in mail.link) == (ada.candidate_id, True)
    assert newest.id != ada.id


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one: setattr(one.flow, "status", FlowStatus.CLOSED), "The flow is closed."),
        (lambda one: setattr(one, "stage", Stage.RUNNING), "has started their interview"),
        (lambda one: setattr(one, "withdrawn_at", clock.now()), "has withdrawn their consent"),
    ],
)
def test_no_one_is_invited_again_without_need(
    owner: Person, ada: Interview, change: Callable[[Interview], None], words: str
) -> None:
    change(ada)
    db.session.commit()
    answer = owner.browser.post(f"/candidates/{ada.candidate_id}/invite-again", follow_redirects=True)
    assert words in words_of(answer)
    assert db.session.scalar(sa.select(sa.func.count(Interview.id))) == 1
