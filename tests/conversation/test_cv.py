"""A required CV: the end waits for one that can be read, or for "I have none"."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.conversation.jobs import sweep_sittings
from app.core import clock
from app.core.db import db
from app.flows.flow_script import FlowScript
from app.interviews import actions as interviews
from app.interviews.documents.jobs import read_document
from app.interviews.documents.models import Document
from app.interviews.documents.queries import READING_PATIENCE
from app.interviews.models import Interview, Stage
from app.operations.demo.candidate import Candidate
from tests.factories import Made
from tests.flows.server import picture
from tests.people import Browser, Person

from .conftest import Candidates, interview_of
from .test_finish import at_the_outro


@pytest.fixture
def finishing(candidates: Candidates, book: Made) -> Candidate:
    candidate = candidates(book(cv="required"))
    candidate.start()
    at_the_outro(candidate)
    return candidate


def _added(candidate: Candidate, content: bytes = b"Ada Lovelace, analyst, since 1833", *, read: bool = True) -> str:
    document_id: str = candidate.ask("POST", "/documents", files={"file": ("cv.txt", content)}).json()["id"]
    if read:
        read_document(document_id)
    return document_id


def _finish(candidate: Candidate, **more: Any) -> tuple[int, str | None]:
    answer = candidate.ask("POST", "/finish", json={"segments": [], "played": None, **more})
    return answer.status_code, answer.json().get("cv")


def test_the_end_waits_until_the_cv_has_been_read(finishing: Candidate) -> None:
    assert _finish(finishing) == (409, "missing")
    document_id = _added(finishing, read=False)
    assert _finish(finishing) == (409, "reading")
    assert interview_of(finishing).stage is Stage.RUNNING
    read_document(document_id)
    assert _finish(finishing) == (200, None)
    interview = interview_of(finishing)
    assert (interview.stage, interview.no_cv_at) == (Stage.SUBMITTED, None)


def test_a_picture_is_no_cv_that_can_be_read(finishing: Candidate) -> None:
    _added(finishing, picture())
    assert _finish(finishing) == (409, "unreadable")
    _added(finishing)
    assert _finish(finishing) == (200, None)


def test_whoever_has_none_says_so_and_recruiters_see_it(finishing: Candidate, owner: Person) -> None:
    assert _finish(finishing, no_cv=True) == (200, None)
    interview = interview_of(finishing)
    assert interview.stage is Stage.SUBMITTED
    assert interview.no_cv_at is not None
    seen = owner.browser.get(f"/interviews/{interview.id}").text
    assert "The candidate said that they have no CV" in seen
    assert '<span class="count">no CV</span>' in seen
    interviews.erase(db.session.get_one(Interview, interview.id))
    assert db.session.get_one(Interview, interview.id).no_cv_at is None


def test_a_late_reader_keeps_no_one_waiting(finishing: Candidate) -> None:
    document_id = _added(finishing, read=False)
    db.session.get_one(Document, document_id).created_at = clock.now() - READING_PATIENCE - timedelta(seconds=1)
    db.session.commit()
    assert _finish(finishing) == (200, None)


def test_someone_who_leaves_without_a_cv_has_submitted_all_the_same(finishing: Candidate, owner: Person) -> None:
    assert _finish(finishing) == (409, "missing")
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(hours=25)):
        sweep_sittings(watched_for=0)
    interview = interview_of(finishing)
    assert interview.stage is Stage.SUBMITTED
    interview.submitted_at = now
    seen = owner.browser.get(f"/interviews/{interview.id}").text
    assert "The candidate left before adding one." in seen


@pytest.mark.parametrize("cv", [None, "asked"])
def test_without_the_switch_nothing_waits(candidates: Candidates, book: Made, cv: str | None) -> None:
    candidate = candidates(book(cv=cv))
    candidate.start()
    at_the_outro(candidate)
    assert _finish(candidate) == (200, None)


def test_a_flow_that_asks_for_a_cv_takes_documents(make_flow: Made, app: Flask) -> None:
    asked, plain = FlowScript.of(make_flow(cv="asked")), FlowScript.of(make_flow())
    assert [(one.cv, one.is_doc_upload_enabled) for one in (asked, plain)] == [("asked", True), (None, False)]


def test_the_invitation_says_that_a_cv_is_needed(client: Browser, book: Made, scripted: Flask) -> None:
    interview = book(cv="required")
    page = client.get(f"/interview/api/{interview.flow_id}/{interview.id}").text
    for words in ("Please have your CV ready", "One thing is left: your CV", "I have none"):
        assert words in page
