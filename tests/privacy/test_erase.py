"""Erasing an interview: nothing of a person is left in any table or file, and the proof says so."""

import json
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.exc import OperationalError

from app.candidate_requests.models import CandidateRequest, RequestState
from app.core import claims, clock
from app.core.db import Base, db
from app.core.db.row_security import as_chosen
from app.core.errors import GatewayError
from app.gateways.mail import Mail
from app.interviews import actions as interviews
from app.interviews.documents.models import DocumentPart, DocumentUpload
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Feedback, Interview, InterviewStatus, Stage
from app.mail_outbox import actions as mail_outbox
from app.outreach.apply_links.models import FlowLink, FlowVisit
from app.outreach.messages.models import PersonalMessage
from app.outreach.models import Invited, Message, Step
from app.privacy import actions
from app.privacy.jobs.sweeps import sweep
from app.privacy.models import Erasure
from app.review.notes import actions as notes
from app.review.notes.models import Mention
from app.review.rate_first.models import ScoreReveal
from app.review.ratings import actions as ratings
from app.review.ratings.models import Assessment
from app.review.share_links import actions as share_links
from app.review.share_links.models import Opening
from app.webhooks.models import Delivery, DeliveryState
from tests.factories import a_flow
from tests.own_page.conftest import ANSWERS, Taken, Takes
from tests.people import Person, person

PRIVATE = ("candidate@example.com", "help people", "were five", "my cv", "Zoltan", "Lovelace", "please look")

ERASED = {
    "assessment",
    "chunk",
    "cv_file",
    "document",
    "document_upload",
    "feedback",
    "flow_visit",
    "interview_metadata",
    "invited",
    "letter",
    "message",
    "note",
    "notice",
    "own_code",
    "personal_message",
    "quality_report",
    "recorder_run",
    "recording",
    "score_version",
    "share",
    "turn",
    "utterance",
    "score_reveal",
    "waveform",
}
KEPT = {
    "agreement": "what was agreed to, when, in which language: the proof of consent",
    "erasure": "the proof itself",
    "interview": "ids, times and states; names and address are emptied",
    "interview_data": "an empty result, so that the published shape holds",
    "own_pass": "random bits and times",
    "rescored": "that it was scored again, and why it was not; no scores",
    "revocation": "that recordings are gone for good",
    "sitting": "times and a hash of random bits",
    "wish": "that a request was made, and what came of it",
}
"""Tables that keep a row about an erased interview, and why."""


def everything() -> str:
    """All rows of all tables as one text, as far as they are text."""
    db.session.expire_all()
    rows = []
    for table in Base.metadata.sorted_tables:
        rows += [repr(tuple(row)) for row in db.session.execute(sa.select(table))]
    return "\n".join(rows)


def files(app: Flask) -> list[str]:
    storage = app.extensions["parley.gateways"].storage
    return [key for prefix in ("recordings", "documents") for key in storage.list(prefix)]


@pytest.fixture
def told(takes: Takes, owner: Person, viewer: Person) -> Taken:
    """An interview with names, a document, a request, and an event that could not be delivered yet."""
    found = takes(webhook_url="https://customer.example/hook")
    interview = found.interview
    upload = DocumentUpload(interview_id=found.interview_id, sha256="0" * 64, size=1, name="Zoltan.pdf")
    db.session.add(upload)
    db.session.flush()
    db.session.add(DocumentPart(upload_id=upload.id, number=0, sha256="0" * 64, storage_key="documents/x"))
    db.session.add(Feedback(interview_id=found.interview_id, rating=5, comment="Zoltan liked it"))
    letter = mail_outbox.post(interview.id, Mail("candidate@example.com", "Zoltan", "Zoltan"), lasts=timedelta(days=1))
    about = {"organization_id": interview.organization_id, "interview_id": interview.id, "number": 0}
    db.session.add(Message(letter=letter, step=Step.INVITATION, language="en-US", **about))
    words = {"subject": "Zoltan", "text": "Zoltan", "language": "en-US", "by_id": owner.member.id}
    mine = {"organization_id": interview.organization_id, "interview_id": interview.id}
    db.session.add(PersonalMessage(batch="list", letter=letter, **words, **mine))
    db.session.add(Invited(batch="list", created_at=clock.now(), **about))
    rating = {"interview_id": interview.id, "organization_id": interview.organization_id, "member_id": owner.member.id}
    db.session.add(Assessment(competence="skills", value=4.0, comment="Zoltan", changed_at=clock.now(), **rating))
    db.session.add(ScoreReveal(**rating))
    notes.write(interview, "Zoltan, says @Viewer", by=owner.member, mail_for=None)
    shared, _token = share_links.make(interview, ["summary"], days=7, label="Zoltan", by=owner.member)
    share_links.note_opening(shared.id, browser="Zoltan", address="127.0.0.1")
    link = FlowLink(organization_id=interview.organization_id, flow_id=interview.flow_id, token="t")
    db.session.add(link)
    db.session.flush()
    db.session.add(FlowVisit(link_id=link.id, network="n", browser="b", interview_id=interview.id))
    interviews.set_metadata(interview, {"external_id": "Zoltan-1"})
    interview.interviewee_first_name, interview.interviewee_last_name = "Zoltan", "Lovelace"
    db.session.commit()
    found.post("/requests", {"kind": "deletion", "text": "please look"})
    return found


def erase(owner: Person, taken: Taken, word: str = "erase") -> Any:
    return owner.browser.post(f"/interviews/{taken.interview_id}/erase", data={"confirm": word})


def test_nothing_of_a_person_is_left(told: Taken, owner: Person, app: Flask) -> None:
    before = everything()
    assert all(private in before for private in PRIVATE if private not in {"help people", "were five"})
    assert any(told.interview_id in key for key in files(app))
    assert erase(owner, told).status_code == 303
    after = everything()
    assert [private for private in PRIVATE if private.lower() in after.lower()] == []
    assert [key for key in files(app) if told.interview_id in key] == []
    erasure = db.session.get_one(Erasure, told.interview_id)
    assert erasure.gone_at is not None
    assert erasure.receipt == actions.receipt_of(erasure, erasure.gone_at)
    assert erasure.removed["documents"] == 1
    assert erasure.removed["utterances"] >= 4


def test_every_table_about_an_interview_is_emptied_or_kept_for_a_reason(told: Taken, owner: Person) -> None:
    erase(owner, told)
    db.session.expire_all()
    for table in Base.metadata.sorted_tables:
        columns = set(table.columns.keys()) & {"interview_id", "sitting_id"}
        assert not columns or table.name in ERASED | set(KEPT), f"{table.name}: erase it, or say why it is kept"
        column = table.columns.get("interview_id") if table.name != "interview" else None
        if column is None:
            continue
        left = db.session.execute(sa.select(sa.func.count()).where(column == told.interview_id)).scalar_one()
        assert not left or table.name in KEPT, table.name


def test_who_opened_links_and_who_was_named_is_forgotten(told: Taken, owner: Person) -> None:
    assert db.session.query(Opening).count() == db.session.query(Mention).count() == 1
    erase(owner, told)
    assert db.session.query(Mention).count() == 0
    assert db.session.query(Opening).count() == 0


def test_files_on_their_way_go_too(told: Taken, owner: Person) -> None:
    erase(owner, told)
    assert db.session.query(DocumentPart).count() == 0


def test_the_candidates_page_says_that_it_is_done(told: Taken, owner: Person) -> None:
    erase(owner, told)
    page = told.page()
    assert page.status_code == 200
    assert "was erased on" in page.text
    for words in (*ANSWERS, "Download everything", "please look"):
        assert words not in page.text
    assert db.session.query(CandidateRequest).one().state is RequestState.DONE
    for path, given in (("/requests", {"kind": "review"}), ("/download", {})):
        assert told.post(path, given).status_code in {303, 409}
    assert db.session.query(CandidateRequest).count() == 1
    link = told.own.removesuffix("/own")
    assert told.browser.get(link).status_code == 410


def test_v1_keeps_its_shape_and_no_webhook_goes_out(told: Taken, owner: Person) -> None:
    erase(owner, told)
    found = owner.api("GET", f"/v1/interviews/{told.interview_id}").json
    assert found["status"] == "completed"
    data = found["interview_data"]
    assert (data["transcript"], data["transcript_with_timestamp"], data["scores"], data["summary"]) == (
        "",
        [],
        None,
        None,
    )
    assert data["interviewee_email_address"] is None
    assert owner.api("DELETE", f"/v1/interviews/{told.interview_id}").status_code == 200
    events = db.session.query(Delivery).all()
    assert events
    assert {event.state for event in events} == {DeliveryState.CANCELLED}
    assert {event.body for event in events} == {None}


def test_the_recruiters_page_shows_the_proof(told: Taken, owner: Person) -> None:
    erase(owner, told)
    page = owner.browser.get(f"/interviews/{told.interview_id}")
    assert page.status_code == 200
    erasure = db.session.get_one(Erasure, told.interview_id)
    assert erasure.receipt is not None
    assert erasure.receipt in page.text
    assert "Erase this interview" not in page.text
    assert owner.browser.get("/interviews").status_code == 200
    assert owner.browser.get("/requests?state=all").status_code == 200


@pytest.mark.parametrize("word", ["", "yes", "delete"])
def test_the_word_has_to_be_typed(told: Taken, owner: Person, word: str) -> None:
    erase(owner, told, word)
    assert db.session.query(Erasure).count() == 0
    assert told.interview.interviewee_first_name == "Zoltan"


def test_only_administrators_erase(told: Taken, colleague: Person, outsider: Person) -> None:
    assert erase(colleague, told).status_code == 403
    assert erase(outsider, told).status_code == 403
    assert db.session.query(Erasure).count() == 0


def test_erasing_twice_is_erasing_once(told: Taken, owner: Person) -> None:
    erase(owner, told)
    first = db.session.get_one(Erasure, told.interview_id).receipt
    erase(owner, told)
    db.session.expire_all()
    assert db.session.query(Erasure).one().receipt == first


class Broken:
    """A storage that cannot delete."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def delete_prefix(self, prefix: str) -> None:
        raise GatewayError("the storage failed", retryable=True)


class Forgetful(Broken):
    """A storage that says that it has deleted, and has not."""

    def delete_prefix(self, prefix: str) -> None:
        pass


@pytest.mark.parametrize("storage", [Broken, Forgetful])
def test_the_proof_waits_until_the_files_are_really_gone(
    told: Taken, owner: Person, app: Flask, storage: type[Broken]
) -> None:
    engines = app.extensions["parley.gateways"]
    app.extensions["parley.gateways"] = replace(engines, storage=storage(engines.storage))
    erase(owner, told)
    assert sweep() == 0
    db.session.expire_all()
    erasure = db.session.get_one(Erasure, told.interview_id)
    assert (erasure.gone_at, erasure.receipt) == (None, None)
    assert "have not been deleted yet" in owner.browser.get(f"/interviews/{told.interview_id}").text
    app.extensions["parley.gateways"] = engines
    assert sweep() == 1
    db.session.expire_all()
    assert db.session.get_one(Erasure, told.interview_id).receipt is not None
    assert [key for key in files(app) if told.interview_id in key] == []
    assert sweep() == 0
    now = clock.now()
    with clock.replaced(lambda: now + timedelta(hours=4)):
        assert sweep() == 1
        assert sweep() == 0
    db.session.expire_all()
    assert db.session.get_one(Erasure, told.interview_id).settled_at is not None


def test_an_interview_that_is_being_processed_is_dropped(takes: Takes, owner: Person) -> None:
    found = takes(process=False)
    erase(owner, found)
    process_interview(found.interview_id)
    interview = found.interview
    assert (interview.stage, interview.status, interview.data) == (Stage.ABANDONED, InterviewStatus.INCOMPLETE, None)
    owner.browser.post(f"/interviews/{found.interview_id}/retry")
    assert found.interview.stage is Stage.ABANDONED


def test_nobody_begins_to_work_beside_an_erasure(own_app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens: list[int | None] = []
    began, over = threading.Event(), threading.Event()

    def work() -> None:
        with own_app.app_context():
            began.set()
            for _ in range(10):
                with suppress(
                    OperationalError
                ):  # on a slow machine, the erasure takes longer than a lock is waited for
                    took = claims.take(
                        Interview.stage,
                        interview_id,
                        expects=[Stage.SUBMITTED],
                        becomes=Stage.PROCESSING,
                        lease=timedelta(minutes=1),
                    )
                    tokens.append(took)
                    db.session.commit()
                    break
                db.session.rollback()
            over.set()

    worker = threading.Thread(target=as_chosen(work))
    forget = ratings.erase

    def meanwhile(found: str) -> int:
        """Half of the erasure is done, and a worker wants the interview."""
        worker.start()
        assert began.wait(10)
        assert not over.wait(0.5)
        return forget(found)

    monkeypatch.setattr(ratings, "erase", meanwhile)
    with own_app.app_context():
        owner = person(own_app, "owner@first.example", organization="First Ltd", role="admin")
        interview = interviews.book(owner.organization, a_flow(owner).id, email="candidate@example.com")
        interview.stage = Stage.SUBMITTED
        db.session.commit()
        interview_id = interview.id
        actions.erase(db.session.get_one(Interview, interview_id), by=owner.member)
        db.session.commit()
        worker.join(30)
        assert tokens == [None]
        assert db.session.get_one(Interview, interview_id, populate_existing=True).stage is Stage.ABANDONED
        db.session.remove()
        db.engine.dispose()


def test_a_candidate_with_another_interview_stays_in_the_pipeline(told: Taken, owner: Person) -> None:
    from app.candidates.models import Candidate

    db.session.query(Candidate).one().score = 4.0
    interviews.book(owner.organization, told.interview.flow_id, email="candidate@example.com")
    db.session.commit()
    erase(owner, told)
    assert [one.score for one in db.session.query(Candidate)] == [None]
    assert told.interview.candidate_id is None


def test_the_receipt_can_be_checked_by_hand(told: Taken, owner: Person) -> None:
    import hashlib

    erase(owner, told)
    row = db.session.get_one(Erasure, told.interview_id)
    assert row.gone_at is not None
    told_by_hand = {
        "interview": row.interview_id,
        "erased_at": clock.rfc3339(row.erased_at),
        "gone_at": clock.rfc3339(row.gone_at),
        "removed": row.removed,
    }
    assert hashlib.sha256(json.dumps(told_by_hand, sort_keys=True).encode()).hexdigest() == row.receipt
