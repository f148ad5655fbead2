"""What happens to an interview: booked, begun, submitted, completed, parked, tried again, revoked.

Nothing here commits or waits. Outcomes of work come with the token of the claim they were made under: if the claim was
lost in the meantime, nothing is written and the caller drops the rest.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app import claims, clock, queue
from app.accounts.models import Organization, Team, TeamMember
from app.accounts.queries import member_in_team
from app.candidates import actions as candidates
from app.candidates.queries import statuses_of
from app.db import db
from app.errors import Conflict, Rejected
from app.flows.models import FlowStatus, InterviewFlow, InterviewType
from app.flows.queries import flow_for, script_of
from app.interviews import events
from app.interviews.data import Result
from app.interviews.documents import MOST_DOCUMENTS, Accepted, accept
from app.interviews.models import (
    Document,
    Interview,
    InterviewData,
    InterviewStatus,
    Stage,
    VideoStage,
)
from app.interviews.queries import BUCKET
from app.queue import Job
from app.recordings import actions as recordings
from app.recordings.media import MediaFile
from app.webhooks import actions as webhooks

MOST_FAILURES = 12
"""After so many failures in a row that looked as if they would pass, a person has to look."""

INVITED, INTERVIEWED = "invited", "interviewed"

_COUNTED = sa.text(
    "INSERT INTO interview_bucket (owner_id, status, bucket, interviews) VALUES (:owner, :status, :bucket, :change) "
    "ON CONFLICT (owner_id, status, bucket) DO UPDATE SET interviews = interview_bucket.interviews + :change"
)


# --- booking and the talk ---------------------------------------------------------------------------------------


def book(
    organization: Organization,
    flow_id: str,
    *,
    email: str | None = None,
    first_name: str | None = None,
    last_name: str | None = None,
    recruiter_id: str | None = None,
) -> Interview:
    """Create an interview in the flow's team. With an address and type ``recruitment`` the candidate is enrolled.

    Raises NotFound or Forbidden for the flow, Rejected for a flow that is not open or a recruiter of another team.
    """
    flow = flow_for(organization, flow_id)
    if flow.status is not FlowStatus.OPEN:
        words = f"This interview flow is {flow.status.value}; only open flows take interviews."
        raise Rejected(words, field="interview_flow_id")
    recruiter = _recruiter(flow, recruiter_id)
    interview = Interview(
        organization_id=flow.organization_id, team_id=flow.team_id, flow_id=flow.id, flow=flow,
        org_seq=_next_number(Organization, flow.organization_id), team_seq=_next_number(Team, flow.team_id),
        status=InterviewStatus.INCOMPLETE, stage=Stage.CREATED,
        interviewee_email_address=email, interviewee_first_name=first_name, interviewee_last_name=last_name,
        assigned_recruiter_id=recruiter.id if recruiter else None,
    )  # fmt: skip
    if email and flow.interview_type is InterviewType.RECRUITMENT:
        interview.candidate = candidates.enrol(
            flow, email=email, first_name=first_name, last_name=last_name, recruiter=recruiter
        )
    db.session.add(interview)
    _count(interview, {InterviewStatus.INCOMPLETE: 1})
    db.session.flush()
    return interview


def hint_for(interview: Interview) -> str:
    """Whether the interview will show on the platform, and if not, why."""
    if interview.flow.interview_type is not InterviewType.RECRUITMENT:
        return "This interview will not appear on the web platform: its flow is not of type recruitment."
    if not interview.interviewee_email_address:
        return (
            "This interview will not appear on the web platform: it has no interviewee_email_address."
        )
    return "This interview appears on the web platform under the interviewee's email address."


def _recruiter(flow: InterviewFlow, recruiter_id: str | None) -> TeamMember | None:
    if recruiter_id is None:
        return None
    member = member_in_team(flow.team_id, recruiter_id)
    if member is None:
        words = "No member of the flow's team has this id; GET /v1/team-members lists them."
        raise Rejected(words, field="assigned_recruiter_id")
    return member


def _next_number(owner: type[Organization] | type[Team], owner_id: str) -> int:
    # The row stays locked until the commit, so numbers have no holes and become visible in order.
    statement = (
        sa.update(owner)
        .where(owner.id == owner_id)
        .values(interview_seq=owner.interview_seq + 1)
        .returning(owner.interview_seq)
    )
    return int(db.session.execute(statement).scalar_one())


def _count(interview: Interview, changes: dict[InterviewStatus, int]) -> None:
    # Always in this order, so that two transactions never wait for each other.
    owners = ((interview.organization_id, interview.org_seq), (interview.team_id, interview.team_seq))
    for owner_id, seq in owners:
        for status, change in changes.items():
            given = {"owner": owner_id, "status": status.value, "bucket": seq // BUCKET, "change": change}
            db.session.execute(_COUNTED, given)


def begin(
    interview: Interview, *, email: str | None = None, first_name: str | None = None, last_name: str | None = None
) -> Interview:
    """The candidate has claimed the link: the script is frozen. Names that were not given at booking are kept.

    An address collected here enrols nobody. An abandoned interview goes on where it was. Conflict once handed in.
    """
    if interview.stage not in {Stage.CREATED, Stage.RUNNING, Stage.ABANDONED}:
        raise Conflict("This interview has been handed in already.")
    if interview.script is None:
        interview.script = script_of(interview.flow)
        interview.started_at = clock.now()
    interview.stage = Stage.RUNNING
    interview.interviewee_email_address = interview.interviewee_email_address or email
    interview.interviewee_first_name = interview.interviewee_first_name or first_name
    interview.interviewee_last_name = interview.interviewee_last_name or last_name
    db.session.flush()
    return interview


def submit(interview: Interview) -> bool:
    """The talk is over and everything has arrived: ask for processing. False when that was done before."""
    return _to_processing(interview, (Stage.RUNNING, Stage.ABANDONED), submitted_at=clock.now())


def retry(interview: Interview) -> bool:
    """A person asks to try again what failed, waits, or was abandoned. False when there is nothing to try."""
    if interview.stage is Stage.COMPLETED and interview.video_stage is VideoStage.FAILED:
        interview.video_stage = VideoStage.WAITING
        interview.failures, interview.recoveries, interview.failure, interview.due_at = 0, 0, None, clock.now()
        db.session.flush()
        queue.after_commit(Job.PROCESS_VIDEO, interview.id)
        return True
    return _to_processing(interview, (Stage.PROCESSING_FAILED, Stage.WAITS_FOR_RECOGNITION, Stage.ABANDONED))


def _to_processing(interview: Interview, stages: tuple[Stage, ...], **values: Any) -> bool:
    fresh = {"stage": Stage.SUBMITTED, "due_at": clock.now(), "failures": 0, "failure": None, "recoveries": 0, **values}
    statement = (
        sa.update(Interview)
        .where(Interview.id == interview.id, Interview.stage.in_(stages))
        .values(fresh)
        .returning(Interview.id)
        .execution_options(synchronize_session=False)
    )
    changed = len(db.session.execute(statement).all()) == 1
    db.session.refresh(interview)
    if changed:
        queue.after_commit(Job.PROCESS_INTERVIEW, interview.id)
    return changed


def abandon(interview: Interview) -> bool:
    """Nobody has come back: what was recorded stays, and a recruiter may still have it processed. False when over."""
    statement = (
        sa.update(Interview)
        .where(Interview.id == interview.id, Interview.stage == Stage.RUNNING)
        .values(stage=Stage.ABANDONED)
        .returning(Interview.id)
        .execution_options(synchronize_session=False)
    )
    changed = len(db.session.execute(statement).all()) == 1
    db.session.refresh(interview)
    return changed


# --- outcomes of work, each under the token of its claim --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finished:
    """What processing brought: the frozen result, the stored audio, and whether a video is to follow."""

    result: Result
    audio: MediaFile | None = None
    with_video: bool = False


def complete(interview_id: str, finished: Finished, *, token: int, app_url: str) -> bool:
    """Publish the result, move the invited candidate on, and announce it: all of it in this transaction, or nothing.

    False when the claim was lost: then someone else has done, or is doing, the same.
    """
    done = claims.finish(
        Interview, interview_id, token, stage=Stage.COMPLETED, status=InterviewStatus.COMPLETED,
        completed_at=clock.now(), due_at=clock.now(), failures=0, recoveries=0, failure=None,
        video_stage=VideoStage.WAITING if finished.with_video else VideoStage.NONE,
    )  # fmt: skip
    if not done:
        return False
    interview = db.session.get_one(Interview, interview_id)
    db.session.add(_data_row(interview_id, finished.result))
    _count(interview, {InterviewStatus.INCOMPLETE: -1, InterviewStatus.COMPLETED: 1})
    if finished.audio:
        recordings.publish(interview_id, organization_id=interview.organization_id, file=finished.audio)
    _interviewed(interview)
    _announce(interview, events.INTERVIEW_PROCESSED, app_url)
    if finished.with_video:
        queue.after_commit(Job.PROCESS_VIDEO, interview_id)
    db.session.flush()
    return True


def _data_row(interview_id: str, result: Result) -> InterviewData:
    return InterviewData(
        interview_id=interview_id, format=result.format,
        text=result.text.deflated, text_length=result.text.length, text_crc32=result.text.crc,
        details=result.details.deflated, details_length=result.details.length, details_crc32=result.details.crc,
        summary=result.summary, scores=result.scores, evidence=result.evidence,
    )  # fmt: skip


def _interviewed(interview: Interview) -> None:
    candidate = interview.candidate
    if candidate is None or candidate.status != INVITED:
        return
    if INTERVIEWED in statuses_of(interview.flow.organization):
        candidates.move(candidate, INTERVIEWED, by=None)


def _announce(interview: Interview, event_type: str, app_url: str) -> None:
    webhooks.announce(
        interview.flow, event_type=event_type, payload=events.payload(interview, event_type, app_url=app_url),
        subject=interview.id, sequence=events.SEQUENCE[event_type],
    )  # fmt: skip


def fail(interview_id: str, *, token: int, reason: str, retryable: bool) -> bool:
    """Processing failed: try again later if that may help, else park it for a person. ``reason`` names no person."""
    interview = db.session.get_one(Interview, interview_id)
    failures = interview.failures + 1
    if retryable and failures < MOST_FAILURES:
        return claims.finish(
            Interview, interview_id, token, stage=Stage.SUBMITTED, failures=failures, failure=reason[:500],
            recoveries=0, due_at=claims.moment(_pause(failures)),
        )  # fmt: skip
    return park(interview_id, token=token, reason=reason)


def park(interview_id: str, *, token: int, reason: str) -> bool:
    """Leave the interview for a person to look at; its page shows the reason and a button to try again."""
    return claims.finish(Interview, interview_id, token, stage=Stage.PROCESSING_FAILED, failure=reason[:500])


def wait_for_recognition(interview_id: str, *, token: int) -> bool:
    """No engine understands the language: everything is kept, and looked at again when one may be there."""
    again = claims.moment(timedelta(minutes=10))
    return claims.finish(Interview, interview_id, token, stage=Stage.WAITS_FOR_RECOGNITION, due_at=again)


def video_ready(interview_id: str, file: MediaFile, *, token: int, app_url: str) -> bool:
    """Publish the video and announce it. False when the claim was lost or the recordings were revoked meanwhile."""
    if not claims.finish(Interview, interview_id, token, video_stage=VideoStage.READY, failures=0, failure=None):
        return False
    interview = db.session.get_one(Interview, interview_id)
    if recordings.publish(interview_id, organization_id=interview.organization_id, file=file) is None:
        _no_video(interview)
        return False
    _announce(interview, events.VIDEO_PROCESSED, app_url)
    return True


def video_failed(interview_id: str, *, token: int, reason: str, retryable: bool) -> bool:
    """As ``fail``, for the video: the result itself is out already and stays so."""
    interview = db.session.get_one(Interview, interview_id)
    failures = interview.failures + 1
    again = retryable and failures < MOST_FAILURES
    return claims.finish(
        Interview, interview_id, token, video_stage=VideoStage.WAITING if again else VideoStage.FAILED,
        failures=failures, failure=reason[:500], recoveries=0, due_at=claims.moment(_pause(failures)),
    )  # fmt: skip


def _pause(failures: int) -> timedelta:
    return timedelta(seconds=min(5 * 3 ** (failures - 1), 1800))


# --- the end of recordings, and documents -----------------------------------------------------------------------


def revoke_recordings(interview: Interview) -> None:
    """End access to audio and video for good. The edge commits this first and destroys the bytes after that.

    A video that is still being made will never be available, so its event is cancelled, and shown as such.
    """
    recordings.revoke(interview.id)
    unmade = (VideoStage.WAITING, VideoStage.PROCESSING, VideoStage.FAILED)
    # A new fence, so that whoever works on the video right now finds the claim gone.
    statement = (
        sa.update(Interview)
        .where(Interview.id == interview.id, Interview.video_stage.in_(unmade))
        .values(fence=Interview.fence + 1, lease_until=None)
        .returning(Interview.id)
        .execution_options(synchronize_session=False)
    )
    if db.session.execute(statement).all():
        db.session.refresh(interview)
        _no_video(interview)
    db.session.flush()


def _no_video(interview: Interview) -> None:
    interview.video_stage = VideoStage.REVOKED
    db.session.flush()
    webhooks.cancel(interview.id, events.VIDEO_PROCESSED)


def video_revoked(interview_id: str, *, token: int) -> bool:
    """The recordings were revoked before the video was made: there will be none."""
    if not claims.finish(Interview, interview_id, token, video_stage=VideoStage.REVOKED):
        return False
    _no_video(db.session.get_one(Interview, interview_id))
    return True


def accept_document(name: str, content: bytes) -> Accepted:
    """Whether a file may be added, by its content: slow for large files, so outside transactions. Raises Rejected."""
    return accept(name, content)


def add_document(interview: Interview, kept: Accepted, *, storage_key: str) -> Document:
    """Note a document whose bytes are durable already. Conflict outside the talk, Rejected beyond the limits."""
    room_for_document(interview, count=len(interview.documents))
    document = Document(
        interview_id=interview.id, name=kept.name, content_type=kept.content_type, size=kept.size,
        storage_key=storage_key,
    )  # fmt: skip
    interview.documents.append(document)
    db.session.flush()
    return document


def room_for_document(interview: Interview, *, count: int) -> None:
    """Raise unless one more document may be added right now; asked before the bytes are stored, and again after."""
    if not (interview.script or {}).get("is_doc_upload_enabled"):
        raise Rejected("This interview takes no documents.", field="file")
    if interview.stage is not Stage.RUNNING:
        raise Conflict("The interview is over; documents can no longer be changed.", details={"reason": "finished"})
    if count >= MOST_DOCUMENTS:
        raise Rejected(f"An interview takes at most {MOST_DOCUMENTS} documents; remove one first.", field="file")


def remove_document(interview: Interview, document: Document) -> str:
    """Forget a document while the talk lasts; returns the storage key, which the edge deletes after its commit."""
    if interview.stage is not Stage.RUNNING:
        raise Conflict("The interview is over; documents can no longer be changed.", details={"reason": "finished"})
    interview.documents.remove(document)
    db.session.delete(document)
    db.session.flush()
    return document.storage_key
