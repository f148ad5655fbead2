"""Outcomes of background work, each written under the token of its claim.

If the claim was lost in the meantime, nothing is written and the caller drops the rest.
"""

from dataclasses import dataclass
from datetime import timedelta

from app.accounts.usage import actions as usage
from app.candidates import actions as candidates
from app.candidates.models import INTERVIEWED, INVITED
from app.candidates.queries import status_for, statuses_of
from app.core import claims, clock, queue
from app.core.db import db
from app.core.rooms import notices, outbox
from app.flows.models import FlowCriteria
from app.gateways.language_model.usage import Used
from app.interviews import PROCESS_VIDEO, events
from app.interviews.actions.list_counters import count
from app.interviews.actions.revocation import no_video
from app.interviews.models import Interview, InterviewData, InterviewStatus, Scenario, Stage, VideoStage
from app.interviews.published_result import Result
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.media import MediaFile

RESULT_READY = "result_ready"
"""The notice to members about a new result."""
MOST_FAILURES = 12
"""Number of temporary failures in a row after which the interview is parked."""
TEST_MARK = "TEST: "
"""Precedes the summary of a test interview."""
VIDEO_LATE = timedelta(minutes=5)
"""Delay of the video in the scenario late-video."""
LOOK_AGAIN = timedelta(minutes=10)
"""How often an interview that waits for recognition checks for a new engine."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The outcome of processing: the frozen result, the stored audio, and whether a video follows."""

    result: Result
    audio: MediaFile | None = None
    with_video: bool = False


def complete(interview_id: str, finished: Finished, *, token: int, app_url: str) -> bool:
    """Publish the result, move an invited candidate to the next status, and enqueue the webhook, in one transaction.

    False when the claim was lost: then another worker has done the same, or is doing it.
    """
    done = claims.finish(
        Interview,
        interview_id,
        token,
        stage=Stage.COMPLETED,
        status=InterviewStatus.COMPLETED,
        completed_at=clock.now(),
        due_at=clock.now(),
        failures=0,
        recoveries=0,
        failure=None,
        video_stage=VideoStage.WAITING if finished.with_video else VideoStage.NONE,
    )
    if not done:
        return False
    interview = db.session.get_one(Interview, interview_id)
    db.session.add(_data_row(interview, finished.result))
    count(interview, {InterviewStatus.INCOMPLETE: -1, InterviewStatus.COMPLETED: 1})
    if finished.audio:
        recordings.publish(interview_id, organization_id=interview.organization_id, file=finished.audio)
    _interviewed(interview, finished.result)
    _count_use(interview, seconds=finished.audio.duration if finished.audio else 0.0, model=finished.result.used)
    _announce(interview, events.INTERVIEW_PROCESSED, app_url)
    _tell_members(interview)
    if finished.with_video and interview.scenario == Scenario.LATE_VIDEO:
        interview.due_at = clock.now() + VIDEO_LATE  # found by the sweep
    elif finished.with_video:
        queue.after_commit(PROCESS_VIDEO, interview_id)
    db.session.flush()
    return True


def _count_use(interview: Interview, *, seconds: float, model: Used) -> None:
    """Count interviews with a result, in the month in which they were submitted; tests never count."""
    if interview.is_test:
        return
    at = interview.submitted_at or interview.completed_at or clock.now()
    usage.count(
        interview.organization_id,
        flow_id=interview.flow_id,
        subject=interview.id,
        at=at,
        seconds=seconds,
        model_calls=interview.model_calls + model.calls,
        model_tokens=interview.model_tokens + model.input_tokens + model.output_tokens,
    )


def _data_row(interview: Interview, result: Result) -> InterviewData:
    summary = f"{TEST_MARK}{result.summary or ''}".strip() if interview.is_test else result.summary
    return InterviewData(
        interview_id=interview.id,
        format=result.format,
        text=result.text.deflated,
        text_length=result.text.length,
        text_crc32=result.text.crc,
        details=result.details.deflated,
        details_length=result.details.length,
        details_crc32=result.details.crc,
        summary=summary,
        scores=result.scores,
        evidence=result.evidence,
        criteria_id=result.criteria_id,
    )


def _interviewed(interview: Interview, result: Result) -> None:
    candidate = interview.candidate
    if candidate is not None:
        criteria = db.session.get_one(FlowCriteria, result.criteria_id).items if result.criteria_id else ()
        candidates.note_result(candidate, result.scores, criteria, at=clock.now())
    organization = interview.flow.organization
    if candidate is None or candidate.status != status_for(organization, INVITED):
        return
    reached = status_for(organization, INTERVIEWED)
    if reached in statuses_of(organization):
        candidates.move(candidate, reached, by=None)


def _announce(interview: Interview, event_type: str, app_url: str) -> None:
    outbox().announce(
        interview.flow,
        event_type=event_type,
        payload=events.payload(interview, event_type, app_url=app_url),
        is_test=interview.is_test,
        subject=interview.id,
        sequence=events.SEQUENCE[event_type],
    )


def _tell_members(interview: Interview) -> None:
    if not interview.is_test:
        notices().announce(
            RESULT_READY,
            organization_id=interview.organization_id,
            key=f"{RESULT_READY} {interview.id}",
            interview_id=interview.id,
        )


def fail(interview_id: str, *, token: int, reason: str, retryable: bool) -> bool:
    """Processing failed: retry later if that may help, else park it. ``reason`` must not contain personal data."""
    interview = db.session.get_one(Interview, interview_id)
    failures = interview.failures + 1
    if retryable and failures < MOST_FAILURES:
        return claims.finish(
            Interview,
            interview_id,
            token,
            stage=Stage.SUBMITTED,
            failures=failures,
            failure=reason[:500],
            recoveries=0,
            due_at=claims.moment(_pause(failures)),
        )
    return park(interview_id, token=token, reason=reason)


def park(interview_id: str, *, token: int, reason: str) -> bool:
    """Stop retrying; the interview's page shows the reason and a button to try again. False when the claim was lost."""
    return claims.finish(Interview, interview_id, token, stage=Stage.PROCESSING_FAILED, failure=reason[:500])


def wait_for_recognition(interview_id: str, *, token: int) -> bool:
    """No engine supports the language: keep everything and check again later. False when the claim was lost."""
    again = claims.moment(LOOK_AGAIN)
    return claims.finish(Interview, interview_id, token, stage=Stage.WAITS_FOR_RECOGNITION, due_at=again)


def look_again_later(interview: Interview) -> None:
    """There is still no engine for the language: check again after ``LOOK_AGAIN``."""
    interview.due_at = clock.now() + LOOK_AGAIN
    db.session.flush()


def video_ready(interview_id: str, file: MediaFile, *, token: int, app_url: str) -> bool:
    """Publish the video and announce it. False when the claim was lost or the recordings were revoked meanwhile."""
    if not claims.finish(Interview, interview_id, token, video_stage=VideoStage.READY, failures=0, failure=None):
        return False
    interview = db.session.get_one(Interview, interview_id)
    if recordings.publish(interview_id, organization_id=interview.organization_id, file=file) is None:
        no_video(interview)
        return False
    _announce(interview, events.VIDEO_PROCESSED, app_url)
    return True


def video_failed(interview_id: str, *, token: int, reason: str, retryable: bool) -> bool:
    """As ``fail``, for the video; the published result stays."""
    interview = db.session.get_one(Interview, interview_id)
    failures = interview.failures + 1
    again = retryable and failures < MOST_FAILURES
    return claims.finish(
        Interview,
        interview_id,
        token,
        video_stage=VideoStage.WAITING if again else VideoStage.FAILED,
        failures=failures,
        failure=reason[:500],
        recoveries=0,
        due_at=claims.moment(_pause(failures)),
    )


def park_video(interview_id: str, *, token: int, reason: str) -> bool:
    """As ``park``, for the video."""
    return claims.finish(Interview, interview_id, token, video_stage=VideoStage.FAILED, failure=reason[:500])


def _pause(failures: int) -> timedelta:
    return timedelta(seconds=min(5 * 3 ** (failures - 1), 1800))
