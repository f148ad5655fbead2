"""What has stopped: shown with its reason to administrators of its organization alone, and tried again safely."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from redis import Redis
from rq import Queue
from rq.job import Job as RqJob
from rq.job import JobStatus
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer

from app.accounts.models import AddressChange, AuditEntry, EntryKind, EntryLink
from app.core import clock, queue, rooms
from app.core.db import db, new_id
from app.core.queue import Failed
from app.flows.flow_script import FlowScript
from app.flows.models import SpeechState
from app.gateways.mail import Mail
from app.gateways.redis.embedded import EmbeddedRedis
from app.interviews import PROCESS_INTERVIEW, PROCESS_VIDEO, SWEEP
from app.interviews import actions as interviews
from app.interviews.documents import READ_DOCUMENT
from app.interviews.documents.models import Document, TextState
from app.interviews.models import Interview, Stage, VideoStage
from app.interviews.recordings.models import Revocation
from app.mail_outbox import SEND_MAIL
from app.mail_outbox import actions as mail_outbox
from app.mail_outbox.models import QueuedMail, QueuedMailState
from app.operations.stopped_jobs import actions, queries
from app.outreach.models import Message, Step
from tests.factories import Made
from tests.people import Person


def words_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


@pytest.fixture
def book(owner: Person, make_flow: Made) -> Made:
    flow = make_flow()

    def make(**columns: Any) -> Interview:
        email = columns.pop("email", "mary@candidate.example")
        interview = interviews.book(owner.organization, flow.id, email=email, first_name="Mary", last_name="Hall")
        for name, value in columns.items():
            setattr(interview, name, value)
        db.session.commit()
        return interview

    return make


def document(interview: Interview, state: TextState, **columns: Any) -> Document:
    made = Document(
        interview_id=interview.id,
        name="cv.pdf",
        content_type="application/pdf",
        size=1,
        storage_key="x",
        text_state=state,
        **columns,
    )
    db.session.add(made)
    db.session.commit()
    return made


def letter(
    interview: Interview | None, state: QueuedMailState, *, step: Step | None = None, **columns: Any
) -> QueuedMail:
    made = mail_outbox.post(interview.id if interview else None, Mail("a@x.example", "s", "t"), lasts=timedelta(days=1))
    made.state, made.settled_at = state, None if state is QueuedMailState.WAITING else clock.now()
    for name, value in columns.items():
        setattr(made, name, value)
    if step and interview:
        db.session.add(
            Message(
                organization_id=interview.organization_id,
                interview_id=interview.id,
                letter_id=made.id,
                step=step,
                number=db.session.query(Message).count(),
                language="en-US",
            )
        )
    db.session.commit()
    return made


def test_all_is_well(owner: Person, book: Made) -> None:
    book()
    page = owner.browser.get("/jobs")
    assert "Nothing has stopped." in words_of(page)
    assert "Interviews to process 0" in words_of(page)


def test_everything_that_stopped_says_why(owner: Person, book: Made) -> None:
    now = clock.now()
    book(stage=Stage.PROCESSING_FAILED, failure="the disk is full")
    book(stage=Stage.WAITS_FOR_RECOGNITION, script=FlowScript(language="ja-JP"))
    book(stage=Stage.SUBMITTED, due_at=now - timedelta(hours=1))
    film = book(stage=Stage.COMPLETED, video_stage=VideoStage.FAILED, failure="no picture in it")
    document(film, TextState.FAILED, text_failure="reading it was broken off three times")
    letter(film, QueuedMailState.REFUSED, step=Step.INVITATION, failure="the mail server refused the recipient (550)")
    letter(film, QueuedMailState.WAITING, created_at=now - timedelta(hours=1), attempts=4)
    film.flow.speech_state = SpeechState.FAILED
    db.session.add(Revocation(interview_id=film.id, revoked_at=now - timedelta(hours=1)))
    db.session.commit()
    words = words_of(owner.browser.get("/jobs"))
    for text in (
        "The disk is full",
        "No configured speech recognition engine supports Japanese. Processing continues",
        "but no worker is processing it",
        "No picture in it",
        "cv.pdf",
        "broken off three times",
        "Invitation",
        "refused the recipient (550)",
        "(4 attempts)",
        "a code for the candidate's own page",
        "could not be generated",
        "some files have not been deleted yet",
    ):
        assert text in words, text
    assert "Interviews to process 1" in words
    assert "Late" in words


def test_a_mail_that_went_out_later_or_was_not_needed_is_no_trouble(owner: Person, book: Made) -> None:
    now = clock.now()
    one = book()
    letter(one, QueuedMailState.REFUSED, step=Step.INVITATION, created_at=now - timedelta(hours=2))
    assert len(queries.mails(owner.organization.id)) == 1
    letter(one, QueuedMailState.SENT, step=Step.INVITATION, created_at=now - timedelta(hours=1))
    letter(one, QueuedMailState.EXPIRED, failure=mail_outbox.NOT_NEEDED)
    letter(one, QueuedMailState.WAITING)
    assert queries.mails(owner.organization.id) == []
    member = letter(None, QueuedMailState.REFUSED)
    db.session.add(
        EntryLink(member_id=owner.member.id, kind=EntryKind.RESET, token_hash="x", expires_at=now, letter_id=member.id)
    )
    db.session.commit()
    (unsent,) = queries.mails(owner.organization.id)
    assert unsent.member == owner.member


def test_word_of_a_note_hides_no_invitation_that_did_not_arrive(owner: Person, book: Made) -> None:
    one, now = book(), clock.now()
    lost = letter(one, QueuedMailState.REFUSED, step=Step.INVITATION, created_at=now - timedelta(hours=2))
    letter(one, QueuedMailState.SENT)
    assert [unsent.letter for unsent in queries.mails(owner.organization.id)] == [lost]


def test_a_link_to_confirm_an_address_that_was_not_sent_is_told(owner: Person, outsider: Person) -> None:
    link = letter(None, QueuedMailState.REFUSED, failure="the mail server refused the recipient (550)")
    change = AddressChange(
        member_id=owner.member.id,
        address="new@x.example",
        token_hash="x",
        expires_at=clock.now(),
        letter_id=link.id,
        created_by_id=owner.member.id,
    )
    db.session.add(change)
    db.session.commit()
    assert "Link to confirm an email address for" in words_of(owner.browser.get("/jobs"))
    assert "Link to confirm an email address" not in words_of(outsider.browser.get("/jobs"))
    change.ended_at = clock.now()
    db.session.commit()
    assert queries.mails(owner.organization.id) == []


def test_trying_again_is_safe_twice(owner: Person, book: Made, waker: queue.SilentWaker) -> None:
    failed = book(stage=Stage.PROCESSING_FAILED, failure="the disk is full")
    browser = owner.browser
    path = f"/jobs/interviews/{failed.id}/retry"
    waker.enqueued.clear()
    assert "Retrying 1 job." in words_of(browser.post(path, follow_redirects=True))
    db.session.expire_all()
    assert (failed.stage, failed.failure) == (Stage.SUBMITTED, None)
    browser.post(path)
    db.session.expire_all()
    assert failed.stage is Stage.SUBMITTED
    assert {enqueued for enqueued in waker.enqueued if enqueued[0] is PROCESS_INTERVIEW} == {
        (PROCESS_INTERVIEW, (failed.id,))
    }
    failed.stage = Stage.COMPLETED
    db.session.commit()
    assert "nothing to retry" in words_of(browser.post(path, follow_redirects=True))


def test_all_of_a_kind_are_tried_again_and_it_is_written_down(
    owner: Person, book: Made, waker: queue.SilentWaker
) -> None:
    rows = [book(stage=Stage.PROCESSING_FAILED) for _ in range(3)]
    held = book(stage=Stage.PROCESSING_FAILED, withdrawn_at=clock.now())
    cv = document(rows[0], TextState.FAILED)
    late = letter(rows[0], QueuedMailState.WAITING, created_at=clock.now() - timedelta(hours=1))
    late.due_at = clock.now() + timedelta(hours=1)
    rows[0].flow.speech_state = SpeechState.FAILED
    db.session.commit()
    browser = owner.browser
    waker.enqueued.clear()
    for kind, count in (("interviews", "3 jobs"), ("documents", "1 job"), ("mails", "1 job"), ("voices", "1 job")):
        assert f"Retrying {count}." in words_of(browser.post("/jobs/retry", data={"kind": kind}, follow_redirects=True))
    db.session.expire_all()
    assert {one.stage for one in rows} == {Stage.SUBMITTED}
    assert held.stage is Stage.PROCESSING_FAILED
    assert cv.text_state is TextState.PENDING
    assert late.due_at <= clock.now()
    assert rows[0].flow.speech_state is SpeechState.PENDING
    assert {job for job, _ids in waker.enqueued} >= {PROCESS_INTERVIEW, READ_DOCUMENT, SEND_MAIL}
    assert actions.retry_all("documents", by=owner.member) == 0
    written = db.session.scalars(sa.select(AuditEntry.details).where(AuditEntry.action == "jobs.retried")).all()
    assert {"kind": "interviews", "begun": 3} in written
    refused = browser.post("/jobs/retry", data={"kind": "everything"})
    assert refused.status_code == 422
    assert "Select the kind of work to retry." in refused.text
    assert "kind:" not in refused.text, "the field's name is for programs"


def test_it_is_for_administrators_of_the_organization(
    owner: Person, colleague: Person, outsider: Person, book: Made
) -> None:
    failed = book(stage=Stage.PROCESSING_FAILED, failure="the disk is full")
    document(failed, TextState.FAILED)
    letter(failed, QueuedMailState.REFUSED)
    assert colleague.browser.get("/jobs").status_code == 403
    assert colleague.browser.post("/jobs/retry", data={"kind": "interviews"}).status_code == 403
    assert colleague.browser.post(f"/jobs/interviews/{failed.id}/retry").status_code == 403
    assert "/jobs" not in colleague.browser.get("/dashboard").text
    theirs = outsider.browser
    assert "Nothing has stopped." in words_of(theirs.get("/jobs"))
    assert theirs.post(f"/jobs/interviews/{failed.id}/retry").status_code == 403
    for kind in actions.KINDS:
        assert "nothing to retry" in words_of(theirs.post("/jobs/retry", data={"kind": kind}, follow_redirects=True))
    db.session.expire_all()
    assert failed.stage is Stage.PROCESSING_FAILED


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[Redis, str]]:
    server = EmbeddedRedis(tmp_path)
    server.start()
    client = queue.connect(server.url)
    yield client, server.url
    client.close()
    server.stop()


def given_up(redis: Redis, path: str, *ids: str) -> None:
    run = RqJob.create(path, args=ids, connection=redis, serializer=JSONSerializer, status=JobStatus.FAILED)
    run.ended_at = clock.now().replace(tzinfo=None)
    run.save()
    name = rooms.jobs()[path].queue if path in rooms.jobs() else "media"
    FailedJobRegistry(name, connection=redis, serializer=JSONSerializer).add(run, ttl=3600)
    Queue(name, connection=redis, serializer=JSONSerializer)


def test_what_the_queues_gave_up_is_shown_to_its_organization_alone(
    app: Flask, owner: Person, outsider: Person, book: Made, redis: tuple[Redis, str]
) -> None:
    client, url = redis
    one = book()
    cv = document(one, TextState.PENDING)
    given_up(client, PROCESS_INTERVIEW.key, one.id)
    given_up(client, PROCESS_VIDEO.key, new_id())
    given_up(client, READ_DOCUMENT.key, cv.id)
    given_up(client, SWEEP.key)
    given_up(client, "os.system", one.id)
    runs = queue.failed(client)
    assert {run.job for run in runs} == {PROCESS_INTERVIEW, PROCESS_VIDEO, READ_DOCUMENT, SWEEP}
    mine = queries.owned_runs(owner.organization.id, runs)
    assert {(run.job, place) for run, _page, place in mine} == {
        (PROCESS_INTERVIEW, one.id),
        (READ_DOCUMENT, one.id),
    }
    assert queries.owned_runs(outsider.organization.id, runs) == []
    before = app.extensions["parley.settings"]
    app.extensions["parley.settings"] = replace(before, redis_url=url)
    try:
        words = words_of(owner.browser.get("/jobs"))
        theirs = words_of(outsider.browser.get("/jobs"))
        client.close()
    finally:
        app.extensions["parley.settings"] = before
    assert "Reading a document" in words
    assert "Creating a video" not in words
    assert "No worker is running" in words
    assert "Failed within the last hour" not in theirs


def test_queues_that_do_not_answer_are_no_error(app: Flask, owner: Person, tmp_path: Path) -> None:
    before = app.extensions["parley.settings"]
    app.extensions["parley.settings"] = replace(before, redis_url=f"unix://{tmp_path}/nobody.sock")
    try:
        assert "The queues are not responding" in words_of(owner.browser.get("/jobs"))
    finally:
        app.extensions["parley.settings"] = before
    assert queries.owned_runs(owner.organization.id, [Failed(SWEEP, (), None)]) == []
