"""Processing as a job: once, twice, broken off, lost, failing, waiting."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.candidates import actions as candidates
from app.candidates.models import StatusChange
from app.core import claims, clock, queue
from app.core.db import db
from app.core.errors import GatewayError
from app.core.queue import Failed, SilentWaker
from app.interviews import PROCESS_INTERVIEW, PROCESS_VIDEO, actions
from app.interviews.jobs import claim_renewal, processing
from app.interviews.jobs.stuck_jobs import NEVER_BEGUN
from app.interviews.models import Interview, InterviewBucket, InterviewData, InterviewStatus, Role, Stage
from app.webhooks.models import Delivery
from tests.factories import Made
from tests.people import Person

from .conftest import SAID, engines_of, later, say
from .fakes import ScriptedAnalyst, ScriptedTranscriber

HOOK = "https://receiver.example/hook"


def reload(interview: Interview) -> Interview:
    return db.session.get_one(Interview, interview.id, populate_existing=True)


def events_of(subject: str | None) -> list[tuple[str, int]]:
    found = sa.select(Delivery).where(Delivery.subject == subject).order_by(Delivery.sequence)
    return [(row.event_type.value, row.sequence) for row in db.session.scalars(found)]


def test_submitting_rings_for_processing_once(submitted: Made, waker: SilentWaker) -> None:
    interview = submitted()
    assert waker.enqueued.count((PROCESS_INTERVIEW, (interview.id,))) == 1
    assert not actions.submit(interview)


def test_a_completed_interview_is_published_counted_and_announced(
    owner: Person, make_flow: Made, completed: Made
) -> None:
    interview = completed(make_flow(webhook_url=HOOK))
    assert (interview.stage, interview.status) == (Stage.COMPLETED, InterviewStatus.COMPLETED)
    assert interview.data is not None
    assert events_of(interview.id) == [("interview_processed", 1)]
    assert events_of(interview.candidate_id) == [("candidate_status_updated", 1)]
    counted = {
        (row.owner_id, row.status.value): row.interviews for row in db.session.scalars(sa.select(InterviewBucket))
    }
    assert counted[owner.organization.id, "completed"] == counted[owner.team.id, "completed"] == 1
    assert counted[owner.organization.id, "incomplete"] == counted[owner.team.id, "incomplete"] == 0


def test_the_event_has_the_nine_fields_and_leads_to_the_recruiters_page(make_flow: Made, completed: Made) -> None:
    import json

    interview = completed(make_flow(webhook_url=HOOK))
    row = db.session.scalars(sa.select(Delivery).where(Delivery.subject == interview.id)).one()
    assert json.loads(row.body or b"") == {
        "event_type": "interview_processed",
        "interview_flow_id": interview.flow_id,
        "interview_id": interview.id,
        "interview_link": f"http://localhost/interviews/{interview.id}",
        "interview_flow_name": "Nurse",
        "interviewee_email_address": "mary@candidate.example",
        "interviewee_first_name": "Mary",
        "interviewee_last_name": "Hall",
        "status": "completed",
    }


def test_an_invited_candidate_moves_on_and_others_stay(
    owner: Person, make_flow: Made, submitted: Made, scripted: Any
) -> None:
    invited, moved = submitted(make_flow()), submitted(make_flow(), email="ben@candidate.example")
    candidates.move(moved.candidate, "shortlisted", by=owner.member)
    db.session.commit()
    for interview in (invited, moved):
        processing.process_interview(interview.id)
    assert reload(invited).candidate.status == "interviewed"  # type: ignore[union-attr]
    assert reload(moved).candidate.status == "shortlisted"  # type: ignore[union-attr]
    changes = db.session.scalars(sa.select(StatusChange).where(StatusChange.by_id.is_(None))).all()
    assert [(change.previous, change.new) for change in changes] == [("invited", "interviewed")]


def test_processing_twice_changes_nothing(make_flow: Made, completed: Made) -> None:
    interview = completed(make_flow(webhook_url=HOOK))
    before = interview.fence
    processing.process_interview(interview.id)
    assert reload(interview).fence == before
    assert events_of(interview.id) == [("interview_processed", 1)]


def test_a_stolen_claim_writes_nothing(make_flow: Made, submitted: Made, scripted: ScriptedAnalyst) -> None:
    interview = submitted(make_flow(webhook_url=HOOK))

    def stolen(*_: Any, **__: Any) -> str:
        # Somebody else takes over while this worker is at it: the fence rises.
        db.session.execute(sa.update(Interview).where(Interview.id == interview.id).values(fence=Interview.fence + 1))
        db.session.commit()
        return "Too late."

    scripted.summarize = stolen  # type: ignore[method-assign]
    processing.process_interview(interview.id)
    assert reload(interview).stage is Stage.PROCESSING
    assert db.session.get(InterviewData, interview.id) is None
    assert events_of(interview.id) == []


def test_a_worker_that_died_is_followed_by_another(submitted: Made, scripted: ScriptedAnalyst) -> None:
    interview = submitted()
    claims.take(
        Interview.stage, interview.id, expects=[Stage.SUBMITTED], becomes=Stage.PROCESSING, lease=processing.LEASE
    )
    db.session.commit()
    processing.process_interview(interview.id)
    assert reload(interview).stage is Stage.PROCESSING  # the lease still holds
    with later(seconds=31):
        processing.process_interview(interview.id)
    assert reload(interview).stage is Stage.COMPLETED


def test_after_three_recoveries_it_is_parked_and_a_person_may_retry(submitted: Made, scripted: ScriptedAnalyst) -> None:
    interview = submitted()
    claims.take(
        Interview.stage, interview.id, expects=[Stage.SUBMITTED], becomes=Stage.PROCESSING, lease=processing.LEASE
    )
    interview.recoveries = claims.PARKED_AFTER - 1
    db.session.commit()
    with later(seconds=31):
        processing.process_interview(interview.id)
        parked = reload(interview)
        assert (parked.stage, parked.failure) == (Stage.PROCESSING_FAILED, processing.BROKEN_OFF)
        assert actions.retry(parked)
        db.session.commit()
        processing.process_interview(interview.id)
    assert reload(interview).stage is Stage.COMPLETED


def test_a_passing_failure_is_tried_again_later(submitted: Made, scripted: ScriptedAnalyst, waker: SilentWaker) -> None:
    interview = submitted()
    scripted.error = GatewayError("the language model is busy", retryable=True)
    processing.process_interview(interview.id)
    waiting = reload(interview)
    assert (waiting.stage, waiting.failures, waiting.failure) == (Stage.SUBMITTED, 1, "the language model is busy")
    waker.enqueued.clear()
    processing.sweep()
    assert (PROCESS_INTERVIEW, (interview.id,)) not in waker.enqueued
    scripted.error = None
    with later(minutes=1):
        processing.sweep()
        assert (PROCESS_INTERVIEW, (interview.id,)) in waker.enqueued
        processing.process_interview(interview.id)
    done = reload(interview)
    assert (done.stage, done.failures, done.failure) == (Stage.COMPLETED, 0, None)


def test_a_job_that_ran_out_of_memory_is_tried_again_later(submitted: Made, scripted: ScriptedAnalyst) -> None:
    interview = submitted()

    def hungry(*_: Any) -> str:
        raise MemoryError

    scripted.summarize = hungry  # type: ignore[method-assign]
    processing.process_interview(interview.id)
    waiting = reload(interview)
    assert (waiting.stage, waiting.failures, waiting.failure) == (Stage.SUBMITTED, 1, processing.NO_MEMORY)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        SystemError("error return without exception set"),
        OSError(12, "Cannot allocate memory"),
        ImportError("failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
)
def test_whatever_a_lack_of_memory_looks_like_is_tried_three_times(
    submitted: Made, scripted: ScriptedAnalyst, error: Exception
) -> None:
    interview = submitted()

    def hungry(*_: Any) -> str:
        raise ValueError from error

    scripted.summarize = hungry  # type: ignore[method-assign]
    for tried, stage in enumerate((Stage.SUBMITTED, Stage.SUBMITTED, Stage.PROCESSING_FAILED), start=1):
        with later(minutes=tried):
            processing.process_interview(interview.id)
        assert (reload(interview).stage, reload(interview).failure) == (stage, processing.NO_MEMORY)


def test_a_failure_that_stays_is_parked_with_its_reason(submitted: Made, scripted: ScriptedAnalyst) -> None:
    interview = submitted()
    scripted.error = GatewayError("the language model refused the key", retryable=False)
    processing.process_interview(interview.id)
    parked = reload(interview)
    assert (parked.stage, parked.failure) == (Stage.PROCESSING_FAILED, "the language model refused the key")
    assert parked.status is InterviewStatus.INCOMPLETE


def test_failures_without_end_are_parked(submitted: Made, scripted: ScriptedAnalyst) -> None:
    interview = submitted()
    interview.failures = actions.outcomes.MOST_FAILURES - 1
    db.session.commit()
    scripted.error = GatewayError("still busy", retryable=True)
    processing.process_interview(interview.id)
    assert reload(interview).stage is Stage.PROCESSING_FAILED


def test_what_nobody_expected_is_parked_and_the_log_quotes_nothing(
    submitted: Made, scripted: ScriptedAnalyst, caplog: pytest.LogCaptureFixture
) -> None:
    interview = submitted()

    def broken(*_: Any) -> str:
        raise KeyError("Because I like to help people.")

    scripted.summarize = broken  # type: ignore[method-assign]
    processing.process_interview(interview.id)
    parked = reload(interview)
    assert (parked.stage, parked.failure) == (Stage.PROCESSING_FAILED, processing.UNEXPECTED)
    assert interview.id in caplog.text
    assert "help people" not in caplog.text


def test_an_answer_that_nobody_understands_waits_for_an_engine(
    app: Flask, book: Made, make_flow: Made, waker: SilentWaker
) -> None:
    interview = book(make_flow(language="hi-IN"))
    actions.begin(interview)
    say(interview, SAID[:1])
    _spoken_answer(interview)
    actions.submit(interview)
    db.session.commit()
    with engines_of(app, transcriber=ScriptedTranscriber(), analyst=ScriptedAnalyst()):
        processing.process_interview(interview.id)
        assert reload(interview).stage is Stage.WAITS_FOR_RECOGNITION
        assert reload(interview).status is InterviewStatus.INCOMPLETE
        with later(minutes=11):
            processing.sweep()
            assert reload(interview).stage is Stage.WAITS_FOR_RECOGNITION
    heard = ScriptedTranscriber(text="haan", languages=("hi-IN",))
    with engines_of(app, transcriber=heard, analyst=ScriptedAnalyst()), later(minutes=30):
        processing.sweep()
        processing.process_interview(interview.id)
    assert reload(interview).stage is Stage.COMPLETED
    assert heard.asked == [3 * 16_000]  # 1.5 s of silence, since no chunk was kept


def _spoken_answer(interview: Interview) -> None:
    from app.interviews.models import Utterance

    db.session.add(
        Utterance(
            interview_id=interview.id,
            number=9,
            role=Role.USER,
            question_index=None,
            content=None,
            segment=1,
            start=1.0,
            end=2.5,
            typed=False,
        )
    )


def test_an_abandoned_interview_can_be_processed_as_it_is(book: Made, scripted: ScriptedAnalyst) -> None:
    interview = book()
    actions.begin(interview)
    say(interview)
    assert actions.abandon(interview)
    db.session.commit()
    assert interview.status is InterviewStatus.INCOMPLETE
    assert actions.retry(interview)
    db.session.commit()
    processing.process_interview(interview.id)
    assert reload(interview).stage is Stage.COMPLETED


def test_the_sweep_rings_for_what_redis_forgot(submitted: Made, waker: SilentWaker) -> None:
    fresh, dead = submitted(), submitted(email="ben@candidate.example")
    claims.take(Interview.stage, dead.id, expects=[Stage.SUBMITTED], becomes=Stage.PROCESSING, lease=processing.LEASE)
    db.session.commit()
    waker.enqueued.clear()
    with later(seconds=31):
        processing.sweep()
    assert {ids for job, ids in waker.enqueued if job is PROCESS_INTERVIEW} == {(fresh.id,), (dead.id,)}


def test_the_claim_is_renewed_while_the_work_lasts(own_app: Flask) -> None:
    from tests.factories import a_flow
    from tests.people import person

    with own_app.app_context():
        someone = person(own_app, "someone@first.example", organization="First Ltd", role="admin")
        interview = actions.book(someone.organization, a_flow(someone).id)
        interview.stage = Stage.SUBMITTED
        db.session.commit()
        found = interview.id
        token = claims.take(
            Interview.stage, found, expects=[Stage.SUBMITTED], becomes=Stage.PROCESSING, lease=timedelta(seconds=1)
        )
        db.session.commit()
        assert token is not None
        with claim_renewal.renewing(Interview, found, token, every=0.02):
            for _ in range(500):
                until = db.session.scalar(sa.select(Interview.lease_until).where(Interview.id == found))
                db.session.rollback()
                if until and until > clock.now() + timedelta(seconds=20):
                    break
            else:
                raise AssertionError("the claim was not renewed")


def test_what_dies_before_it_can_claim_is_parked_once_the_queues_have_given_it_up_three_times(
    submitted: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    interview, runs = submitted(), []
    monkeypatch.setattr(queue, "given_up", lambda _url: runs)
    runs += [Failed(PROCESS_INTERVIEW, (interview.id,), interview.due_at - timedelta(seconds=1))] * 3
    with later(minutes=16):
        run = Failed(PROCESS_INTERVIEW, (interview.id,), clock.now())
        runs += [run, run, Failed(PROCESS_VIDEO, (interview.id,), clock.now())]
        processing.sweep()
        assert reload(interview).stage is Stage.SUBMITTED
        runs.append(run)
        processing.sweep()
        assert (reload(interview).stage, reload(interview).failure) == (Stage.PROCESSING_FAILED, NEVER_BEGUN)
        assert actions.retry(interview)
        db.session.commit()
        processing.sweep()
        assert reload(interview).stage is Stage.SUBMITTED
